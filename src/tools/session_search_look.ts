/** Where `session_search` looks and what it may see there (core.md B.12): whose conversations, and which one asks. */
import type { SessionOwners, SessionStore } from "@/core/contract.ts";

/** What the tool needs of the store. */
export type SessionReader =
  & Pick<
    SessionStore,
    | "getSession"
    | "listSessions"
    | "loadMessages"
    | "loadLineage"
    | "ancestors"
    | "tipOf"
    | "search"
    | "findByTitle"
    | "findByPrefix"
  >
  & {
    /** Which scoped key of the HTTP API a conversation belongs to; absent: none has an owner. */
    readonly owners?: Pick<SessionOwners, "ofSession">;
  };

export interface Look {
  readonly store: SessionReader;
  /** Public id of the conversation that asks; empty in the store of another profile. */
  readonly current: string;
  /** What stands before ids of another profile: `name/`. */
  readonly prefix: string;
}

/** Sources that are not shown. */
export const HIDDEN = ["subagent", "tool"];

/** First id of everything this conversation grew from; a conversation that is not stored is its own. */
export function rootOf(id: string, store: SessionReader): string {
  return store.ancestors(id).rows.at(-1)?.id ?? id;
}

/**
 * Which conversations this one may look into: with an owner, those of the same owner alone; without one, all, as the
 * person at the machine and the full key may.
 */
export function sharing({ store, current }: Look): (id: string) => boolean {
  const ownerOf = (id: string) => store.owners?.ofSession(rootOf(id, store)) ?? null;
  const owner = ownerOf(current);
  return (id) => owner === null || ownerOf(id) === owner;
}
