/** A session that another program on this home works in (core.md D.4): short turns are waited for, long ones are 409. */
import { isFreeSession, type Session } from "@/core/contract.ts";
import type { Clock } from "@/platform/mod.ts";

const WAIT_MS = 2_000;
const LOOK_MS = 50;

/** Throws `session_busy` when the other program's turn goes on. */
export async function untilFree(session: Session, clock: Clock): Promise<void> {
  const started = clock.monotonic();
  while (!isFreeSession(session)) {
    if (clock.monotonic() - started >= WAIT_MS) return session.requireFree();
    await clock.delay(LOOK_MS);
  }
}
