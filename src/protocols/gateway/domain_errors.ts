/**
 * The one table that gives each domain error its number on this wire (tui-gateway.md A.7). Exhaustive: a new code
 * does not compile until it has a place here.
 */
import type { HermesErrorCode } from "@/core/contract.ts";
import { HermesError } from "@/core/contract.ts";
import { RpcError } from "./errors.ts";

/** `null` = the number of the failing method itself, see `toRpcError`. */
const CODES: Readonly<Record<HermesErrorCode, number | null>> = {
  session_not_found: 4007,
  session_busy: 4009,
  session_exists: 5000,
  session_limit: 4090,
  message_not_found: 4018,
  empty_history: 4008,
  invalid_argument: 4004,
  invalid_title: 4022,
  title_taken: 4022,
  invalid_cwd: 4017,
  no_provider_configured: 5001,
  missing_api_key: 5001,
  invalid_provider: 5001,
  invalid_model: 5001,
  model_ambiguous: 5001,
  config_invalid: 5001,
  config_unknown_key: 4002,
  store_locked: null,
  store_newer: 5072,
  store_failed: null,
  shutting_down: -32000,
  internal: null,
};

/** Of `prompt.submit`, the only method that tells a full disk from other failures to write. */
const NOT_WRITTEN = 5071;
const DISK_FULL = 5070;

/**
 * The wire form of an expected failure; anything unexpected comes back as it is. `failCode` is the method's number for
 * "the work itself failed" (5006 for `session.list`, …), -32000 when it has none. A disk that is full or read-only is
 * nobody's mistake here: it has that number, too.
 */
export function toRpcError(error: unknown, failCode?: number): unknown {
  const ownCode = failCode === NOT_WRITTEN && isDiskFull(error) ? DISK_FULL : failCode;
  if (!(error instanceof HermesError)) {
    return ownCode !== undefined && isSystemError(error) ? new RpcError(ownCode, error.message) : error;
  }
  const busy = error.code === "session_busy" && !error.message.startsWith("session busy");
  const message = busy ? `session busy: ${error.message}` : error.message;
  return new RpcError(CODES[error.code] ?? ownCode ?? -32000, message);
}

/** What the operating system has refused: `ENOSPC`, `EROFS`, `EACCES` and the like. */
function isSystemError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code);
}

function isDiskFull(error: unknown): boolean {
  if (error instanceof HermesError) return error.data["diskFull"] === true;
  return isSystemError(error) && /^(ENOSPC|EDQUOT)$/.test((error as { code?: unknown }).code as string);
}
