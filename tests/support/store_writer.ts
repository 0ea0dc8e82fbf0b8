/**
 * A writer process for tests of the store: appends `count` messages to a session, one write each, and prints a
 * line per stored row. Arguments: path, session id, label, count (0 = until it is killed).
 */
import { createDenoPlatform } from "../../src/platform/deno.ts";
import { openStore } from "../../src/store/mod.ts";

const [path, sessionId, label, count] = Deno.args;
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const store = openStore(path!, { platform: createDenoPlatform(), log: silent });
if (store.getSession(sessionId!) === null) {
  await store.createSession({ id: sessionId!, source: "cli", cwd: null, config: {} });
}
const encoder = new TextEncoder();
const limit = Number(count) || Number.POSITIVE_INFINITY;
for (let n = 0; n < limit; n++) {
  const [rowId] = await store.appendMessages(sessionId!, [{ role: "user", content: `${label} ${n}` }]);
  await Deno.stdout.write(encoder.encode(`${rowId}\n`));
}
store.close();
