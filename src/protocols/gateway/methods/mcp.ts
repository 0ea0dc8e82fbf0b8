/**
 * `reload.mcp` and `/reload-mcp` (tui-gateway.md B.16): ends and starts all MCP servers of the configuration. Tools may
 * come and go by that, so it is asked about first, unless the user has said that it need not be.
 */
import * as z from "zod/mini";
import { RpcError } from "../errors.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, isTruthy, method } from "./define.ts";

export interface ReloadWish {
  readonly confirmed: boolean;
  /** And never ask again. */
  readonly always: boolean;
}

export type ReloadResult =
  | { readonly status: "reloaded" }
  | { readonly status: "confirm_required"; readonly message: string };

export function mcpMethods(gateway: Gateway): DefinedMethod[] {
  return [
    method({
      name: "reload.mcp",
      kind: "worker",
      params: z.object({ session_id: anything, confirm: anything, always: anything }),
      failCode: 5015,
      handle: (params) =>
        reloadMcp(gateway, { confirmed: isTruthy(params.confirm), always: isTruthy(params.always) }),
    }),
  ];
}

/** Nothing happens while the consent is missing. Throws 5015. */
export async function reloadMcp(gateway: Gateway, wish: ReloadWish): Promise<ReloadResult> {
  const { config, mcp } = gateway.hermes;
  const asks = config.get("approvals.mcp_reload_confirm") !== false;
  if (asks && !wish.confirmed && !wish.always) {
    const message =
      "All MCP servers are ended and started again, and the model may be offered other tools. " +
      "Repeat with confirm, or with always to stop being asked";
    return { status: "confirm_required", message };
  }
  if (wish.always) await config.write(["approvals", "mcp_reload_confirm"], false);
  try {
    await mcp.reload();
  } catch (error) {
    throw new RpcError(5015, `The MCP servers could not be reloaded: ${String(error)}`);
  }
  for (const live of gateway.live.all()) live.emitInfo();
  return { status: "reloaded" };
}
