/**
 * The wires of the web services (core.md B.9): what is asked of each and how its answer becomes hits and pages. Every
 * answer is a stranger's: read member by member, bounded, never trusted. Loaded at the first call.
 */
import type { Backend, BackendName } from "./web_backends.ts";
import { ToolError } from "./args.ts";
import { readDuckDuckGo } from "./web_duckduckgo.ts";

export interface Hit {
  readonly title: string;
  readonly url: string;
  readonly description: string;
}

export interface Page {
  readonly url: string;
  readonly title: string;
  readonly content: string;
  readonly error?: string;
}

/** One request to the service; throws `ToolError` when there is no usable answer. */
export type Ask = (
  url: string,
  init: { headers?: Record<string, string>; json?: unknown; form?: string },
) => {
  json(): Promise<Tree>;
  text(): Promise<string>;
};

type Tree = Readonly<Record<string, unknown>>;

interface Service {
  search?(query: string, limit: number, backend: Backend, ask: Ask): Promise<Hit[]>;
  extract?(urls: readonly string[], backend: Backend, ask: Ask): Promise<Page[]>;
}

const bearer = (backend: Backend) => backend.key ? { authorization: `Bearer ${backend.key}` } : {};
const PARALLEL_BETA = "search-extract-2025-10-10";

const SERVICES: Readonly<Partial<Record<BackendName, Service>>> = {
  tavily: {
    async search(query, limit, backend, ask) {
      const body = { query, max_results: Math.min(limit, 20) };
      const answer = await ask("https://api.tavily.com/search", { headers: bearer(backend), json: body })
        .json();
      return hits(answer["results"], "content");
    },
    async extract(urls, backend, ask) {
      const body = { urls, format: "markdown" };
      const answer = await ask("https://api.tavily.com/extract", { headers: bearer(backend), json: body })
        .json();
      return [...pages(answer["results"], "raw_content"), ...failures(answer["failed_results"])];
    },
  },
  exa: {
    async search(query, limit, backend, ask) {
      const body = { query, numResults: limit, contents: { highlights: true } };
      const headers = { "x-api-key": backend.key };
      const answer = await ask("https://api.exa.ai/search", { headers, json: body }).json();
      return hits(answer["results"], "highlights");
    },
    async extract(urls, backend, ask) {
      const headers = { "x-api-key": backend.key };
      const answer = await ask("https://api.exa.ai/contents", { headers, json: { urls, text: true } }).json();
      return pages(answer["results"], "text");
    },
  },
  parallel: {
    async search(query, limit, backend, ask) {
      const headers = { "x-api-key": backend.key, "parallel-beta": PARALLEL_BETA };
      const body = { objective: query, search_queries: [query], max_results: limit };
      const answer = await ask("https://api.parallel.ai/v1beta/search", { headers, json: body }).json();
      return hits(answer["results"], "excerpts");
    },
    async extract(urls, backend, ask) {
      const headers = { "x-api-key": backend.key, "parallel-beta": PARALLEL_BETA };
      const body = { urls, excerpts: false, full_content: true };
      const answer = await ask("https://api.parallel.ai/v1beta/extract", { headers, json: body }).json();
      return [...pages(answer["results"], "full_content"), ...failures(answer["errors"])];
    },
  },
  firecrawl: {
    async search(query, limit, backend, ask) {
      const url = `${firecrawl(backend)}/v2/search`;
      const answer = await ask(url, { headers: bearer(backend), json: { query, limit } }).json();
      return hits(tree(answer["data"])["web"], "description");
    },
    extract: (urls, backend, ask) => Promise.all(urls.map((url) => scrape(url, backend, ask))),
  },
  searxng: {
    async search(query, limit, backend, ask) {
      const url = `${trimmed(backend.url)}/search?format=json&q=${encodeURIComponent(query)}`;
      return hits((await ask(url, {}).json())["results"], "content").slice(0, limit);
    },
  },
  brave: {
    async search(query, limit, backend, ask) {
      const url = "https://api.search.brave.com/res/v1/web/search?" +
        new URLSearchParams({ q: query, count: String(Math.min(limit, 20)) });
      const answer = await ask(url, { headers: { "x-subscription-token": backend.key } }).json();
      return hits(tree(answer["web"])["results"], "description");
    },
  },
  duckduckgo: {
    async search(query, limit, _backend, ask) {
      const form = `${new URLSearchParams({ q: query })}`;
      const found = readDuckDuckGo(await ask("https://html.duckduckgo.com/html/", { form }).text());
      if (found === null) throw new ToolError("DuckDuckGo did not answer with results; try again later");
      return found.slice(0, limit);
    },
  },
};

/** What the service found, at most `limit`, web addresses only. */
export async function searchWith(backend: Backend, query: string, limit: number, ask: Ask): Promise<Hit[]> {
  const found = await SERVICES[backend.name]!.search!(query, limit, backend, ask);
  return found.filter(({ url }) => /^https?:\/\//i.test(url)).slice(0, limit);
}

/** One page per URL, in their order; what the service does not mention has an error. */
export async function extractWith(backend: Backend, urls: readonly string[], ask: Ask): Promise<Page[]> {
  const found = await SERVICES[backend.name]!.extract!(urls, backend, ask);
  return urls.map((url, at) => {
    const same = found.find((page) => page.url === url) ??
      found.find((page) => sameAddress(page.url, url)) ??
      (urls.length === 1 && found.length === 1 ? found[at] : undefined);
    if (!same) return { url, title: "", content: "", error: `${backend.name} gave no content for this page` };
    return { ...same, url };
  });
}

async function scrape(url: string, backend: Backend, ask: Ask): Promise<Page> {
  try {
    const answer = await ask(`${firecrawl(backend)}/v2/scrape`, {
      headers: bearer(backend),
      json: { url, formats: ["markdown"] },
    }).json();
    const data = tree(answer["data"]);
    return { url, title: text(tree(data["metadata"])["title"]), content: text(data["markdown"]) };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { url, title: "", content: "", error: error.message };
  }
}

function firecrawl(backend: Backend): string {
  return trimmed(backend.url || "https://api.firecrawl.dev");
}

function trimmed(url: string): string {
  return url.trim().replace(/\/+$/, "");
}

function sameAddress(a: string, b: string): boolean {
  const plain = (url: string) => URL.parse(url)?.href.replace(/#.*$/, "").replace(/\/$/, "") ?? url;
  return plain(a) === plain(b);
}

function hits(list: unknown, description: string): Hit[] {
  return entries(list).map((entry) => ({
    title: text(entry["title"]),
    url: text(entry["url"]),
    description: textOrTexts(entry[description]).slice(0, 2_000),
  }));
}

function pages(list: unknown, content: string): Page[] {
  return entries(list).map((entry) => ({
    url: text(entry["url"]),
    title: text(entry["title"]),
    content: textOrTexts(entry[content]),
  }));
}

function failures(list: unknown): Page[] {
  return entries(list).map((entry) => ({
    url: text(entry["url"]),
    title: "",
    content: "",
    error: text(entry["error"]) || text(entry["error_type"]) || "the service could not read this page",
  }));
}

function entries(list: unknown): Tree[] {
  return Array.isArray(list) ? list.map(tree) : [];
}

function tree(value: unknown): Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Tree : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}

function textOrTexts(value: unknown): string {
  return Array.isArray(value) ? value.map(text).filter(Boolean).join(" … ") : text(value);
}
