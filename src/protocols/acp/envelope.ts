/**
 * From a line to a message (acp.md A1): every rule of the JSON-RPC envelope is checked here, with its exact code.
 * What passes is well formed; params are an object or absent. Knows no method.
 */
import { INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR } from "./errors.ts";

/** A number that is written as it came: it has more digits than a number here can hold. */
interface ExactNumber {
  readonly rawJSON: string;
}

export type RpcId = string | number | null | ExactNumber;
export type Params = Readonly<Record<string, unknown>>;

export type Incoming =
  | { readonly type: "request"; readonly id: RpcId; readonly method: string; readonly params: Params }
  | { readonly type: "notification"; readonly method: string; readonly params: Params }
  | { readonly type: "response"; readonly id: RpcId; readonly result?: unknown; readonly error?: unknown }
  /** To be answered with this error. */
  | { readonly type: "invalid"; readonly id: RpcId; readonly code: number; readonly message: string }
  /** Nothing to do: blank line, notification with params of a wrong shape. */
  | { readonly type: "ignore" };

function isId(value: unknown): value is RpcId {
  if (value === null || typeof value === "string") return true;
  return typeof value === "number" ? Number.isFinite(value) : isExact(value);
}

function isExact(value: unknown): value is ExactNumber {
  return (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON(value);
}

/** For comparing: the client may name a request by an id of its own. */
export function idKey(id: RpcId): string | number | null {
  return typeof id === "object" && id !== null ? Number(id.rawJSON) : id;
}

const NUMBER_ID = /"id"\s*:\s*(-?\d[\d.eE+-]*)\s*[,}]/g;

/** A number that is no usual integer comes back digit for digit; everything else is as it was read. */
function exact(value: Record<string, unknown>, text: string): Record<string, unknown> {
  if (typeof value.id !== "number" || Number.isSafeInteger(value.id) || !Number.isFinite(value.id)) {
    return value;
  }
  const digits = [...text.matchAll(NUMBER_ID)].find(([, found]) => Number(found) === value.id)?.[1];
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): ExactNumber };
  return digits === undefined ? value : { ...value, id: rawJSON(digits) };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(id: RpcId, code: number, message: string): Incoming {
  return { type: "invalid", id, code, message };
}

/** `text` is a decoded line, or `null` when its bytes were not UTF-8. */
export function readEnvelope(text: string | null): Incoming {
  if (text === "") return { type: "ignore" };
  let value: unknown;
  try {
    if (text === null) throw new SyntaxError("Cannot decode the line as UTF-8");
    value = JSON.parse(text);
  } catch {
    return invalid(null, PARSE_ERROR, "Parse error: the line is not JSON in UTF-8");
  }
  if (Array.isArray(value)) {
    return invalid(null, INVALID_REQUEST, "Invalid request: batches are not supported");
  }
  if (!isObject(value)) return invalid(null, INVALID_REQUEST, "Invalid request: not an object");
  return readObject(exact(value, text ?? ""));
}

function readObject(value: Record<string, unknown>): Incoming {
  const hasMethod = "method" in value;
  const isAnswer = !hasMethod && ("result" in value || "error" in value);
  // An answer's id lives in our own id space: it must not come back as if it were a request of the client.
  const id: RpcId = !isAnswer && isId(value.id) ? value.id : null;
  if (value.jsonrpc !== "2.0") return invalid(id, INVALID_REQUEST, 'Invalid request: jsonrpc must be "2.0"');
  if (isAnswer) {
    if (!isId(value.id)) return { type: "ignore" };
    return { type: "response", id: value.id, result: value.result, error: value.error };
  }
  if (typeof value.method !== "string") {
    return invalid(id, INVALID_REQUEST, "Invalid request: method must be a string");
  }
  const isRequest = "id" in value;
  if (isRequest && !isId(value.id)) {
    return invalid(null, INVALID_REQUEST, "Invalid request: id must be a string, a number or null");
  }
  const params = value.params ?? {};
  if (!isObject(params)) {
    if (!isRequest) return { type: "ignore" };
    return invalid(id, INVALID_PARAMS, "Invalid params: params must be an object");
  }
  if (!isRequest) return { type: "notification", method: value.method, params };
  return { type: "request", id, method: value.method, params };
}
