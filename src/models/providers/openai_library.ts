/**
 * The one home of the `openai` package. This file is imported at the first call or by `warm`, never at start, and
 * its static import lets the bundler leave out what is not used. The package makes the request only: reading the
 * answer is ours (see chat_call.ts).
 */
import { OpenAI } from "openai";
import type { Platform } from "@/platform/mod.ts";
import { hostOf, isHostOf } from "../endpoints.ts";
import type { Runtime } from "../runtime.ts";
import type { SendChat } from "./send_chat.ts";

/** The sender of one endpoint. Throws when its settings make no request (a malformed URL or header). */
export function createSender(runtime: Runtime, platform: Platform): SendChat {
  const client = new OpenAI({
    apiKey: runtime.apiKey,
    // Everything the package would take from the environment is stated here: it may belong to another host.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: runtime.model.baseUrl,
    maxRetries: 0,
    logLevel: "off",
    defaultHeaders: { "User-Agent": "hermes", ...foreignHeaders(runtime, platform), ...runtime.headers },
    fetch: (url, init) => platform.fetch(String(url instanceof Request ? url.url : url), init),
  });
  return ({ body, timeoutMs, signal }) =>
    client.chat.completions
      // The body is built for many servers, so it is wider than the package's types.
      .create(body as unknown as Parameters<typeof client.chat.completions.create>[0], {
        signal,
        timeout: timeoutMs,
        maxRetries: 0,
      })
      .asResponse();
}

/** `OPENAI_CUSTOM_HEADERS` is meant for OpenAI; the package would send it anywhere. */
function foreignHeaders(runtime: Runtime, platform: Platform): Record<string, null> {
  if (isHostOf(hostOf(runtime.model.baseUrl), "openai.com")) return {};
  const lines = platform.env()["OPENAI_CUSTOM_HEADERS"]?.split("\n") ?? [];
  const names = lines.map((line) => line.slice(0, Math.max(0, line.indexOf(":"))).trim()).filter(Boolean);
  return Object.fromEntries(names.map((name) => [name, null]));
}
