/**
 * The domain's error family. Each protocol maps `code` to its wire in one exhaustive table; a cancellation is an
 * outcome and never one of these. Messages: what failed, the value, what to do.
 */

export type HermesErrorCode =
  | "session_not_found"
  | "session_busy"
  | "session_exists"
  | "session_limit"
  | "message_not_found"
  | "empty_history"
  | "invalid_argument"
  | "invalid_title"
  | "title_taken"
  | "invalid_cwd"
  | "no_provider_configured"
  | "missing_api_key"
  | "invalid_provider"
  | "invalid_model"
  | "model_ambiguous"
  | "config_invalid"
  | "config_unknown_key"
  | "store_locked"
  | "store_newer"
  | "store_failed"
  | "shutting_down"
  | "internal";

export class HermesError extends Error {
  readonly code: HermesErrorCode;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: HermesErrorCode, message: string, data: Record<string, unknown> = {}) {
    super(message);
    this.name = "HermesError";
    this.code = code;
    this.data = data;
  }
}

/** Why a model call failed (core.md A.11). */
export type ModelFailureKind =
  | "auth"
  | "billing"
  | "rate_limit"
  /** Of the provider behind an aggregator: waiting for it is of no use while there is another. */
  | "upstream_rate_limit"
  | "overloaded"
  | "server_error"
  | "timeout"
  | "connection"
  | "ssl"
  | "context_overflow"
  | "payload_too_large"
  | "model_not_found"
  | "content_policy"
  | "format_error"
  | "invalid_response"
  | "empty_stream"
  | "config"
  | "unknown";

export interface ModelFailure {
  readonly kind: ModelFailureKind;
  /** Redacted, one line, at most 500 characters. */
  readonly message: string;
  /** HTTP status when there was one. */
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** An image of the request is larger than the provider takes. */
  readonly imageTooLarge?: true;
  readonly provider: string;
  readonly model: string;
  /** True when the kind is worth another try with the same provider. */
  readonly retryable: boolean;
}
