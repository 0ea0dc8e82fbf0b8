/** Proves src/protocols/acp/provenance.ts: acp.md C13, D4, rows 40, 42 and 43. */
import { assertEquals } from "../../support/assert.ts";
import type { SessionRow } from "../../../src/core/mod.ts";
import { NO_USAGE } from "../../../src/core/messages.ts";
import { provenanceOf, walkChain } from "../../../src/protocols/acp/provenance.ts";

function row(
  id: string,
  parentId: string | null,
  endReason?: string | null,
  branchedFrom?: string,
): SessionRow {
  return {
    id,
    source: "acp",
    parentId,
    startedAt: 0,
    endedAt: null,
    endReason: endReason ?? null,
    title: null,
    config: branchedFrom === undefined ? {} : { branchedFrom },
    systemPrompt: null,
    cwd: null,
    messageCount: 0,
    toolCallCount: 0,
    apiCallCount: 0,
    usage: NO_USAGE,
    lastActivityAt: 0,
    sessionKey: null,
  };
}

function provenance(head: string, rows: readonly SessionRow[], previousId?: string) {
  const byId = new Map(rows.map((one) => [one.id, one]));
  return provenanceOf("handle", walkChain(byId.get(head)!, (id) => byId.get(id) ?? null), previousId);
}

Deno.test("provenanceOf() of a root is the row itself", () => {
  assertEquals(provenance("a", [row("a", null)]), {
    acpSessionId: "handle",
    currentHermesSessionId: "a",
    rootHermesSessionId: "a",
    parentHermesSessionId: null,
    sessionKind: "root",
    compressionDepth: 0,
    chainStatus: "ok",
  });
});

Deno.test("acp 42: provenanceOf() of a continuation counts compressions and names what it was", () => {
  const rows = [row("a", null, "compression"), row("b", "a", "compression"), row("c", "b")];
  assertEquals(provenance("c", rows, "b"), {
    acpSessionId: "handle",
    currentHermesSessionId: "c",
    rootHermesSessionId: "a",
    parentHermesSessionId: "b",
    sessionKind: "continuation",
    compressionDepth: 2,
    previousHermesSessionId: "b",
    reason: "compression",
    creatorKind: "compression",
    chainStatus: "ok",
  });
});

Deno.test("acp 40: provenanceOf() of a fork says so, of a delegate says root", () => {
  assertEquals(provenance("b", [row("a", null), row("b", "a", null, "a")]).sessionKind, "fork");
  assertEquals(provenance("b", [row("a", null, "agent_close"), row("b", "a")]).sessionKind, "root");
});

Deno.test("acp 43: provenanceOf() tells a missing parent, a cycle and a chain that is too long", () => {
  const missing = provenance("b", [row("b", "gone")]);
  assertEquals(
    [missing.sessionKind, missing.chainStatus, missing.brokenAt, missing.rootHermesSessionId],
    ["unknown", "broken", "gone", "b"],
  );
  assertEquals(missing.parentHermesSessionId, "gone");
  const cycle = provenance("a", [row("a", "b", "compression"), row("b", "a", "compression")]);
  assertEquals([cycle.chainStatus, cycle.brokenAt], ["cycle", "a"]);
  const long = Array.from(
    { length: 150 },
    (_, i) => row(`r${i}`, i === 149 ? null : `r${i + 1}`, "compression"),
  );
  const deep = provenance("r0", long);
  assertEquals([deep.chainStatus, deep.brokenAt, deep.compressionDepth], ["too_deep", "r101", 100]);
});
