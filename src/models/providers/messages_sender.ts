/**
 * Sends requests of the Messages wire over the platform's own `fetch`. A refusal is thrown with its status and its
 * body, which is read within bounds; the key goes into one header and nowhere else.
 */
import { jsonBody } from "@/lib/json_slices.ts";
import type { Platform } from "@/platform/mod.ts";
import { NO_KEY } from "../keys.ts";
import { anewHeaders } from "../openrouter_cache.ts";
import type { Runtime } from "../runtime.ts";
import { readError } from "./error_body.ts";
import { withoutLongContext } from "./long_context.ts";
import type { Send } from "./wire.ts";

const VERSION = "2023-06-01";
const FAST_MODE = "fast-mode-2026-02-01";

/** Throws when the address or a header cannot be used. */
export function createMessagesSender(runtime: Runtime, platform: Platform): Send {
  const url = messagesUrl(runtime.model.baseUrl);
  const headersWith = (own: Runtime["headers"]) =>
    new Headers({
      "content-type": "application/json",
      "accept": "application/json",
      "user-agent": "hermes",
      "anthropic-version": VERSION,
      ...keyHeaders(runtime.apiKey),
      ...own,
    });
  const headers = headersWith(runtime.headers);
  return async ({ body, signal, ordinaryContext, anew }) => {
    const usual = anew ? headersWith(anewHeaders(runtime.headers)) : headers;
    const base = ordinaryContext ? withoutLongContext(usual) : usual;
    const text = await jsonBody(body);
    const init = { method: "POST", headers: headersOf(body, base), body: text, signal };
    const response = await platform.fetch(url, init);
    if (response.ok) return response;
    throw new RefusedError(response.status, response.headers, await readError(response));
  };
}

/** The fast mode is a beta, which has to be named beside those that are named already. */
function headersOf(body: Record<string, unknown>, headers: Headers): Headers {
  if (body["speed"] !== "fast") return headers;
  const more = new Headers(headers);
  more.append("anthropic-beta", FAST_MODE);
  return more;
}

/** `/v1/messages` under the address, which may name the version already. */
export function messagesUrl(baseUrl: string): string {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1/messages`;
  return url.href;
}

/** Tokens of a login go out as bearer, keys in the header of their own. */
function keyHeaders(key: string): Record<string, string> {
  if (key === "" || key === NO_KEY) return {};
  if (!key.startsWith("sk-ant-oat")) return { "x-api-key": key };
  return { "authorization": `Bearer ${key}`, "anthropic-beta": "oauth-2025-04-20" };
}

class RefusedError extends Error {
  readonly status: number;
  readonly headers: Headers;
  readonly error: unknown;

  constructor(status: number, headers: Headers, error: unknown) {
    super(`HTTP ${status}`);
    this.name = "RefusedError";
    this.status = status;
    this.headers = headers;
    this.error = error;
  }
}
