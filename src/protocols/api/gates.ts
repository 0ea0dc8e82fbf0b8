/**
 * What happens to a request before routing, and to every answer on its way out (api-server.md A5 steps 1, 2, 8):
 *
 *   Host gate ─► origin gate + preflight ─► Content-Length gate ─► … ─► security, CORS and request-id headers
 */
import type { ApiConfig } from "./config.ts";
import { hostName } from "./config.ts";
import { ApiError, badRequest } from "./errors.ts";

/** Largest request body in bytes (§0). */
export const MAX_BODY_BYTES = 10_000_000;

const LOOPBACK_NAMES = new Set(["localhost", "127.0.0.1", "::1"]);
const ANY_ADDRESS = new Set(["0.0.0.0", "::"]);

/** `forwarded`: the name that a trusted proxy was asked by. */
export function checkHost(request: Request, config: ApiConfig, forwarded: string | null = null): void {
  const bound = hostName(config.host);
  if (ANY_ADDRESS.has(bound)) return;
  const name = hostName(forwarded ?? request.headers.get("Host") ?? new URL(request.url).host);
  if (name === bound || config.allowedHosts.includes(name)) return;
  if (config.loopback && LOOPBACK_NAMES.has(name)) return;
  throw new ApiError(
    403,
    "host_not_allowed",
    `Host "${name.slice(0, 100)}" is not allowed; add it to API_SERVER_ALLOWED_HOSTS if it is yours`,
  );
}

/** True for an `OPTIONS` of an allowed page, which is answered at once. */
export function checkOrigin(request: Request, config: ApiConfig, forwarded: string | null = null): boolean {
  const origin = request.headers.get("Origin");
  if (origin === null) return false;
  if (!isAllowedOrigin(origin, config) && !isOwnOrigin(origin, forwarded ?? request.headers.get("Host"))) {
    throw new ApiError(
      403,
      "origin_not_allowed",
      `Origin "${origin.slice(0, 100)}" is not allowed; add it to API_SERVER_CORS_ORIGINS if it is yours`,
    );
  }
  return request.method === "OPTIONS";
}

/**
 * A page that this server itself has served, the console: browsers send its origin with every POST. The name in
 * `Host` has passed the host gate; the scheme is the proxy's affair. Needs no CORS header.
 */
function isOwnOrigin(origin: string, host: string | null): boolean {
  return host !== null && /^https?:\/\/[^/]+$/.test(origin) && origin.replace(/^https?:\/\//, "") === host;
}

function isAllowedOrigin(origin: string, config: ApiConfig): boolean {
  return config.origins.includes("*") || config.origins.includes(origin);
}

export function checkContentLength(request: Request): void {
  const text = request.headers.get("Content-Length");
  if (text === null) return;
  if (!/^\d+$/.test(text)) throw badRequest("Invalid Content-Length header", "invalid_content_length");
  if (Number(text) > MAX_BODY_BYTES) throw bodyTooLarge();
}

export function bodyTooLarge(): ApiError {
  return new ApiError(413, "body_too_large", `Request body is larger than ${MAX_BODY_BYTES} bytes`);
}

const SECURITY_HEADERS: readonly (readonly [string, string])[] = [
  ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"],
  ["Permissions-Policy", "camera=(), microphone=(), geolocation=()"],
  ["Strict-Transport-Security", "max-age=31536000; includeSubDomains"],
  ["X-Content-Type-Options", "nosniff"],
  ["X-Frame-Options", "DENY"],
  ["X-XSS-Protection", "0"],
  ["Referrer-Policy", "no-referrer"],
];

const CORS_HEADERS: readonly (readonly [string, string])[] = [
  ["Access-Control-Max-Age", "600"],
  ["Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE, OPTIONS"],
  [
    "Access-Control-Allow-Headers",
    "Authorization, Content-Type, Idempotency-Key, X-Hermes-Session-Id, X-Hermes-Session-Key, Last-Event-ID, X-Hermes-Tool-Items",
  ],
  [
    "Access-Control-Expose-Headers",
    "X-Hermes-Session-Id, X-Hermes-Session-Key, X-Hermes-Completed, X-Hermes-Partial, X-Hermes-Error, X-Hermes-Ignored, Idempotency-Replayed, Retry-After, X-Request-Id",
  ],
];

/** Adds A11, A6 and A9's request id; an answer to a page that is not allowed gets no CORS header. */
export function finishHeaders(
  headers: Headers,
  origin: string | null,
  config: ApiConfig,
  requestId: string,
): void {
  for (const [name, value] of SECURITY_HEADERS) {
    // A page has a content policy of its own.
    if (!headers.has(name)) headers.set(name, value);
  }
  headers.set("X-Request-Id", requestId);
  if (origin === null || !isAllowedOrigin(origin, config)) return;
  if (config.origins.includes("*")) {
    headers.set("Access-Control-Allow-Origin", "*");
  } else {
    headers.set("Access-Control-Allow-Origin", origin);
    headers.append("Vary", "Origin");
  }
  for (const [name, value] of CORS_HEADERS) headers.set(name, value);
}
