/** Door of the gateway: JSON-RPC with events, on stdio or WebSocket. Light to import: the rest loads after the start. */
import type { WsOptions } from "./ws.ts";

export type { GatewayOptions } from "./program.ts";
export type { StdioIo } from "./stdio.ts";
export { serveGatewayStdio } from "./stdio.ts";
export type { WsOptions } from "./ws.ts";

/** Serves WebSockets until a signal; the result is the exit code. */
export async function serveGatewayWs(options: WsOptions): Promise<number> {
  const { serveGatewayWs: serve } = await import("./ws.ts");
  return await serve(options);
}
