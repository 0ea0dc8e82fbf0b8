/** Model servers on this machine (core.md F.8): each usual address is asked once, all at the same time, 2 s at most. */
import type { LocalServer } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import { normaliseBaseUrl } from "./endpoints.ts";
import { fetchJson } from "./http_json.ts";

const TIMEOUT_MS = 2_000;

type Json = Readonly<Record<string, unknown>>;
type Ask = (path: string) => Promise<Json | null>;

interface Kind {
  readonly kind: LocalServer["kind"];
  readonly origin: string;
  /** Model ids when the server is of this kind, else `null`. */
  detect(ask: Ask): Promise<readonly string[] | null>;
}

function ids(list: unknown, key: string): string[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: Json | null) => {
    const id = entry?.[key];
    return typeof id === "string" && entry?.["type"] !== "embedding" ? [id] : [];
  });
}

async function listed(ask: Ask): Promise<readonly string[]> {
  return ids((await ask("/v1/models"))?.["data"], "id");
}

function kindsAt(origins: Readonly<Record<LocalServer["kind"], string>>): readonly Kind[] {
  return [
    {
      kind: "lmstudio",
      origin: origins.lmstudio,
      detect: async (ask) => {
        const body = await ask("/api/v1/models");
        const models = body?.["models"] ?? body?.["data"];
        return Array.isArray(models) ? ids(models, "key").concat(ids(models, "id")) : null;
      },
    },
    {
      kind: "ollama",
      origin: origins.ollama,
      detect: async (ask) => {
        const models = (await ask("/api/tags"))?.["models"];
        return Array.isArray(models) ? ids(models, "name") : null;
      },
    },
    {
      kind: "llamacpp",
      origin: origins.llamacpp,
      detect: async (ask) => {
        const props = await ask("/props") ?? await ask("/v1/props");
        return props?.["default_generation_settings"] ? await listed(ask) : null;
      },
    },
    {
      kind: "vllm",
      origin: origins.vllm,
      detect: async (ask) => {
        const version = (await ask("/version"))?.["version"];
        return typeof version === "string" ? await listed(ask) : null;
      },
    },
  ];
}

/** `OLLAMA_HOST` is `host:port`, a URL, or an address to listen on. */
function ollamaOrigin(host: string | undefined): string {
  const fallback = "http://127.0.0.1:11434";
  if (!host) return fallback;
  const url = normaliseBaseUrl(host.includes("://") ? host : `http://${host}`);
  if (url === null) return fallback;
  const parsed = new URL(url.replace("//0.0.0.0", "//127.0.0.1"));
  if (parsed.port === "" && !host.includes("://")) parsed.port = "11434";
  return parsed.origin;
}

/** Rejects only with `AbortError`. */
export async function discoverLocal(
  platform: Platform,
  env: (name: string) => string | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly LocalServer[]> {
  const origins = {
    lmstudio: "http://127.0.0.1:1234",
    ollama: ollamaOrigin(env("OLLAMA_HOST")),
    llamacpp: "http://127.0.0.1:8080",
    vllm: "http://127.0.0.1:8000",
  };
  const found = await Promise.all(
    kindsAt(origins).map(async ({ kind, origin, detect }) => {
      const end = platform.clock.monotonic() + TIMEOUT_MS;
      const ask: Ask = async (path) => {
        const timeoutMs = end - platform.clock.monotonic();
        if (timeoutMs <= 0) return null;
        const answer = await fetchJson(platform, origin + path, { timeoutMs, signal });
        if (answer.type !== "answered" || answer.status !== 200) return null;
        return typeof answer.body === "object" ? answer.body as Json | null : null;
      };
      const models = await detect(ask);
      return models === null ? null : { kind, baseUrl: `${origin}/v1`, models };
    }),
  );
  return found.filter((server) => server !== null);
}
