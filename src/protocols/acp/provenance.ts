/**
 * Where a session comes from, as `_meta.hermes.sessionProvenance` (acp.md C13, D4). Derived from the stored chain
 * on demand; a break in it is told, never papered over.
 */
import type { Hermes } from "@/app/mod.ts";
import type { Session, SessionRow } from "@/core/contract.ts";

export interface Provenance {
  readonly acpSessionId: string;
  readonly currentHermesSessionId: string;
  readonly rootHermesSessionId: string;
  readonly parentHermesSessionId: string | null;
  readonly sessionKind: "root" | "continuation" | "fork" | "unknown";
  readonly compressionDepth: number;
  readonly previousHermesSessionId?: string;
  readonly reason?: "compression";
  readonly creatorKind?: "compression";
  readonly chainStatus: "ok" | "broken" | "cycle" | "too_deep";
  readonly brokenAt?: string;
}

export interface Chain {
  readonly head: SessionRow;
  /** Nearest first, as far as they can be read. */
  readonly ancestors: readonly SessionRow[];
  readonly status: Provenance["chainStatus"];
  readonly brokenAt?: string;
}

const MAX_STEPS = 100;

/** Walks up from a row: at most 100 steps, stops at a repeated or a missing id. */
export function walkChain(head: SessionRow, get: (id: string) => SessionRow | null): Chain {
  const ancestors: SessionRow[] = [];
  const seen = new Set([head.id]);
  let next = head.parentId;
  while (next !== null) {
    if (seen.has(next)) return { head, ancestors, status: "cycle", brokenAt: next };
    if (ancestors.length >= MAX_STEPS) return { head, ancestors, status: "too_deep", brokenAt: next };
    const row = get(next);
    if (row === null) return { head, ancestors, status: "broken", brokenAt: next };
    seen.add(next);
    ancestors.push(row);
    next = row.parentId;
  }
  return { head, ancestors, status: "ok" };
}

function kindOf(chain: Chain): Provenance["sessionKind"] {
  const { head, ancestors } = chain;
  const parent = ancestors[0];
  if (head.parentId === null) return "root";
  if (!parent) return "unknown";
  if (parent.endReason === "compression" && head.config.branchedFrom !== parent.id) return "continuation";
  return head.config.branchedFrom === parent.id ? "fork" : "root";
}

/** `previousId`: the row the session was in before it moved in this turn. */
export function provenanceOf(acpSessionId: string, chain: Chain, previousId?: string): Provenance {
  const { head, ancestors, status, brokenAt } = chain;
  return {
    acpSessionId,
    currentHermesSessionId: head.id,
    rootHermesSessionId: ancestors.at(-1)?.id ?? head.id,
    parentHermesSessionId: head.parentId,
    sessionKind: kindOf(chain),
    compressionDepth: ancestors.filter((row) => row.endReason === "compression").length,
    ...(previousId === undefined
      ? {}
      : { previousHermesSessionId: previousId, reason: "compression", creatorKind: "compression" }),
    chainStatus: status,
    ...(status === "ok" || brokenAt === undefined ? {} : { brokenAt }),
  };
}

/** A session that was just made: nothing to look up. */
function freshProvenance(id: string): Provenance {
  return {
    acpSessionId: id,
    currentHermesSessionId: id,
    rootHermesSessionId: id,
    parentHermesSessionId: null,
    sessionKind: "root",
    compressionDepth: 0,
    chainStatus: "ok",
  };
}

export function sessionProvenance(hermes: Hermes, session: Session, previousId?: string): Provenance {
  const store = hermes.store();
  const head = store.getSession(session.headId);
  if (head === null) return freshProvenance(session.id);
  return provenanceOf(session.id, walkChain(head, (id) => store.getSession(id)), previousId);
}

export function wrapProvenance(provenance: Provenance): { hermes: { sessionProvenance: Provenance } } {
  return { hermes: { sessionProvenance: provenance } };
}

/** The `_meta` of answers and updates. */
export function provenanceMeta(hermes: Hermes, session: Session, moved: { previousId?: string } = {}) {
  return wrapProvenance(sessionProvenance(hermes, session, moved.previousId));
}

/** `_meta` of a new root session. */
export function freshMeta(id: string) {
  return wrapProvenance(freshProvenance(id));
}
