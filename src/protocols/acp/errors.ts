/**
 * Errors of this door (acp.md A2): one class with the JSON-RPC code, and one exhaustive table from the domain's
 * codes. Unknown throws become "internal error" with a short text; a client-fault code is never used for our fault.
 */
import { assertNever, HermesError, type HermesErrorCode, type ModelFailure } from "@/core/contract.ts";
import { isAbort } from "@/lib/abort.ts";

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
export const AUTH_REQUIRED = -32000;
export const NOT_FOUND = -32002;
export const REQUEST_CANCELLED = -32800;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export class AcpError extends Error {
  readonly code: number;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: number, message: string, data?: Record<string, unknown>) {
    super(message);
    this.name = "AcpError";
    this.code = code;
    this.data = data;
  }
}

export function invalidParams(message: string, data?: Record<string, unknown>): AcpError {
  return new AcpError(INVALID_PARAMS, message, data);
}

export function sessionNotFound(sessionId: string): AcpError {
  return new AcpError(NOT_FOUND, `Session not found: ${sessionId.slice(0, 100)}`, { sessionId });
}

/** `details` must hold no secrets. */
export function internalError(details: string): AcpError {
  return new AcpError(INTERNAL_ERROR, "Internal error", { details });
}

function codeOf(code: HermesErrorCode): number {
  switch (code) {
    case "session_not_found":
    case "message_not_found":
      return NOT_FOUND;
    case "no_provider_configured":
    case "missing_api_key":
    case "invalid_provider":
      return AUTH_REQUIRED;
    case "session_busy":
    case "session_exists":
    case "empty_history":
    case "invalid_argument":
    case "invalid_title":
    case "title_taken":
    case "invalid_cwd":
    case "invalid_model":
    case "model_ambiguous":
    case "config_unknown_key":
      return INVALID_PARAMS;
    case "shutting_down":
      return REQUEST_CANCELLED;
    case "session_limit":
    case "config_invalid":
    case "store_locked":
    case "store_newer":
    case "store_failed":
    case "internal":
      return INTERNAL_ERROR;
    default:
      return assertNever(code);
  }
}

/** A domain error in the wire's words; `data.reason` is the domain's code. */
export function fromHermesError(error: HermesError): AcpError {
  const code = codeOf(error.code);
  if (error.code === "session_not_found") return sessionNotFound(String(error.data.sessionId ?? ""));
  // It says what to do, and clients show the message first.
  if (code === INTERNAL_ERROR) return new AcpError(code, error.message, { details: error.message });
  const reason = error.code === "session_busy" ? "busy" : error.code;
  return new AcpError(code, error.message, { ...error.data, reason });
}

/** How the failure of a turn's model looks on the wire (acp.md C10 "Failures"). */
export function fromModelFailure(failure: ModelFailure | null, more: Record<string, unknown> = {}): AcpError {
  const details = failure?.message ?? "The turn failed";
  const facts = {
    ...more,
    ...(failure?.status === undefined ? {} : { status: failure.status }),
    ...(failure ? { kind: failure.kind, provider: failure.provider, model: failure.model } : {}),
  };
  const isAuth = failure?.kind === "auth" || failure?.status === 401 || failure?.status === 403;
  if (isAuth) {
    return new AcpError(AUTH_REQUIRED, `Authentication required: ${details}`, { details, ...facts });
  }
  return new AcpError(INTERNAL_ERROR, `The turn failed: ${details}`, { details, ...facts });
}

/** The one place where a throw becomes an error object of the wire. `redact` takes secrets out of unknown texts. */
export function toRpcError(error: unknown, redact: (text: string) => string): RpcError {
  const known = error instanceof HermesError ? fromHermesError(error) : error;
  if (known instanceof AcpError) {
    return { code: known.code, message: known.message, ...(known.data ? { data: known.data } : {}) };
  }
  if (isAbort(known)) return { code: REQUEST_CANCELLED, message: "Request cancelled" };
  const text = known instanceof Error ? known.message : String(known);
  return { code: INTERNAL_ERROR, message: "Internal error", data: { details: redact(text).slice(0, 300) } };
}
