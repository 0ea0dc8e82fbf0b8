/** Whether another program on this home works in a session (core.md D.4, `session_turn_leases`). */
import { HermesError } from "./errors.ts";
import type { Session } from "./session_api.ts";

/** False while a turn of another program runs in it: `requireFree` would refuse. */
export function isFreeSession(session: Pick<Session, "requireFree">): boolean {
  try {
    session.requireFree();
    return true;
  } catch (error) {
    if (error instanceof HermesError && error.code === "session_busy") return false;
    throw error;
  }
}
