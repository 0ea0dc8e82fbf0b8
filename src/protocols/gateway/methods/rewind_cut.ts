/**
 * Carries out a rewind that `rewind.ts` has allowed (tui-gateway.md B.11): the store first, then memory, and tells the
 * host the new row ids of what is left, because the old ones are gone.
 */
import { HermesError, isUserTurn } from "@/core/contract.ts";
import { toRpcError } from "../domain_errors.ts";
import type { LiveSession } from "../live.ts";
import type { RewindTarget } from "./rewind.ts";

export interface Survivors {
  /** By the visible order of the user's turns; `null` = no durable id. */
  readonly survivor_user_row_ids?: readonly (number | null)[];
  /** New by old, for the ids that the host has asked about. */
  readonly survivor_row_id_map?: Readonly<Record<string, number | null>>;
}

/** Throws 4018, 5008; then nothing has changed. */
export async function cutBefore(
  live: LiveSession,
  target: RewindTarget,
  rebind: readonly number[] | undefined,
): Promise<Survivors> {
  try {
    const moved = await live.session.rewindBefore(target.rowId ?? await rowIdOf(live, target.ordinal));
    if (rebind === undefined) return { survivor_user_row_ids: survivorsOf(live, target, moved) };
    return { survivor_row_id_map: Object.fromEntries(rebind.map((id) => [id, moved.get(id) ?? null])) };
  } catch (error) {
    throw toRpcError(error, 5008);
  }
}

/** Seeded history has no rows until now. */
async function rowIdOf(live: LiveSession, ordinal: number): Promise<number> {
  await live.session.store();
  const rowId = live.session.history().filter(isUserTurn)[ordinal]?.rowId;
  if (rowId === undefined) throw new HermesError("store_failed", "The conversation cannot be saved now");
  return rowId;
}

/** By the visible order; turns of compressed ancestors keep their rows. Nothing is read again, so no turn gets between. */
function survivorsOf(
  { session }: LiveSession,
  { rowId, shown, own }: RewindTarget,
  moved: ReadonlyMap<number, number>,
): (number | null)[] {
  if (rowId === null) return session.history().filter(isUserTurn).map((turn) => turn.rowId ?? null);
  return shown.flatMap((id) => {
    if (!own.has(id)) return [id];
    const now = moved.get(id);
    return now === undefined ? [] : [now];
  });
}
