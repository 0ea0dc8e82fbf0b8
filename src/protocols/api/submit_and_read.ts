/** Starts a turn and hands its events, and only its events, to one reader. */
import type { CoreEvent, Session, TurnHandle } from "@/core/contract.ts";

/** Events that are published during `submit` are included. The subscription ends with the turn. */
export function submitAndRead(
  session: Session,
  submit: () => TurnHandle,
  reader: (event: CoreEvent) => void | Promise<void>,
): TurnHandle {
  let turnId: string | null = null;
  const early: CoreEvent[] = [];
  const unsubscribe = session.subscribe((event) => {
    if (turnId === null) early.push(event);
    else if (event.turnId === turnId) return reader(event);
  });
  const handle = submit();
  turnId = handle.id;
  for (const event of early) if (event.turnId === turnId) void reader(event);
  void handle.done.then(unsubscribe);
  return handle;
}
