/**
 * The one home of the `openai` package. This file is imported at the first call or by `warm`, never at start, and
 * its static import lets the bundler leave out what is not used. The package makes the request only: reading the
 * answer is ours (see wire_call.ts).
 */
import { OpenAI } from "openai";
import { jsonBody } from "@/lib/json_slices.ts";
import type { Platform } from "@/platform/mod.ts";
import { hostOf, isHostOf } from "../endpoints.ts";
import { anewHeaders } from "../openrouter_cache.ts";
import type { Runtime } from "../runtime.ts";
import { withReason } from "./error_body.ts";
import type { Send } from "./wire.ts";

/** What the package would say of this machine and of itself begins so. */
const NOT_TOLD = "x-stainless-";

/** With it the package sends a text as it is. */
const JSON_TYPE = { "content-type": "application/json" };

/** The sender of one endpoint in one of the two wires. Throws on a malformed URL or header. */
export function createSender(wire: "chat" | "responses", runtime: Runtime, platform: Platform): Send {
  const usual = createClient(runtime, platform);
  let anewClient: OpenAI | null = null;
  const path = wire === "responses" ? "/responses" : "/chat/completions";
  // Not through the package's resources: they watch every value of the body while it is written as JSON, which takes
  // many times as long, and their types are narrower than what other servers take. Nor as an object: a long
  // conversation that is written in one go holds everybody else up.
  return async ({ body, timeoutMs, signal, anew }) => {
    const client = anew
      ? anewClient ??= createClient({ ...runtime, headers: anewHeaders(runtime.headers) }, platform)
      : usual;
    return await client.post(path, {
      body: await jsonBody(body),
      headers: JSON_TYPE,
      stream: body["stream"] === true,
      signal,
      timeout: timeoutMs,
      maxRetries: 0,
    }).asResponse();
  };
}

function createClient(runtime: Runtime, platform: Platform): OpenAI {
  /** The same for every request, so the first one's are kept. */
  let told: Headers | null = null;
  return new OpenAI({
    apiKey: runtime.apiKey,
    // Everything the package would take from the environment is stated here: it may belong to another host.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: runtime.model.baseUrl,
    maxRetries: 0,
    logLevel: "off",
    defaultHeaders: {
      "User-Agent": "hermes",
      ...foreignHeaders(runtime, platform),
      ...runtime.headers,
    },
    fetch: async (url, init) => {
      told ??= toldHeaders(init?.headers);
      const response = await platform.fetch(String(url instanceof Request ? url.url : url), {
        ...init,
        headers: told,
      });
      return response.ok ? response : await withReason(response);
    },
  });
}

function toldHeaders(given: HeadersInit | undefined): Headers {
  const headers = new Headers(given);
  for (const name of [...headers.keys()]) if (name.startsWith(NOT_TOLD)) headers.delete(name);
  return headers;
}

/** `OPENAI_CUSTOM_HEADERS` is meant for OpenAI; the package would send it anywhere. */
function foreignHeaders(runtime: Runtime, platform: Platform): Record<string, null> {
  if (isHostOf(hostOf(runtime.model.baseUrl), "openai.com")) return {};
  const lines = platform.env()["OPENAI_CUSTOM_HEADERS"]?.split("\n") ?? [];
  const names = lines.map((line) => line.slice(0, Math.max(0, line.indexOf(":"))).trim()).filter(Boolean);
  return Object.fromEntries(names.map((name) => [name, null]));
}
