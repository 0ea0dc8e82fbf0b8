/** Door of the gateway: JSON-RPC with events, on stdio or WebSocket. Light to import, but for what a first session needs. */
import type { ContractForm } from "./contract/mod.ts";
import type { WsOptions } from "./ws.ts";

export type { ContractForm } from "./contract/mod.ts";
export type { GatewayOptions } from "./program.ts";
export type { StdioIo } from "./stdio.ts";
export { serveGatewayStdio } from "./stdio.ts";
export type { WsOptions } from "./ws.ts";

/** The contract for hosts: an OpenRPC document or TypeScript declarations, as text. */
export async function printGatewayContract(form: ContractForm, version: string): Promise<string> {
  const { printContract } = await import("./contract/mod.ts");
  return await printContract(form, version);
}

/** Serves WebSockets until a signal; the result is the exit code. */
export async function serveGatewayWs(options: WsOptions): Promise<number> {
  const { serveGatewayWs: serve } = await import("./ws.ts");
  return await serve(options);
}
