/** Door of the OpenAI-compatible API: the server, and its app alone for tests and other hosts. */
import type { Hermes } from "@/app/mod.ts";
import type { ApiApp } from "./app.ts";
import type { ApiOptions } from "./front.ts";

export type { ApiApp } from "./app.ts";
export { isScope, keyNameProblem, makeScopedKey, readKeys, type Scope, SCOPES } from "./api_keys.ts";
export type { ServeFlags } from "./config.ts";
export { serveApi } from "./server.ts";
export type { ApiOptions } from "./front.ts";

/** The app without a socket. Loaded on demand: the server's start does without it. */
export async function createApiApp(hermes: Hermes, options: ApiOptions): Promise<ApiApp> {
  return (await import("./app.ts")).createApiApp(hermes, options);
}
