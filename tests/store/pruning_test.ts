/** Old conversations go, whole and without disturbing anybody (core.md D.10). */
import { DatabaseSync } from "node:sqlite";
import type { Message, NewSessionRow, PruneWish } from "../../src/core/contract.ts";
import { HomeCare } from "../../src/core/home_care.ts";
import { createConfig } from "../../src/config/mod.ts";
import { createDenoPlatform } from "../../src/platform/deno.ts";
import { hashText } from "../../src/store/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { patient } from "../support/patience.ts";
import { agent, makeStore, sessionRow, type StoreRig, user } from "./rig.ts";

const NOW = Date.now() / 1000;
const DAY = 86_400;
const LONG_AGO = NOW - 100 * DAY;

interface Old {
  readonly at?: number;
  readonly ended?: number | null;
  readonly messages?: readonly Message[];
  readonly more?: Partial<NewSessionRow>;
}

async function put(rig: StoreRig, id: string, { at = LONG_AGO, ended = at, messages, more }: Old = {}) {
  await rig.store.importSession({
    row: { ...sessionRow(id), startedAt: at, ...more },
    messages: messages ?? [user("hello"), agent("there")],
    lastActivityAt: at,
    endedAt: ended,
    endReason: ended === null ? null : "closed",
  });
}

async function prune(rig: StoreRig, wish: Partial<PruneWish> = {}) {
  const removed: string[] = [];
  const pruning = await rig.store.pruning();
  const result = await pruning.prune({
    before: NOW - 90 * DAY,
    snapshots: `${rig.directory}/snapshots`,
    rewriteUpTo: Infinity,
    limit: 100,
    onRemoved: ({ id }) => void removed.push(id),
    ...wish,
  });
  return { ...result, ids: removed };
}

const isStored = (rig: StoreRig, ...ids: string[]) => ids.map((id) => rig.store.getSession(id) !== null);

Deno.test("core D.10: ended sessions older than the retention go, oldest first, and nothing else", async () => {
  await using rig = await makeStore();
  await put(rig, "young", { at: NOW - 89 * DAY });
  await put(rig, "old");
  await put(rig, "older", { at: NOW - 300 * DAY });
  await put(rig, "open", { ended: null });
  await put(rig, "ended-late", { ended: NOW - DAY });
  await put(rig, "empty-elsewhere", { messages: [], at: NOW - 10 * DAY });
  const pruning = await rig.store.pruning();
  assertEquals((await pruning.find(NOW - 90 * DAY, 10)).map(({ id }) => id), ["older", "old"]);
  const { ids, removed, kept, isMore } = await prune(rig);
  assertEquals([ids, removed, kept, isMore], [["older", "old"], 2, 0, false]);
  assertEquals(isStored(rig, "young", "open", "ended-late", "empty-elsewhere"), [true, true, true, true]);
  assertEquals(rig.store.search("hello").map((hit) => hit.sessionId).sort(), ["ended-late", "open", "young"]);
});

Deno.test("core D.3, D.10: what is pinned stays, an empty one too", async () => {
  await using rig = await makeStore();
  for (const id of ["pinned", "loose"]) await put(rig, id);
  for (const id of ["pinned-empty", "loose-empty"]) {
    await put(rig, id, { messages: [], more: { source: "tui" } });
  }
  for (const id of ["pinned", "pinned-empty"]) await rig.store.setPinned(id, true);
  assertEquals((await prune(rig)).ids.sort(), ["loose", "loose-empty"]);
  assertEquals(isStored(rig, "pinned", "pinned-empty"), [true, true]);
});

Deno.test("core D.10: delegates go with their parent, branches stay without one, a young delegate keeps both", async () => {
  await using rig = await makeStore();
  const child = (parentId: string) => ({ source: "subagent", parentId, config: { delegateFrom: parentId } });
  await put(rig, "p");
  await put(rig, "p-child", { more: child("p") });
  await put(rig, "p-branch", { at: NOW - DAY, more: { parentId: "p", config: { branchedFrom: "p" } } });
  await put(rig, "q");
  await put(rig, "q-child", { at: NOW - DAY, ended: null, more: child("q") });
  await put(rig, "r", { ended: null });
  await put(rig, "r-child", { more: child("r") });
  const { ids, kept } = await prune(rig);
  assertEquals([ids, kept], [["p"], 1]);
  assertEquals(isStored(rig, "p", "p-child", "p-branch"), [false, false, true]);
  assertEquals(rig.store.getSession("p-branch")?.parentId, null);
  assertEquals(isStored(rig, "q", "q-child", "r", "r-child"), [true, true, true, true]);
});

