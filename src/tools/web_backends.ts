/**
 * Which service answers `web_search` and `web_extract` (core.md B.9): the one that the settings name, else the first
 * that has a key. DuckDuckGo needs none and is used only when it, or `auto`, is named: nothing goes to a service that
 * the user has not chosen. Without a service for pages the program fetches them itself (`plain`).
 */
import type { Settings } from "@/core/contract.ts";

export const BACKENDS = [
  "tavily",
  "exa",
  "parallel",
  "firecrawl",
  "searxng",
  "brave",
  "duckduckgo",
  "plain",
] as const;

export type BackendName = typeof BACKENDS[number];

type Env = (name: string) => string | undefined;

interface Facts {
  /** Environment name of the key, or of the address of a server of one's own. */
  readonly env: string | null;
  /** Another name that also turns it on. */
  readonly alsoEnv?: string;
  readonly searches: boolean;
  readonly extracts: boolean;
}

const FACTS: Readonly<Record<BackendName, Facts>> = {
  tavily: { env: "TAVILY_API_KEY", searches: true, extracts: true },
  exa: { env: "EXA_API_KEY", searches: true, extracts: true },
  parallel: { env: "PARALLEL_API_KEY", searches: true, extracts: true },
  firecrawl: { env: "FIRECRAWL_API_KEY", alsoEnv: "FIRECRAWL_API_URL", searches: true, extracts: true },
  searxng: { env: "SEARXNG_URL", searches: true, extracts: false },
  brave: { env: "BRAVE_SEARCH_API_KEY", searches: true, extracts: false },
  duckduckgo: { env: null, searches: true, extracts: false },
  plain: { env: null, searches: false, extracts: true },
};

const ALIASES: Readonly<Record<string, BackendName>> = {
  ddg: "duckduckgo",
  ddgs: "duckduckgo",
  "brave-free": "brave",
  local: "plain",
  fetch: "plain",
};

/** A service that can be called: it has what it needs. */
export interface Backend {
  readonly name: BackendName;
  /** Empty where none is needed. */
  readonly key: string;
  /** Of a server of one's own; empty for the service's own address. */
  readonly url: string;
}

export type BackendChoice = Backend | { readonly problem: string };

/** Names of the variables that hold keys or addresses of these services; never given to children (core.md C.12). */
export const WEB_ENV_NAMES: readonly string[] = Object.values(FACTS).flatMap(({ env, alsoEnv }) =>
  [env, alsoEnv].filter((name) => typeof name === "string")
);

/** The service for one kind of work, or why there is none. */
export function chooseBackend(work: "search" | "extract", settings: Settings, env: Env): BackendChoice {
  const web = settings.web;
  const own = (work === "search" ? web?.search_backend : web?.extract_backend)?.trim().toLowerCase() ?? "";
  const shared = web?.backend?.trim().toLowerCase() ?? "";
  const can = (name: BackendName) => work === "search" ? FACTS[name].searches : FACTS[name].extracts;
  if (own !== "" && own !== "auto") return named(own, work, can, env);
  // One name for both kinds of work says nothing about the kind its service does not do.
  if (own === "" && shared !== "" && shared !== "auto") {
    const name = nameOf(shared);
    if (name === null || can(name)) return named(shared, work, can, env);
  }
  for (const name of BACKENDS) {
    if (can(name) && FACTS[name].env !== null && isSet(name, env)) return made(name, env);
  }
  if (work === "extract") return made("plain", env);
  if (own === "auto" || shared === "auto") return made("duckduckgo", env);
  return { problem: "no search service is set up: set the key of one, or web.search_backend to duckduckgo" };
}

function named(text: string, work: string, can: (name: BackendName) => boolean, env: Env): BackendChoice {
  const name = nameOf(text);
  if (name === null) {
    return { problem: `there is no web service "${text}"; known are ${BACKENDS.join(", ")}` };
  }
  if (!can(name)) return { problem: `${name} cannot be used to ${work}` };
  return isSet(name, env)
    ? made(name, env)
    : { problem: `${name} needs ${FACTS[name].env}, which is not set` };
}

function nameOf(text: string): BackendName | null {
  const name = (Object.hasOwn(ALIASES, text) ? ALIASES[text] : text) as BackendName;
  return BACKENDS.includes(name) ? name : null;
}

function isSet(name: BackendName, env: Env): boolean {
  const { env: key, alsoEnv } = FACTS[name];
  return key === null || Boolean(env(key)) || (alsoEnv !== undefined && Boolean(env(alsoEnv)));
}

function made(name: BackendName, env: Env): Backend {
  const facts = FACTS[name];
  const key = facts.env === null ? "" : env(facts.env) ?? "";
  if (name === "searxng") return { name, key: "", url: key };
  return { name, key, url: facts.alsoEnv ? env(facts.alsoEnv) ?? "" : "" };
}
