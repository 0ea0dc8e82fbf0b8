/** Door of the ACP server: `hermes acp` and nothing else. */
export { type AcpIo, type AcpProgram, serveAcp } from "./server.ts";
export { openStdio, type Stdio } from "./stdio.ts";
