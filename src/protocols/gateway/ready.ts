/**
 * The first frame of every connection (tui-gateway.md A.4). It must cost nothing: no configuration, no store, no
 * schema library may be reachable from here.
 */
import { eventFrame } from "./frame.ts";

export const DEFAULT_SKIN = {
  name: "default",
  colors: { ui_accent: "#CD7F32" },
  branding: { agent_name: "Hermes" },
  banner_logo: "",
  banner_hero: "",
  tool_prefix: "┊",
  help_header: "",
};

/** `epoch`: 32 hex digits, new in every process. `heartbeat` is named on WebSockets only. */
export function readyFrame(epoch: string, heartbeat?: boolean): string {
  return eventFrame({
    type: "gateway.ready",
    payload: {
      skin: DEFAULT_SKIN,
      change_events: false,
      replay_epoch: epoch,
      ...(heartbeat === undefined ? {} : { heartbeat }),
      protocol: { version: 1 },
      capabilities: {
        event_replay: true,
        change_events: false,
        turn_lease: false,
        turn_recovery: false,
        client_turn_id: false,
      },
    },
  });
}
