/** Door of the models room: which model, with which key, and the clients that speak to it. */
export type { ModelFlags } from "./resolve_types.ts";
export { createRecorder, type Recorder } from "./record.ts";
export { createModels, type ModelsDeps } from "./service.ts";
