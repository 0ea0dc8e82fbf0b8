/**
 * Request bodies and the loose value forms of api-server.md A7. Content-Type is not looked at; bytes are counted
 * while reading, and a body that does not arrive in time is given up, because a slot is held meanwhile.
 */
import { ApiError, badRequest } from "./errors.ts";
import { bodyTooLarge, MAX_BODY_BYTES } from "./gates.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

const BODY_TIMEOUT_MS = 60_000;
/** Levels of arrays and objects; what is written again as JSON is written by recursion. */
const MAX_DEPTH = 500;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Throws 400 for what is not UTF-8 JSON of an object, or too deep, 413 above the limit, 408 when it never ends. */
export async function readJsonObject(request: Request): Promise<JsonObject> {
  return parse(await readBytes(request));
}

/** The same where a body may be left out: nothing at all reads as an empty object. */
export async function readOptionalJson(request: Request): Promise<JsonObject> {
  const bytes = await readBytes(request);
  return bytes.length === 0 ? {} : parse(bytes);
}

function parse(bytes: Uint8Array): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw badRequest("Invalid JSON in request body");
  }
  if (!isObject(value)) throw badRequest("Request body must be a JSON object");
  if (isDeeper(value, MAX_DEPTH)) {
    throw badRequest(`Request body is nested more than ${MAX_DEPTH} levels deep`);
  }
  return value;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  const inner = Array.isArray(value) ? value : Object.values(value);
  return inner.some((each) => isDeeper(each, levels - 1));
}

async function readBytes(request: Request): Promise<Uint8Array> {
  if (!request.body) return new Uint8Array();
  const reader = request.body.getReader();
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    void reader.cancel().catch(() => {/* the connection is gone */});
  }, BODY_TIMEOUT_MS);
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      size += next.value.length;
      if (size > MAX_BODY_BYTES) {
        void reader.cancel().catch(() => {/* the connection is gone */});
        throw bodyTooLarge();
      }
      parts.push(next.value);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw badRequest("The request body ended before it was complete");
  } finally {
    clearTimeout(timer);
  }
  if (timedOut) {
    throw new ApiError(408, null, `Request body did not arrive within ${BODY_TIMEOUT_MS / 1000} s`);
  }
  return join(parts, size);
}

function join(parts: readonly Uint8Array[], size: number): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** JSON booleans, `1/true/yes/on`, `0/false/no/off` in any case, numbers by truthiness; anything else the default. */
export function readBool(value: unknown, fallback: boolean): boolean {
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return value !== 0 && !Number.isNaN(value);
  if (typeof value !== "string") return fallback;
  const text = value.trim().toLowerCase();
  if (["1", "true", "yes", "on"].includes(text)) return true;
  return ["0", "false", "no", "off"].includes(text) ? false : fallback;
}

/** A model or provider id; what is too long, not text, or holds control characters counts as empty (D3). */
export function readId(value: unknown, limit: number): string {
  if (typeof value !== "string") return "";
  const text = value.trim();
  return text.length > limit || /[\r\n\0]/.test(text) ? "" : text;
}
