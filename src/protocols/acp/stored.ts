/**
 * Sessions as they are stored, looked at without opening them: to open one takes back its end, and a request that is
 * refused must change nothing (acp.md C9).
 */
import { choiceOf, HermesError, type SessionRow } from "@/core/contract.ts";
import type { Connection } from "./connection.ts";
import type { Chosen } from "./options.ts";

/**
 * The row of a session that exists for this client, or what its compressions have left where that row is gone; `null`
 * for any other id.
 */
export function storedRow({ hermes, sources }: Connection, id: string): SessionRow | null {
  const row = hermes.store().getSession(id) ?? hermes.store().tipOf(id);
  return row && (!sources || sources.includes(row.source)) ? row : null;
}

/** What the session would have chosen when it is opened. */
export function chosenOf({ hermes }: Connection, row: SessionRow): Chosen {
  const { config } = hermes.store().resumedFrom(row.id) ?? row;
  const { mode = "default", reasoningEffort = null } = config;
  try {
    return { model: hermes.models.resolve(choiceOf(config)), reasoningEffort, mode };
  } catch (error) {
    if (error instanceof HermesError) return { model: null, reasoningEffort, mode };
    throw error;
  }
}
