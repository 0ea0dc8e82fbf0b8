/**
 * The one error family of the API door and its way to the wire (api-server.md A8): every refusal is
 * `{"error":{message,type,param,code}}` with all four keys. Domain errors are mapped by one exhaustive table,
 * unknown throws become a 500 whose text went through redaction. A repeated agent turn repeats its side effects,
 * so answers that SDKs would retry carry `X-Should-Retry: false`.
 */
import { HermesError, type HermesErrorCode } from "@/core/contract.ts";

export interface ApiErrorOptions {
  readonly param?: string;
  /** Where it does not follow from the status. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The `error.hermes` block of a turn that failed. */
  readonly hermes?: Readonly<Record<string, unknown>>;
}

/** A refusal with its status and code; `type` follows from the status. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly param: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly hermes: Readonly<Record<string, unknown>> | null;
  readonly #type: string | null;

  constructor(status: number, code: string | null, message: string, options: ApiErrorOptions = {}) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.param = options.param ?? null;
    this.headers = options.headers ?? {};
    this.hermes = options.hermes ?? null;
    this.#type = options.type ?? null;
  }

  get type(): string {
    if (this.#type !== null) return this.#type;
    if (this.status === 429) return "rate_limit_error";
    return this.status === 500 || this.status === 502 ? "server_error" : "invalid_request_error";
  }
}

export function badRequest(message: string, code?: string | null, param?: string): ApiError {
  return new ApiError(400, code ?? null, message, param === undefined ? {} : { param });
}

const BY_DOMAIN_CODE: Record<HermesErrorCode, readonly [status: number, code: string | null]> = {
  session_not_found: [404, "session_not_found"],
  session_busy: [409, "session_active_turn"],
  session_exists: [409, "session_exists"],
  session_limit: [429, "rate_limit_exceeded"],
  message_not_found: [404, null],
  empty_history: [400, null],
  invalid_argument: [400, null],
  invalid_title: [400, "invalid_title"],
  title_taken: [400, "invalid_title"],
  invalid_cwd: [500, null],
  no_provider_configured: [503, "no_provider_configured"],
  missing_api_key: [502, "agent_incomplete"],
  invalid_provider: [502, "agent_incomplete"],
  invalid_model: [502, "agent_incomplete"],
  model_ambiguous: [400, null],
  config_invalid: [500, null],
  config_unknown_key: [500, null],
  store_locked: [503, "session_db_unavailable"],
  store_newer: [503, "session_db_unavailable"],
  store_failed: [503, "session_db_unavailable"],
  shutting_down: [503, "gateway_draining"],
  internal: [500, null],
};

/** Everything that was thrown, as a refusal. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof HermesError) {
    const [status, code] = BY_DOMAIN_CODE[error.code];
    const retryAfter = status === 429 || code === "gateway_draining";
    return new ApiError(status, code, error.message, retryAfter ? { headers: { "Retry-After": "1" } } : {});
  }
  const detail = error instanceof Error ? error.message : String(error);
  return new ApiError(500, null, `Internal server error: ${detail}`);
}

function mustNotRetry(error: ApiError): boolean {
  if (error.code === "no_provider_configured") return true;
  return error.status === 409 || error.status === 500 || error.status === 502;
}

/** The wire body; `redact` takes secrets out of the text. */
export function errorBody(error: ApiError, redact: (text: string) => string): Record<string, unknown> {
  const body = { message: redact(error.message), type: error.type, param: error.param, code: error.code };
  return { error: error.hermes ? { ...body, hermes: error.hermes } : body };
}

export function errorResponse(error: ApiError, redact: (text: string) => string): Response {
  const headers = new Headers({ "Content-Type": "application/json", ...error.headers });
  if (mustNotRetry(error)) headers.set("X-Should-Retry", "false");
  return new Response(JSON.stringify(errorBody(error, redact)), { status: error.status, headers });
}

/** Fit for a header: redacted, printable ASCII only, at most 200 characters (A8, A9). */
export function headerText(text: string, redact: (text: string) => string): string {
  return redact(text).replace(/[^\x20-\x7e]+/g, " ").trim().slice(0, 200);
}
