/** Maps of a person's own making (endpoints, routes, headers, aliases) in their one normal form (core.md E.4, api-server.md A2). */
import { isTree, type Tree } from "./tree.ts";

const RENAMED: Readonly<Record<string, string>> = {
  url: "base_url",
  api: "base_url",
  api_key_env: "key_env",
  transport: "api_mode",
};

type Warn = (text: string) => void;

type Field = "text" | "number" | "bool" | "bool_or_text" | "map" | "models";

const FIELDS: Readonly<Record<string, Field>> = {
  name: "text",
  base_url: "text",
  api_key: "text",
  key_env: "text",
  api_mode: "text",
  model: "text",
  default_model: "text",
  models: "models",
  discover_models: "bool",
  context_length: "number",
  request_timeout_seconds: "number",
  stale_timeout_seconds: "number",
  rate_limit_delay: "number",
  extra_body: "map",
  extra_headers: "map",
  ssl_ca_cert: "text",
  ssl_verify: "bool_or_text",
};

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function fits(field: Field, value: unknown): boolean {
  switch (field) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number" && Number.isFinite(value) && value >= 0;
    case "bool":
      return typeof value === "boolean";
    case "bool_or_text":
      return typeof value === "boolean" || typeof value === "string";
    case "map":
      return isTree(value);
    case "models":
      return isTree(value) || (Array.isArray(value) && value.every((item) => typeof item === "string"));
  }
}

function cleanEntry(where: string, entry: Tree, warn: Warn): Tree {
  const clean: Tree = {};
  for (const [given, value] of Object.entries(entry)) {
    const spelled = snake(given);
    const name = RENAMED[spelled] ?? spelled;
    if (name !== given && Object.hasOwn(entry, name)) continue;
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    if (value === null) continue;
    if (field && !fits(field, value)) warn(`config.jsonc: ${where}.${given} has the wrong type; ignored`);
    else clean[name] = value;
    if (!field) warn(`config.jsonc: ${where}.${given} is no setting of an endpoint; it has no effect`);
  }
  return clean;
}

/** `providers`: entries that are no objects are dropped with a warning. */
export function endpoints(providers: unknown, _key: string, warn: Warn): Tree {
  const clean: Tree = {};
  for (const [name, entry] of Object.entries(providers as Tree)) {
    if (isTree(entry)) clean[name] = cleanEntry(`providers.${name}`, entry, warn);
    else warn(`config.jsonc: providers.${name} is not an object; ignored`);
  }
  return clean;
}

/** `custom_providers`: the same for the older list form; an entry without a name is dropped. */
export function endpointList(list: unknown, _key: string, warn: Warn): Tree[] {
  return (list as readonly unknown[]).flatMap((entry, at) => {
    if (isTree(entry) && typeof entry["name"] === "string" && entry["name"] !== "") {
      return [cleanEntry(`custom_providers.${at}`, entry, warn)];
    }
    warn(`config.jsonc: custom_providers.${at} is not an object with a name; ignored`);
    return [];
  });
}

/** `model_routes`: an entry without `model` is dropped with a warning. */
export function modelRoutes(routes: unknown, key: string, warn: Warn): Tree {
  const clean: Tree = {};
  for (const [name, entry] of Object.entries(routes as Tree)) {
    if (isTree(entry) && typeof entry["model"] === "string" && entry["model"] !== "") clean[name] = entry;
    else warn(`config.jsonc: ${key}.${name} has no model; ignored`);
  }
  return clean;
}

function filtered(
  map: unknown,
  key: string,
  warn: Warn,
  keep: { wanted: string; fits: (value: unknown) => boolean },
): Tree {
  const clean: Tree = {};
  for (const [name, value] of Object.entries(map as Tree)) {
    if (keep.fits(value)) clean[name] = value;
    else if (value !== null) warn(`config.jsonc: ${key}.${name} is not ${keep.wanted}; ignored`);
  }
  return clean;
}

export function onlyTexts(map: unknown, key: string, warn: Warn): Tree {
  return filtered(map, key, warn, { wanted: "a text", fits: (value) => typeof value === "string" });
}

export function onlyObjects(map: unknown, key: string, warn: Warn): Tree {
  return filtered(map, key, warn, { wanted: "an object", fits: isTree });
}
