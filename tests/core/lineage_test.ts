import { assertEquals } from "../support/assert.ts";
import { buildProvenance } from "../../src/core/lineage.ts";
import type { SessionRow, SessionStore } from "../../src/core/mod.ts";

type Ancestors = ReturnType<SessionStore["ancestors"]>;

function row(id: string, extra: Partial<SessionRow> = {}): SessionRow {
  return {
    id,
    source: "acp",
    parentId: null,
    startedAt: 1,
    endedAt: null,
    endReason: null,
    title: null,
    config: {},
    systemPrompt: null,
    cwd: null,
    git: { branch: null, root: null },
    messageCount: 0,
    toolCallCount: 0,
    apiCallCount: 0,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
    cost: null,
    billing: { provider: null, baseUrl: null, mode: null },
    lastActivityAt: 1,
    sessionKey: null,
    ...extra,
  };
}

/** A store that knows one head and what its walk found. */
function storeWith(head: SessionRow | null, ancestors: Ancestors = { rows: [], status: "ok" }) {
  return { getSession: () => head, ancestors: () => ancestors };
}

const compressed = { endReason: "compression" };

Deno.test("acp C13: a new session is its own root", () => {
  const expected = {
    acpSessionId: "h",
    currentHermesSessionId: "h",
    rootHermesSessionId: "h",
    parentHermesSessionId: null,
    sessionKind: "root",
    compressionDepth: 0,
    chainStatus: "ok",
  };
  assertEquals(buildProvenance(storeWith(row("h")), { handle: "h", headId: "h" }) as unknown, expected);
  assertEquals(buildProvenance(storeWith(null), { handle: "h", headId: "h" }) as unknown, expected);
});

Deno.test("acp C13: a compressed session is a continuation; the move is told only when it happened", () => {
  const store = storeWith(row("c2", { parentId: "c1" }), {
    rows: [row("c1", { parentId: "h", ...compressed }), row("h", compressed)],
    status: "ok",
  });
  const still = buildProvenance(store, { handle: "h", headId: "c2" });
  assertEquals(still as unknown, {
    acpSessionId: "h",
    currentHermesSessionId: "c2",
    rootHermesSessionId: "h",
    parentHermesSessionId: "c1",
    sessionKind: "continuation",
    compressionDepth: 2,
    chainStatus: "ok",
  });
  assertEquals(buildProvenance(store, { handle: "h", headId: "c2", previousHeadId: "c2" }), still);
  assertEquals(buildProvenance(store, { handle: "h", headId: "c2", previousHeadId: "c1" }), {
    ...still,
    previousHermesSessionId: "c1",
    reason: "compression",
    creatorKind: "compression",
  });
});

Deno.test("acp C13: a fork is a fork, also when its source was compressed; a delegate is a root", () => {
  const source: Ancestors = { rows: [row("s", compressed)], status: "ok" };
  const kind = (config: SessionRow["config"], ancestors = source) => {
    const head = row("f", { parentId: ancestors.rows[0]!.id, config });
    return buildProvenance(storeWith(head, ancestors), { handle: "f", headId: "f" });
  };
  assertEquals(kind({ branchedFrom: "s" }).sessionKind, "fork");
  assertEquals(kind({ delegateFrom: "s" }).sessionKind, "root");
  assertEquals(kind({}, { rows: [row("s")], status: "ok" }).sessionKind, "root");
  assertEquals(kind({}, { rows: [row("s")], status: "ok" }).rootHermesSessionId, "s");
  // The marker of a fork travels with its settings; after a compression it names somebody else.
  assertEquals(kind({ branchedFrom: "elsewhere" }).sessionKind, "continuation");
});

Deno.test("acp D4: an unreadable parent is unknown, never root", () => {
  const store = storeWith(row("c", { parentId: "gone" }), { rows: [], status: "broken", brokenAt: "gone" });
  assertEquals(buildProvenance(store, { handle: "h", headId: "c" }) as unknown, {
    acpSessionId: "h",
    currentHermesSessionId: "c",
    rootHermesSessionId: "c",
    parentHermesSessionId: "gone",
    sessionKind: "unknown",
    compressionDepth: 0,
    chainStatus: "broken",
    brokenAt: "gone",
  });
});

Deno.test("acp D4: a break further up keeps what is known; a loop and an endless chain are named", () => {
  const up: Ancestors = {
    rows: [row("p", { parentId: "gone", ...compressed })],
    status: "broken",
    brokenAt: "gone",
  };
  const far = buildProvenance(storeWith(row("c", { parentId: "p" }), up), { handle: "h", headId: "c" });
  assertEquals([far.sessionKind, far.rootHermesSessionId, far.chainStatus, far.brokenAt], [
    "continuation",
    "p",
    "broken",
    "gone",
  ]);
  const loop: Ancestors = { rows: [], status: "cycle", brokenAt: "c" };
  const self = buildProvenance(storeWith(row("c", { parentId: "c" }), loop), { handle: "h", headId: "c" });
  assertEquals([self.sessionKind, self.chainStatus, self.brokenAt], ["unknown", "cycle", "c"]);
  const rows = Array.from({ length: 100 }, (_, n) => row(`p${n}`, { parentId: `p${n + 1}`, ...compressed }));
  const deep: Ancestors = { rows, status: "too_deep", brokenAt: "p100" };
  const long = buildProvenance(storeWith(row("c", { parentId: "p0" }), deep), { handle: "h", headId: "c" });
  assertEquals([long.compressionDepth, long.rootHermesSessionId, long.chainStatus], [100, "p99", "too_deep"]);
});

Deno.test("acp D4: a row that the handle moved on to and that is gone is unknown", () => {
  const found = buildProvenance(storeWith(null), { handle: "h", headId: "moved" });
  assertEquals([found.sessionKind, found.chainStatus, found.brokenAt], ["unknown", "broken", "moved"]);
});
