/** Errors of the SDK and of the network as this room's own. */
import { isAbort } from "@/lib/abort.ts";
import { asFailure, McpFailure } from "./failure.ts";
import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "./sdk.ts";

/** `lost`: what is known of a connection that is over. */
export function explain(
  error: unknown,
  { timeoutMs, lost }: { readonly timeoutMs: number; lost(): McpFailure },
): McpFailure {
  if (error instanceof McpFailure) return error;
  if (isAbort(error)) return new McpFailure("aborted", "cancelled");
  if (error instanceof UnauthorizedError) {
    return new McpFailure("expired", "the server wants other credentials");
  }
  if (error instanceof InsufficientScopeError) {
    return new McpFailure("refused", `the login may not do this (it needs ${error.requiredScope ?? "more"})`);
  }
  if (error instanceof SdkHttpError) return httpFailure(error);
  if (error instanceof ProtocolError) return new McpFailure("refused", error.message);
  if (!(error instanceof SdkError)) return networkFailure(error);
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      return new McpFailure("timeout", `no answer within ${Math.round(timeoutMs / 100) / 10} s`);
    case SdkErrorCode.ConnectionClosed:
    case SdkErrorCode.NotConnected:
      return lost();
    default:
      return asFailure(error);
  }
}

function httpFailure(error: SdkHttpError): McpFailure {
  const { status } = error;
  if (status === 401 || status === 403) {
    return new McpFailure("expired", `the server refused the credentials (HTTP ${status})`);
  }
  if (status === 404) {
    return new McpFailure("expired", "the server does not know this address or session (HTTP 404)");
  }
  return new McpFailure("connection", `the server answered with HTTP ${status}`);
}

function networkFailure(error: unknown): McpFailure {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return asFailure(cause);
}
