/** Why something with a server did not work. Messages are for people and for the model; no secrets, one line. */

export type FailureKind =
  /** It will not work by trying again: no such program, bad entry, refused URL. */
  | "hopeless"
  /** Not reachable, or gone in the middle. */
  | "connection"
  | "timeout"
  /** 401, 403, or a session the server has forgotten: a new connection may help. */
  | "expired"
  /** The server answered with an error: it is well, the request was not. */
  | "refused"
  /** The caller was told to stop. */
  | "aborted";

export class McpFailure extends Error {
  readonly kind: FailureKind;
  /** True when the request may have reached the server and done something there. */
  readonly sent: boolean;

  constructor(kind: FailureKind, message: string, sent = false) {
    super(message.replace(/\s+/g, " ").trim().slice(0, 500));
    this.name = "McpFailure";
    this.kind = kind;
    this.sent = sent;
  }
}

/** The same failure of a request that was sent. */
export function afterSending(error: unknown): McpFailure {
  const { kind, message } = asFailure(error);
  return new McpFailure(kind, message, true);
}

export function asFailure(error: unknown, fallback: FailureKind = "connection"): McpFailure {
  if (error instanceof McpFailure) return error;
  return new McpFailure(fallback, error instanceof Error ? error.message : String(error));
}
