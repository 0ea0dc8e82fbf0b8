/** The provenance of a session as `_meta.hermes.sessionProvenance` (acp.md C13, D4); what it says is the core's. */
import type { Hermes } from "@/app/mod.ts";
import { buildProvenance, type Session, type SessionProvenance } from "@/core/contract.ts";

export function sessionProvenance(hermes: Hermes, session: Session, previousId?: string): SessionProvenance {
  return buildProvenance(hermes.store(), {
    handle: session.id,
    headId: session.headId,
    ...(previousId === undefined ? {} : { previousHeadId: previousId }),
  });
}

/** The `_meta` of answers and updates. */
export function provenanceMeta(hermes: Hermes, session: Session, moved: { previousId?: string } = {}) {
  return { hermes: { sessionProvenance: sessionProvenance(hermes, session, moved.previousId) } };
}
