/** Stored ids: `YYYYMMDD_HHMMSS_<6 hex>`, local time (core.md D.3). */
import type { Platform } from "@/platform/mod.ts";

export function newSessionId(platform: Platform): string {
  const d = new Date(platform.clock.now());
  const two = (n: number) => String(n).padStart(2, "0");
  const date = `${d.getFullYear()}${two(d.getMonth() + 1)}${two(d.getDate())}`;
  return `${date}_${two(d.getHours())}${two(d.getMinutes())}${two(d.getSeconds())}_${platform.ids.hex(6)}`;
}
