/**
 * `hermes serve keys add|list|revoke`: keys with scopes in the configuration. The key itself is printed once, on stdout
 * and nowhere else; what is kept cannot be turned back into it. A running server knows of changes with its next request.
 */
import { startHermes } from "@/app/base.ts";
import type { HermesBase } from "@/app/mod.ts";
import { isScope, keyNameProblem, makeScopedKey, readKeys, type Scope, SCOPES } from "@/protocols/api/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import { type ParsedArgs, UsageError } from "./args.ts";
import { resolveCwd } from "./hermes_session.ts";
import { type Terminal, withTerminal } from "./terminal.ts";

interface Context {
  readonly hermes: HermesBase;
  readonly terminal: Terminal;
  readonly parsed: ParsedArgs;
}

const PATH = ["gateway", "api_server", "keys"] as const;

/** `words`: what stands after `keys`. */
export async function runKeys(
  parsed: ParsedArgs,
  words: readonly string[],
  platform: Platform,
): Promise<number> {
  const [verb = "list", name, ...rest] = words;
  if (rest.length > 0) throw new UsageError(`unexpected argument "${rest[0]}"`);
  if (!["add", "list", "revoke"].includes(verb)) {
    throw new UsageError(`unknown subcommand "${verb}"; there are: add, list, revoke`);
  }
  if (verb === "list" && name !== undefined) throw new UsageError(`unexpected argument "${name}"`);
  if (verb !== "list" && name === undefined) throw new UsageError(`keys ${verb} needs a name`);
  return await withTerminal(platform, (terminal) => {
    const context = { hermes: startHermes(platform, { surface: "cli" }), terminal, parsed };
    if (verb === "list") return Promise.resolve(list(context));
    return verb === "add" ? add(context, name!) : revoke(context, name!);
  });
}

function entriesOf({ hermes }: Context): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  return hermes.settings().gateway.api_server.keys ?? {};
}

async function add(context: Context, name: string): Promise<number> {
  const { hermes, terminal, parsed } = context;
  const problem = keyNameProblem(name);
  if (problem !== null) throw new UsageError(`"${name}" cannot be the name of a key: ${problem}`);
  const scopes = scopesOf(parsed.value("scopes"));
  const rate = rateOf(parsed.value("rate-limit"));
  const workspace = parsed.value("workspace");
  const folder = workspace === undefined ? null : await resolveCwd(hermes.platform, workspace).catch(() => {
    throw new UsageError(`--workspace ${workspace} is not a directory`);
  });
  if (Object.hasOwn(entriesOf(context), name)) {
    terminal.note(`hermes: there is a key "${name}" already; revoke it first, or take another name`);
    return 1;
  }
  const { key, id, hash } = await makeScopedKey(hermes.platform.ids);
  await hermes.config.write([...PATH, name], {
    id,
    hash,
    scopes,
    ...(folder === null ? {} : { workspace: folder }),
    ...(rate === undefined ? {} : { rate_limit: rate }),
  });
  if (parsed.has("json")) terminal.line(JSON.stringify({ name, id, key, scopes }));
  else {
    terminal.note(`Made the key "${name}" (${scopes.join(", ")}); it is shown only now:`);
    terminal.line(key);
  }
  return 0;
}

function scopesOf(text: string | undefined): Scope[] {
  const names = (text ?? "").split(",").map((part) => part.trim()).filter((part) => part !== "");
  const unknown = names.find((name) => !isScope(name));
  if (unknown !== undefined) {
    throw new UsageError(`unknown scope "${unknown}"; there are: ${SCOPES.join(", ")}`);
  }
  if (names.length === 0) throw new UsageError(`keys add needs --scopes: some of ${SCOPES.join(", ")}`);
  return [...new Set(names.filter(isScope))];
}

function rateOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const rate = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (rate < 1) throw new UsageError(`--rate-limit takes a whole number of at least 1; got "${text}"`);
  return rate;
}

function list(context: Context): number {
  const { hermes, terminal, parsed } = context;
  const { keys, problems } = readKeys(entriesOf(context));
  for (const problem of problems) terminal.note(`hermes: warning: ${problem}`);
  if (parsed.has("json")) {
    const shown = keys.map(({ name, id, scopes, workspace, rateLimit }) => ({
      name,
      id,
      scopes,
      workspace,
      rate_limit: rateLimit,
    }));
    terminal.line(JSON.stringify({ keys: shown }, null, 2));
    return 0;
  }
  if (keys.length === 0) terminal.note(`no keys with scopes in ${hermes.config.path}`);
  for (const { name, id, scopes, workspace, rateLimit } of keys) {
    const facts = [
      scopes.join(","),
      ...(workspace === null ? [] : [workspace]),
      ...(rateLimit === null ? [] : [`${rateLimit}/min`]),
    ];
    terminal.line(`${name.padEnd(20)}  hk_${id}_…  ${facts.join("  ")}`);
  }
  return 0;
}

async function revoke(context: Context, name: string): Promise<number> {
  const { hermes, terminal } = context;
  if (!Object.hasOwn(entriesOf(context), name)) {
    terminal.note(`hermes: there is no key "${name}"`);
    return 1;
  }
  await hermes.config.write([...PATH, name], undefined);
  terminal.note(`The key "${name}" opens nothing any more.`);
  return 0;
}
