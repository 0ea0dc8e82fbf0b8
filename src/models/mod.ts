/** Door of the models room: which model, with which key, and the clients that speak to it. */
export type { ModelFlags } from "./resolve_types.ts";
export { createRecorder, type Recorder } from "./record.ts";
export { createModels, type ModelsDeps } from "./service.ts";

/** The keys in `auth.json`, for who manages them (core.md F.3). */
export function loadAuth(): Promise<typeof import("./auth_file.ts")> {
  return import("./auth_file.ts");
}
