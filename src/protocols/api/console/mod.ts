/**
 * The web console at `GET /`: one page with its scripts and styles, kept in the program, built on the public API
 * alone. Its files need no key, because they hold nothing; every call that the page makes carries the key. The page
 * has a policy of its own, as strict as a page with scripts can have.
 */
import type { ApiService } from "../service.ts";
import { ASSETS } from "./assets.ts";
import { ApiError } from "../errors.ts";

/** Own files only: no inline script or style, no other server, no frame, no text turned into markup. */
export const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/** One file of the page, by its name below `/console/`; 304 when the browser has it. Throws 404. */
export function getConsoleFile(api: ApiService, request: Request, name: string): Response {
  const text = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
  if (text === undefined) throw new ApiError(404, "not_found", "No such route");
  const tag = `"${api.hermes.version}-${textHash(text)}"`;
  const headers = {
    "Content-Security-Policy": CONSOLE_POLICY,
    "Content-Type": TYPES[name.split(".").at(-1)!]!,
    "Cache-Control": "no-cache",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    ETag: tag,
  };
  if (request.headers.get("If-None-Match") === tag) return new Response(null, { status: 304, headers });
  return new Response(text, { headers });
}

/** FNV-1a, to tell one build's file from another's. */
function textHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16);
}
