/** Where logins and their tokens go (core.md G.3): nowhere that they could be read on their way. */
import { isSafePlace } from "@/lib/safe_place.ts";
import { McpFailure } from "./failure.ts";

/** Throws `McpFailure` for an address over which a login could be read. */
export function refuseUnsafePlace(url: string | URL): void {
  const place = new URL(url);
  if (isSafePlace(place)) return;
  throw new McpFailure("hopeless", `a login goes over https, or to this machine; not to ${place.origin}`);
}
