/**
 * `deno run -A scripts/bench_store.ts`: what a large home costs. 100,000 sessions, 1,000,000 messages and one session
 * of 5,000 messages are generated once and kept in the machine's temp folder. A table on stderr, JSON on stdout.
 * Times are told, never asserted. `--fresh` makes the store anew, `--runs n` takes other than 15 samples.
 */
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import type { SessionQuery, Store } from "@/core/contract.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { openStore } from "@/store/mod.ts";
import { median } from "./bench/child.ts";
import { type Row, table } from "./bench/table.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: { fresh: { type: "boolean" }, runs: { type: "string", default: "15" } },
});
const RUNS = Number(values.runs);
const SESSIONS = 100_000;
const MESSAGES_EACH = 10;
const LONG = 5_000;
/**
 * List and search are to stay below this. A phrase of frequent words that nobody wrote is above it: the index has to
 * compare the places of every message that holds all of the words, and no other order of work spares that.
 */
const BAR_MS = 50;
const ROOT = `${Deno.env.get("TMPDIR") ?? "/tmp"}/hermes-bench-store-1`;
const PATH = `${ROOT}/hermes.db`;
const LONG_ID = "00000000-0000-4000-8000-000000005000";
const WORDS =
  "deploy server error build test release token cache index query window signal thread socket parser lexer module import export handler request response stream buffer chunk worker queue retry timeout cancel session message turn tool patch file path folder search replace commit branch merge rebase config schema value field table column row"
    .split(" ");
const silent = { debug() {}, info() {}, warn() {}, error() {} };

function say(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`));
}

/** The same texts at every generation. */
function textOf(n: number): string {
  let state = (n + 1) * 2_654_435_761 >>> 0;
  const next = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) >>> 8;
  const words = Array.from({ length: 24 }, () => WORDS[next() % WORDS.length]!);
  // Words of every frequency: in one message, in a thousand, in all.
  words.push(`word${n}`, `group${n % 1_000}`, n % 100 === 0 ? "データベースの接続" : "everywhere");
  return words.join(" ");
}

function open(): Store {
  return openStore(PATH, { platform: createDenoPlatform(), log: silent });
}

/** Schema by the store itself, rows by SQLite: a million rows through the door would take most of an hour. */
async function generate(): Promise<void> {
  const known = await Deno.stat(`${ROOT}/done`).then(() => true, () => false);
  if (known && !values.fresh) return;
  say(`… generating ${SESSIONS * MESSAGES_EACH} messages in ${ROOT}`);
  await Deno.remove(ROOT, { recursive: true }).catch(() => {/* there is none */});
  await Deno.mkdir(ROOT, { recursive: true });
  open().close();
  const db = new DatabaseSync(PATH);
  db.exec("PRAGMA synchronous=OFF; BEGIN");
  const session = db.prepare(
    `INSERT INTO sessions (id, source, root_id, started_at, last_activity_at, preview, cwd, message_count)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const message = db.prepare(
    "INSERT INTO messages (session_id, role, timestamp, search_kind, content) VALUES (?, ?, ?, ?, ?)",
  );
  const addSession = (id: string, n: number, count: number) => {
    const at = 1_700_000_000 + n * 60;
    const source = ["acp", "tui", "api_server", "cli"][n % 4]!;
    session.run(id, source, id, at, at + 30, `question ${n}`, `/home/anna/project${n % 400}`, count);
    for (let i = 0; i < count; i++) {
      const text = textOf(n * MESSAGES_EACH + i);
      const kind = text.includes("データ") ? 2 : 1;
      message.run(id, i % 2 === 0 ? "user" : "assistant", at + i, kind, text);
    }
  };
  for (let n = 0; n < SESSIONS; n++) {
    addSession(`10000000-0000-4000-8000-${String(n).padStart(12, "0")}`, n, MESSAGES_EACH);
    if (n % 10_000 === 9_999) say(`  ${n + 1} sessions`);
  }
  addSession(LONG_ID, SESSIONS, LONG);
  db.exec("COMMIT; INSERT INTO messages_fts(messages_fts) VALUES('optimize'); ANALYZE");
  db.close();
  await Deno.writeTextFile(`${ROOT}/done`, "");
}

const rows: Row[] = [];

async function measure(name: string, bar: number | null, run: () => unknown): Promise<void> {
  await run();
  const times: number[] = [];
  for (let i = 0; i < RUNS; i++) {
    const start = performance.now();
    await run();
    times.push(performance.now() - start);
  }
  rows.push({ measure: name, value: median(times), unit: "ms", must: bar, aim: null, sense: "max" });
}

const LISTS: readonly (readonly [string, SessionQuery])[] = [
  ["first page", { limit: 50 }],
  ["page of 500", { limit: 500 }],
  ["page in the middle", { limit: 50, before: { lastActivityAt: 1_700_000_000 + 50_000 * 60, id: "" } }],
  ["one source", { limit: 50, sources: ["acp"] }],
  ["two sources", { limit: 50, sources: ["acp", "cli"] }],
  ["source that nobody has", { limit: 50, sources: ["cron"] }],
  ["one directory of 400", { limit: 50, cwd: (cwd) => cwd === "/home/anna/project7" }],
  ["40 directories of 400", { limit: 50, cwd: (cwd) => cwd?.endsWith("7") ?? false }],
  ["directory that nobody has", { limit: 50, cwd: (cwd) => cwd === "/nowhere" }],
];

const SEARCHES: readonly (readonly [string, string, (readonly string[])?])[] = [
  ["word of one message", "word123456"],
  ["word of 1,000 messages", "group77"],
  ["word of every message", "everywhere"],
  ["two frequent words", "deploy server"],
  ["frequent and rare", "everywhere word99999"],
  ["phrase", '"deploy server"'],
  ["phrase that nobody wrote", '"server server deploy server"'],
  ["prefix of few", "word12345*"],
  ["prefix of many", "deplo*"],
  ["OR", "word5 OR word6"],
  ["frequent without another", "everywhere NOT deploy"],
  ["long CJK word", "データベース"],
  ["short CJK word", "接続"],
  ["nothing", "thereisnosuchword"],
  ["frequent, one source", "everywhere", ["cli"]],
  ["frequent, source that nobody has", "everywhere", ["cron"]],
];

await generate();
const opened = performance.now();
const store = open();
try {
  store.listSessions({ limit: 1 });
  rows.push({
    measure: "open the store",
    value: performance.now() - opened,
    unit: "ms",
    must: BAR_MS,
    aim: null,
    sense: "max",
  });
  for (const [name, query] of LISTS) await measure(`list: ${name}`, BAR_MS, () => store.listSessions(query));
  for (const [name, text, sources] of SEARCHES) {
    await measure(`search: ${name}`, BAR_MS, () => store.search(text, sources ? { sources } : {}));
  }
  await measure(`load ${LONG} messages`, null, () => store.loadMessages(LONG_ID));
  await measure("load 10 messages", null, () => store.loadMessages("10000000-0000-4000-8000-000000050000"));
  await measure(
    "append two messages",
    null,
    () =>
      store.appendMessages("10000000-0000-4000-8000-000000000001", [
        { role: "user", content: "again" },
        { role: "assistant", content: "yes" },
      ]),
  );
} finally {
  store.close();
}
say(table(rows));
const report = JSON.stringify({ deno: Deno.version.deno, sessions: SESSIONS, rows }, null, 2);
Deno.stdout.writeSync(new TextEncoder().encode(`${report}\n`));