Deno.test("core D.10: whoever is in use stays: open here, reopened meanwhile, or with a turn in another program", async () => {
  await using rig = await makeStore({ file: true });
  for (const id of ["live", "leased", "reopened", "gone"]) await put(rig, id);
  const other = new DatabaseSync(rig.path);
  other.prepare("INSERT INTO turn_holders VALUES ('o', 'far-away', 1, '1', ?)").run(NOW + 50);
  other.prepare("UPDATE sessions SET turn_holder = 'o' WHERE id = 'leased'").run();
  const reopening = rig.open();
  const { ids, kept, freed } = await prune(rig, {
    isLive: (id) => id === "live",
    // Another program opens it between the look and the removal.
    shouldStop: () => {
      void reopening.reopenSession("reopened");
      return false;
    },
  });
  assertEquals([ids, kept, freed], [["gone"], 3, 0]);
  assertEquals(isStored(rig, "live", "leased", "reopened", "gone"), [true, true, true, false]);
  other.prepare("UPDATE turn_holders SET expires_at = ?").run(NOW - 1);
  other.close();
  assertEquals((await prune(rig)).ids, ["leased", "live"]);
});

Deno.test("core D.10: a long conversation goes in small transactions; one that was cut off is finished next time", async () => {
  await using rig = await makeStore({ file: true });
  const many = Array.from({ length: 700 }, (_, n) => n % 2 ? agent(`word${n}`) : user(`word${n}`));
  await put(rig, "long", { messages: many });
  await put(rig, "half", { messages: many, at: NOW - DAY });
  const db = new DatabaseSync(rig.path);
  db.exec("UPDATE sessions SET end_reason = 'pruned', listed = 0 WHERE id = 'half'");
  db.exec("INSERT INTO state_meta (key, value) VALUES ('sessions_half_pruned', '1')");
  const count = () => (db.prepare("SELECT count(*) AS n FROM messages").get() as { n: number }).n;
  const seen = new Set<number>();
  const watch = setInterval(() => seen.add(count()), 1);
  try {
    const { removed } = await prune(rig);
    assertEquals([removed, count(), isStored(rig, "long", "half")], [1, 0, [false, false]]);
  } finally {
    clearInterval(watch);
    db.close();
  }
  assert([1150, 900, 450, 200].some((n) => seen.has(n)), `others saw ${[...seen]}`);
});

Deno.test("core D.10: a session that is opened while it goes stays with what it still has", async () => {
  await using rig = await makeStore({ file: true });
  const many = Array.from({ length: 700 }, (_, n) => user(`word${n}`));
  await put(rig, "long", { messages: many });
  const db = new DatabaseSync(rig.path);
  const state = () => db.prepare("SELECT end_reason, listed FROM sessions WHERE id = 'long'").get();
  const watch = setInterval(() => {
    if (state()?.["end_reason"] === "pruned") void rig.store.reopenSession("long");
  }, 1);
  try {
    await prune(rig);
    assertEquals({ ...state() }, { end_reason: null, listed: 1 });
    assert(rig.store.loadMessages("long").length > 0);
  } finally {
    clearInterval(watch);
    db.close();
  }
});

Deno.test("core D.10: empty ended gateway sessions go after 24 h, with `auto_prune` or without", async () => {
  await using rig = await makeStore();
  const empty = (at: number, more: Partial<NewSessionRow> = {}, ended: number | null = at) => ({
    at,
    ended,
    messages: [],
    more: { source: "tui", ...more },
  });
  await put(rig, "old", empty(NOW - DAY - 60));
  await put(rig, "young", empty(NOW - DAY + 60));
  await put(rig, "open", empty(NOW - 9 * DAY, {}, null));
  await put(rig, "editor", empty(NOW - 9 * DAY, { source: "acp" }));
  await put(rig, "host", empty(NOW - 9 * DAY, { source: "my-host" }));
  await put(rig, "said", { at: NOW - 9 * DAY, more: { source: "tui" } });
  await put(rig, "parent", empty(NOW - 9 * DAY));
  await put(rig, "child", { at: NOW - 9 * DAY, more: { parentId: "parent", source: "tui" } });
  assertEquals((await prune(rig, { before: null })).ids.sort(), ["host", "old"]);
});

Deno.test("core D.10: VACUUM when something was deleted and at least a quarter of the file is free", async () => {
  await using rig = await makeStore({ file: true });
  const big = [user("x".repeat(400_000))];
  for (const id of ["a", "b", "c"]) await put(rig, id, { messages: big });
  for (const id of ["d", "e", "f"]) await put(rig, id, { messages: big, ended: null });
  const pages = () => {
    const db = new DatabaseSync(rig.path);
    const one = (name: string) => Object.values(db.prepare(`PRAGMA ${name}`).get()!)[0] as number;
    const found = [one("page_count"), one("freelist_count")];
    db.close();
    return found as [number, number];
  };
  assertEquals((await prune(rig, { limit: 1 })).freed, 0, "one in six is free");
  assert(pages()[1] > 0);
  assertEquals(
    (await prune(rig, { limit: 2, rewriteUpTo: 1 << 20 })).freed,
    0,
    "too large to stand still for",
  );
  assertEquals((await prune(rig)).freed, 0, "nothing was deleted");
  const before = pages()[0];
  await put(rig, "g", { messages: big });
  assert((await prune(rig)).freed > 1_100_000);
  assert(pages()[0] < before && pages()[1] === 0);
  assertEquals(rig.store.check(), "ok");
});

