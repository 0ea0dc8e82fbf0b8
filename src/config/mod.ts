/** Door of the configuration room: the only place that reads `config.jsonc` and `.env`. */
export { createConfig } from "./service.ts";
export { resolveHome } from "./paths.ts";
