/**
 * The gateway's own error: a number of tui-gateway.md A.7 with a text for people. A method throws one where the
 * number is its own; domain errors get theirs in `domain_errors.ts`. Kept free of imports: it is on the start path.
 */

export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    this.data = data;
  }
}
