/** The bearer check of api-server.md A4: exact scheme, constant-time comparison on UTF-8 bytes, never a crash. */
import type { Logger } from "@/core/contract.ts";
import { ApiError } from "./errors.ts";

const encoder = new TextEncoder();
const SCHEME = "Bearer ";

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < b.length; i++) difference |= (a[i] ?? 0) ^ b[i]!;
  return difference === 0;
}

/** Returns a check that throws a 401 unless the request carries `key`. */
export function createAuth(key: string, log: Logger): (request: Request, peer: string) => void {
  const expected = encoder.encode(key);
  return (request, peer) => {
    const header = request.headers.get("Authorization");
    if (header?.startsWith(SCHEME) && isEqual(encoder.encode(header.slice(SCHEME.length).trim()), expected)) {
      return;
    }
    const path = new URL(request.url).pathname;
    const agent = request.headers.get("User-Agent") ?? "";
    log.warn(
      `401 for ${oneLine(peer, 64)} ${oneLine(request.method, 16)} ${oneLine(path, 200)} ${
        oneLine(agent, 200)
      }`,
    );
    throw new ApiError(401, "invalid_api_key", "Invalid API key", {
      headers: { "WWW-Authenticate": "Bearer" },
    });
  };
}

function oneLine(text: string, limit: number): string {
  return text.replace(/[\r\n]+/g, " ").slice(0, limit);
}
