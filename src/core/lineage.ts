/**
 * Where a conversation comes from, told from the links between its stored rows (acp.md C13, D4). Worked out on
 * demand, never stored; field names are the ones of the wire. A chain that cannot be followed to its end says so.
 */
import type { SessionRow, SessionStore } from "./ports.ts";

export interface SessionProvenance {
  readonly acpSessionId: string;
  readonly currentHermesSessionId: string;
  /** The last ancestor that could be read. */
  readonly rootHermesSessionId: string;
  readonly parentHermesSessionId: string | null;
  readonly sessionKind: "root" | "continuation" | "fork" | "unknown";
  /** Number of ancestors that were compressed. */
  readonly compressionDepth: number;
  /** These three only when the row moved during the last turn. */
  readonly previousHermesSessionId?: string;
  readonly reason?: "compression";
  readonly creatorKind?: "compression";
  readonly chainStatus: "ok" | "broken" | "cycle" | "too_deep";
  /** The id that could not be followed; only when `chainStatus` is not `ok`. */
  readonly brokenAt?: string;
}

export interface ProvenanceQuery {
  /** The session's public id. */
  readonly handle: string;
  /** The stored row it is in now. */
  readonly headId: string;
  /** The row it was in before the last turn, when the caller knows it. */
  readonly previousHeadId?: string;
}

/** A session that is not stored yet is a root of its own. Reads only; at most 100 ancestors. */
export function buildProvenance(
  store: Pick<SessionStore, "getSession" | "ancestors">,
  query: ProvenanceQuery,
): SessionProvenance {
  const { handle, headId } = query;
  const head = store.getSession(headId);
  const chain = head === null ? readMissingHead(query) : store.ancestors(headId);
  return {
    acpSessionId: handle,
    currentHermesSessionId: headId,
    rootHermesSessionId: chain.rows.at(-1)?.id ?? headId,
    parentHermesSessionId: head?.parentId ?? null,
    sessionKind: head === null && chain.status !== "ok" ? "unknown" : kindOf(head, chain.rows[0]),
    compressionDepth: chain.rows.filter((row) => row.endReason === "compression").length,
    ...movedFrom(query),
    chainStatus: chain.status,
    ...(chain.brokenAt === undefined ? {} : { brokenAt: chain.brokenAt }),
  };
}

type Chain = ReturnType<SessionStore["ancestors"]>;

/** Before its first turn a session has no row; a row that the handle has moved on to must be there. */
function readMissingHead({ handle, headId }: ProvenanceQuery): Chain {
  return headId === handle ? { rows: [], status: "ok" } : { rows: [], status: "broken", brokenAt: headId };
}

function kindOf(head: SessionRow | null, parent: SessionRow | undefined): SessionProvenance["sessionKind"] {
  if (head === null || head.parentId === null) return "root";
  if (parent === undefined) return "unknown";
  // A marker that names another row than the parent came along with the settings of a forked session.
  if (head.config.delegateFrom === parent.id) return "root";
  if (head.config.branchedFrom === parent.id) return "fork";
  return parent.endReason === "compression" ? "continuation" : "root";
}

function movedFrom({ headId, previousHeadId }: ProvenanceQuery): Partial<SessionProvenance> {
  if (previousHeadId === undefined || previousHeadId === headId) return {};
  return { previousHermesSessionId: previousHeadId, reason: "compression", creatorKind: "compression" };
}
