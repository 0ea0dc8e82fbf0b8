/** A home with 100,000 stored sessions (tui-gateway.md B.2): what hosts ask at every start costs what it costs in a small one. */
import { assert, assertEquals } from "../../support/assert.ts";
import type { GatewayHost, Json } from "../../support/gateway_driver.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { makeRig } from "../../support/program.ts";

const SMALL = 300;
const LARGE = 100_000;
/** Machines are busy: a list that looked at all of them would be hundreds of times slower. */
const FACTOR = 8;

/** Sessions `from` to `to`, in one transaction; the schema is the program's own. */
async function fill(home: string, from: number, to: number): Promise<void> {
  const { DatabaseSync } = await import("node:sqlite");
  const db = new DatabaseSync(`${home}/hermes.db`, { timeout: 10_000 });
  db.exec("PRAGMA synchronous=OFF; BEGIN");
  const add = db.prepare(
    `INSERT INTO sessions (id, source, root_id, started_at, last_activity_at, preview, cwd, message_count)
     VALUES (?, ?, ?, ?, ?, ?, '/w', 2)`,
  );
  for (let n = from; n < to; n++) {
    const source = ["tui", "acp", "api_server", "subagent", "tool"][n % 5]!;
    add.run(`s${n}`, source, `s${n}`, 1_700_000_000 + n, 1_700_000_000 + n, `question ${n}`);
  }
  db.exec("COMMIT");
  db.close();
}

const CALLS: readonly (readonly [string, Json])[] = [
  ["session.list", {}],
  ["session.list", { title: "of none" }],
  ["session.most_recent", {}],
];

/** The fastest of several tries, in milliseconds: what the work itself takes. */
async function fastest(host: GatewayHost): Promise<number[]> {
  const times: number[] = [];
  for (const [method, params] of CALLS) {
    let best = Infinity;
    for (let n = 0; n < 12; n++) {
      const start = performance.now();
      await host.request(method, params);
      best = Math.min(best, performance.now() - start);
    }
    times.push(best);
  }
  return times;
}

Deno.test("B.2: lists of a home with 100,000 sessions take no longer than those of a small one", async () => {
  await using rig = await makeRig();
  const open = () => startGateway({ rig, args: ["--demo"] });
  {
    await using host = await open();
    const { sid } = await host.session();
    await host.turn(sid, "hello");
  }
  await fill(rig.home, 0, SMALL);
  await using host = await open();
  const small = await fastest(host);
  await fill(rig.home, SMALL, LARGE);
  const large = await fastest(host);
  for (const [at, [method]] of CALLS.entries()) {
    // A floor of 1 ms: below it the pipes are measured.
    const most = FACTOR * Math.max(1, small[at]!);
    assert(large[at]! <= most, `${method}: ${small[at]} ms, then ${large[at]} ms`);
  }
  const { sessions } = await host.request("session.list");
  assertEquals(sessions.length, 200);
  assertEquals(sessions.slice(1, 4).map((row: Json) => row.id), ["s99997", "s99996", "s99995"]);
});
