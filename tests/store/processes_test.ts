/** Several programs on one database file (core.md D.2, FC-12, FC-24). */
import { assert, assertEquals, assertMatch, assertWithin } from "../support/assert.ts";
import { eventually } from "../support/program.ts";
import { DatabaseSync } from "node:sqlite";
import { makeStore, sessionRow, texts, user } from "./rig.ts";

const WRITER = new URL("../support/store_writer.ts", import.meta.url).pathname;

function startWriter(path: string, sessionId: string, label: string, count: number): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", WRITER, path, sessionId, label, String(count)],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

Deno.test("core 47: four processes append to one database, no row is lost", async () => {
  await using rig = await makeStore({ file: true });
  await rig.store.createSession(sessionRow("shared"));
  const outputs = await Promise.all(
    ["a", "b", "c", "d"].map((label) => startWriter(rig.path, "shared", label, 50).output()),
  );
  assertEquals(
    outputs.map((output) => output.code),
    [0, 0, 0, 0],
    new TextDecoder().decode(outputs[0]!.stderr),
  );
  const stored = texts(rig.store.loadMessages("shared"));
  assertEquals(stored.length, 200);
  for (const label of ["a", "b", "c", "d"]) {
    const own = stored.filter((text) => text.startsWith(label));
    assertEquals(own, Array.from({ length: 50 }, (_, n) => `${label} ${n}`));
  }
  assertEquals(rig.store.getSession("shared")!.messageCount, 200);
  assertEquals(rig.store.check(), "ok");
});

Deno.test("core 47: processes that open a database for the first time at once share one", async () => {
  await using rig = await makeStore({ file: true });
  rig.store.close();
  Deno.removeSync(rig.path);
  const outputs = await Promise.all(
    ["a", "b", "c"].map((label) => startWriter(rig.path, label, label, 5).output()),
  );
  assertEquals(outputs.map((output) => output.code), [0, 0, 0]);
  const store = rig.open();
  assertEquals(["a", "b", "c"].map((id) => store.loadMessages(id).length), [5, 5, 5]);
  assertEquals([...Deno.readDirSync(`${rig.directory}/home`)].filter((e) => e.name.includes(".new-")), []);
});

Deno.test("FC-12: a writer killed in mid-write leaves every finished row and a sound file", async () => {
  await using rig = await makeStore({ file: true });
  const child = startWriter(rig.path, "victim", "row", 0);
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let printed = "";
  while (printed.split("\n").length < 30) printed += (await reader.read()).value ?? "";
  child.kill("SIGKILL");
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) printed += chunk.value;
  await child.status;
  await child.stderr.cancel();
  const reported = printed.split("\n").slice(0, -1).length;
  const stored = texts(rig.store.loadMessages("victim"));
  assert(stored.length >= reported, `${stored.length} rows stored, ${reported} reported`);
  assertEquals(stored, Array.from({ length: stored.length }, (_, n) => `row ${n}`));
  assertEquals(rig.store.check(), "ok");
  await rig.store.appendMessages("victim", [user("after")]);
  assertEquals(rig.store.search("after").length, 1);
});

Deno.test("FC-24: an outside writer holds the lock for 3 s; nothing fails and the loop keeps ticking", async () => {
  await using rig = await makeStore({ file: true });
  const { store } = rig;
  await store.createSession(sessionRow("s1"));
  const outside = new DatabaseSync(rig.path);
  outside.exec("BEGIN IMMEDIATE");
  let last = performance.now();
  let longest = 0;
  const ticker = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  const release = setTimeout(() => outside.exec("COMMIT"), 3_000);
  const order: string[] = [];
  const started = performance.now();
  await Promise.all([
    store.appendMessages("s1", [user("first")]).then(() => order.push("first")),
    store.setTitle("s1", "while locked").then(() => order.push("title")),
    store.appendMessages("s1", [user("second")]).then(() => order.push("second")),
  ]);
  const waited = performance.now() - started;
  clearInterval(ticker);
  clearTimeout(release);
  outside.close();
  assert(waited >= 2_900, `waited ${waited} ms`);
  assertWithin(waited, 5_000);
  // A driver that waits for the lock itself stands still for as long as it is held.
  assert(longest < waited / 3, `the loop stood still for ${longest} of ${waited} ms`);
  assertEquals(order, ["first", "title", "second"]);
  assertEquals(texts(store.loadMessages("s1")), ["first", "second"]);
  assertEquals(store.getSession("s1")!.title, "while locked");
  assertMatch(rig.warnings.join(), /Saving is delayed/);
  assertEquals(rig.warnings.length, 1);
});

Deno.test("FC-24: reads go on while another program writes", async () => {
  await using rig = await makeStore({ file: true });
  await rig.store.createSession(sessionRow("s1"));
  await rig.store.appendMessages("s1", [user("x")]);
  const outside = new DatabaseSync(rig.path);
  outside.exec("BEGIN IMMEDIATE; UPDATE sessions SET title = 'later'");
  assertEquals(texts(rig.store.loadMessages("s1")), ["x"]);
  assertEquals(rig.store.getSession("s1")!.title, null);
  outside.exec("COMMIT");
  outside.close();
  assertEquals(rig.store.getSession("s1")!.title, "later");
});

Deno.test("updateSession() gives up a mere activity stamp after half a second, without an error", async () => {
  await using rig = await makeStore({ file: true });
  await rig.store.createSession(sessionRow("s1"));
  const outside = new DatabaseSync(rig.path);
  outside.exec("BEGIN IMMEDIATE");
  const started = performance.now();
  await rig.store.updateSession("s1", { lastActivityAt: 9e9 });
  const waited = performance.now() - started;
  outside.exec("ROLLBACK");
  outside.close();
  assert(waited >= 450, `waited ${waited} ms`);
  assertWithin(waited, 1_500);
  assert(rig.store.getSession("s1")!.lastActivityAt < 9e9);
});

Deno.test("close() while the lock is held fails what waits, and nothing is written later", async () => {
  await using rig = await makeStore({ file: true });
  await rig.store.createSession(sessionRow("s1"));
  const outside = new DatabaseSync(rig.path);
  outside.exec("BEGIN IMMEDIATE");
  let code = "";
  const waiting = rig.store.appendMessages("s1", [user("x")]).catch((error) => code = error.code);
  rig.store.close();
  await waiting;
  outside.exec("COMMIT");
  outside.close();
  assertEquals(code, "store_locked");
  assertEquals(rig.open().loadMessages("s1"), []);
});

Deno.test("close() writes what waits when the lock is free by then", async () => {
  await using rig = await makeStore({ file: true });
  await rig.store.createSession(sessionRow("s1"));
  const outside = new DatabaseSync(rig.path);
  outside.exec("BEGIN IMMEDIATE");
  const waiting = rig.store.appendMessages("s1", [user("x")]);
  outside.exec("COMMIT");
  outside.close();
  rig.store.close();
  assertEquals((await waiting).length, 1);
  assertEquals(texts(rig.open().loadMessages("s1")), ["x"]);
});

Deno.test("the write-ahead log is folded back after fifty writes", async () => {
  await using rig = await makeStore({ file: true });
  await rig.store.createSession(sessionRow("s1"));
  const size = Deno.statSync(rig.path).size;
  for (let n = 0; n < 60; n++) await rig.store.appendMessages("s1", [user(`${n} ${"word ".repeat(200)}`)]);
  assertEquals(Deno.statSync(rig.path).size, size);
  await eventually(() => Deno.statSync(rig.path).size > size, 3_000, "a checkpoint");
});