Deno.test("core D.10: contents for restores follow once no change names them, young ones wait", async () => {
  await using rig = await makeStore({ file: true });
  await put(rig, "old");
  await put(rig, "open", { ended: null });
  const folder = `${rig.directory}/snapshots`;
  const keep = async (text: string, age: number) => {
    const hash = await hashText(text);
    await Deno.mkdir(`${folder}/${hash.slice(0, 2)}`, { recursive: true });
    await Deno.writeTextFile(`${folder}/${hash.slice(0, 2)}/${hash}`, text);
    await Deno.utime(`${folder}/${hash.slice(0, 2)}/${hash}`, NOW - age, NOW - age);
    return hash;
  };
  const [of, both, openOnly, young] = await Promise.all([
    keep("old", 3 * DAY),
    keep("both", 3 * DAY),
    keep("open", 3 * DAY),
    keep("young", DAY),
  ]);
  const change = (sessionId: string, before: string) => (
    { at: LONG_AGO, sessionId, turnId: "t", path: "/f", before, after: null }
  );
  await rig.store.snapshots.record([
    change("old", of),
    change("old", both),
    change("open", both),
    change("open", openOnly),
  ]);
  const isKept = (hash: string) =>
    Deno.stat(`${folder}/${hash.slice(0, 2)}/${hash}`).then(() => true, () => false);
  const all = () => Promise.all([of, both, openOnly, young].map(isKept));
  await prune(rig, { before: null });
  assertEquals(await all(), [true, true, true, true]);
  await prune(rig);
  assertEquals(await all(), [false, true, true, true]);
});

Deno.test("core D.10: once in min_interval_hours by the stamp in state_meta, over all programs; off by default", async () => {
  await using rig = await makeStore();
  const real = createDenoPlatform();
  let now = NOW * 1000;
  const platform = {
    ...real,
    clock: { ...real.clock, now: () => now },
    tempDir: () => `${rig.directory}/tmp`,
  };
  const config = createConfig({ platform }).settings();
  const care = async (auto_prune: boolean) => {
    const sessions = { auto_prune, retention_days: 90, min_interval_hours: 24 };
    const settings = () => ({ ...config, sessions });
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const services = { platform, log, home: rig.directory, settings, store: () => rig.store };
    const home = new HomeCare(services, () => false);
    home.turnEnded();
    // Longer than the work takes; `settled` would end it early.
    while (rig.store.getMeta("sessions_pruned_at") !== String(now / 1000)) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await home.settled();
  };
  await put(rig, "old");
  await care(false);
  assertEquals(isStored(rig, "old"), [true]);
  now += 24 * 3_600_000;
  await care(true);
  assertEquals(isStored(rig, "old"), [false]);
  await put(rig, "next");
  now += 24 * 3_600_000 - 1;
  const home = new HomeCare({
    platform,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    home: rig.directory,
    settings: () => ({
      ...config,
      sessions: { auto_prune: true, retention_days: 90, min_interval_hours: 24 },
    }),
    store: () => rig.store,
  }, () => false);
  home.turnEnded();
  await home.settled();
  assertEquals(isStored(rig, "next"), [true]);
  now += 1;
  await care(true);
  assertEquals(isStored(rig, "next"), [false]);
});

Deno.test("core D.10: among thousands of sessions the thread is never held for long", async () => {
  await using rig = await makeStore({ file: true });
  const db = new DatabaseSync(rig.path);
  const insert = db.prepare(
    `INSERT INTO sessions (id, root_id, source, started_at, last_activity_at, ended_at, end_reason)
     VALUES (?1, ?1, 'acp', ?2, ?2, ?3, ?4)`,
  );
  db.exec("BEGIN");
  for (let n = 0; n < 20_000; n++) {
    insert.run(`s${n}`, LONG_AGO + n, n % 1_000 ? null : LONG_AGO, n % 1_000 ? null : "x");
  }
  db.exec("COMMIT");
  db.close();
  let longest = 0;
  let last = performance.now();
  const watch = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  try {
    const { removed, kept } = await prune(rig);
    assertEquals([removed, kept], [20, 0]);
  } finally {
    clearInterval(watch);
  }
  assert(longest < patient(50), `${longest} ms`);
});
