/**
 * The words of browser control (api-server.md B6): names, limits, and what a frame must be. Light: the capabilities
 * of the server are made from it. Knows no socket.
 */
import type { Settings } from "@/core/contract.ts";
import { isLoopbackAddress } from "../key.ts";

export const PROTOCOL_VERSION = 1;
export const SUBPROTOCOL = "hermes-browser-control-v1";
export const TICKET_PREFIX = "hermes-browser-control-ticket.";
export const WS_PATH = "/v1/browser-control/ws";

/** Actions that any controller may offer. */
export const CAPABILITIES = [
  "browser_back",
  "browser_click",
  "browser_navigate",
  "browser_press",
  "browser_screenshot",
  "browser_scroll",
  "browser_snapshot",
  "browser_tab_activate",
  "browser_tabs",
  "browser_type",
  "controller.noop",
] as const;
/** They need a store for artifacts, which this server does not have. */
export const ARTIFACT_CAPABILITIES = ["browser_artifact_download", "browser_artifact_upload"] as const;
/** Only while developer mode is on. */
export const DEVELOPER_CAPABILITIES = ["browser_cdp", "browser_evaluate"] as const;

export interface ControlFlags {
  readonly enabled: boolean;
  readonly developerMode: boolean;
}

/** As the configuration says now; only the literal `true` counts. */
export function flagsOf(settings: Settings): ControlFlags {
  const control = settings.browser?.extension_control;
  return { enabled: control?.enabled === true, developerMode: control?.developer_mode === true };
}

export function isDeveloperAction(action: string): boolean {
  return (DEVELOPER_CAPABILITIES as readonly string[]).includes(action);
}

/** What of the wish is allowed now, sorted, each once. */
export function allowedOf(wish: unknown, { developerMode }: ControlFlags): readonly string[] {
  if (!Array.isArray(wish)) return [];
  const allowed: readonly string[] = developerMode
    ? [...CAPABILITIES, ...DEVELOPER_CAPABILITIES]
    : CAPABILITIES;
  return allowed.filter((name) => wish.includes(name)).toSorted();
}

/** Where a request comes from; part of who somebody is. */
export type Family = "local-api" | "remote-api";

export function familyOf(peer: string): Family {
  return isLoopbackAddress(peer) ? "local-api" : "remote-api";
}

/** Who drives which session from where: turns and controllers meet in it. */
export interface LaneName {
  readonly sessionId: string;
  /** The key's id; `null` = the full key. */
  readonly keyId: string | null;
  readonly family: Family;
}

/** A checked registration. */
export interface Registration {
  readonly lane: LaneName;
  readonly controllerId: string;
  readonly browserProfileId: string;
  readonly capabilities: readonly string[];
  /** Who has registered it, for the audit trail. */
  readonly client: string;
}

// ── Frames ──────────────────────────────────────────────────────────────────────────────────────────────────

export interface Frame {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export const METHODS = {
  command: "browser.controller.command",
  cancel: "browser.controller.cancel",
  result: "browser.controller.result",
  heartbeat: "browser.controller.heartbeat",
  detach: "browser.controller.detach",
} as const;

/** Bytes of one message at most. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `null` for everything that is no frame. */
export function readFrame(text: string): Frame | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || typeof value.method !== "string" || !isObject(value.params)) return null;
    return { method: value.method, params: value.params };
  } catch {
    return null; // no JSON
  }
}
