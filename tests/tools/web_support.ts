/** Web tools on a network of its own: `*.test` names are public and answered by a handler, without any real server. */
import type { Tool } from "@/core/mod.ts";
import { textOf } from "@/core/mod.ts";
import { createWebExtract } from "../../src/tools/web_extract.ts";
import { createWebSearch } from "../../src/tools/web_search.ts";
import type { CallOptions, Json } from "./context.ts";
import { type Bench, makeBench } from "./context.ts";

export interface Web extends AsyncDisposable {
  readonly bench: Bench;
  /** Every request: to pages by the guard, to services directly. */
  readonly asked: { readonly url: string; readonly init: RequestInit }[];
  readonly search: Tool;
  readonly extract: Tool;
  /** The result, taken out of its wrapper, and how it came. */
  run(tool: Tool, args: Record<string, unknown>, call?: CallOptions): Promise<Answer>;
}

export interface Answer {
  readonly body: Json;
  readonly raw: string;
  readonly isError: boolean;
}

export interface WebOptions {
  readonly env?: Record<string, string>;
  readonly web?: Record<string, unknown>;
  readonly security?: Record<string, unknown>;
  /** Answers pages and services. */
  serve?(url: string, init: RequestInit): Response | Promise<Response>;
}

const PUBLIC = "93.184.216.34";

export async function makeWeb(options: WebOptions = {}): Promise<Web> {
  const asked: Web["asked"] = [];
  const serve = async (url: string, init: RequestInit = {}): Promise<Response> => {
    asked.push({ url, init });
    return await options.serve?.(url, init) ?? new Response("nothing here", { status: 404 });
  };
  const bench = await makeBench({
    platform: {
      resolve: (host) =>
        host.endsWith(".test") ? Promise.resolve([PUBLIC]) : Promise.reject(new Error("unknown")),
      fetchAt: serve,
      fetch: serve,
    },
    settings: {
      security: { redact_secrets: true, allow_private_urls: false, ...options.security },
      web: {
        backend: "",
        search_backend: "",
        extract_backend: "",
        extract_char_limit: 15_000,
        ...options.web,
      },
    },
  });
  const env = (name: string) => options.env?.[name];
  return {
    bench,
    asked,
    search: createWebSearch(env),
    extract: createWebExtract(env),
    run: async (tool, args, call) => {
      const { content, isError } = await tool.execute(args, bench.context(call));
      const raw = textOf(content);
      const inside = /^<untrusted_tool_result source="\w+">\n[^\n]+\n\n([\s\S]*)\n<\/untrusted_tool_result>$/
        .exec(raw);
      return { body: JSON.parse(inside?.[1] ?? "null"), raw, isError };
    },
    [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose](),
  };
}

export function html(body: string, type = "text/html; charset=utf-8"): Response {
  return new Response(body, { headers: { "content-type": type } });
}

export function json(value: unknown, status = 200): Response {
  return new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json" } });
}
