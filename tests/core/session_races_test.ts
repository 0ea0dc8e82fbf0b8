import { HermesError } from "@/core/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { makeScriptedCore, openSession } from "../support/scripted_core.ts";

const AT = { surface: "api_server", editPolicy: null };

function lockedError(): HermesError {
  return new HermesError("store_locked", "Cannot save: another program has locked the session database");
}

Deno.test("core D.4: who opens a session while its row is being written gets that very session", async () => {
  await using core = await makeScriptedCore();
  const cwd = core.services.home;
  // Writes that follow each other at once are committed together, later: their rows can be read before.
  const before = core.sessions.create({ ...AT, source: "cli", cwd, storeNow: true });
  const creating = core.sessions.create({
    ...AT,
    id: "mine",
    source: "cli",
    cwd,
    storeNow: "unless_locked",
  });
  await Promise.resolve();
  const opened = await core.sessions.open("mine", AT);
  const created = await creating;
  await before;
  assert(opened === created);
  assert(core.sessions.get("mine") === created);
});

Deno.test("core D.4: two who create one id at once while the database is locked do not both get it", async () => {
  await using core = await makeScriptedCore();
  const store = core.services.store();
  const createSession = store.createSession.bind(store);
  Object.assign(store, { createSession: () => Promise.resolve().then(() => Promise.reject(lockedError())) });
  const create = () =>
    core.sessions.create({
      ...AT,
      id: "mine",
      source: "cli",
      cwd: core.services.home,
      storeNow: "unless_locked",
    });
  const ends = await Promise.allSettled([create(), create()]);
  Object.assign(store, { createSession });
  assertEquals(
    ends.map((end) => end.status === "fulfilled" ? "created" : (end.reason as HermesError).code),
    ["created", "session_exists"],
  );
});

Deno.test("core D.4: an id whose session could not be stored is free again", async () => {
  await using core = await makeScriptedCore();
  const store = core.services.store();
  const createSession = store.createSession.bind(store);
  const options = { ...AT, id: "mine", source: "cli", cwd: core.services.home, storeNow: true } as const;
  Object.assign(store, { createSession: () => Promise.reject(lockedError()) });
  const failed = await core.sessions.create(options).catch((error) => error.code);
  Object.assign(store, { createSession });
  assertEquals([failed, core.sessions.get("mine")], ["store_locked", undefined]);
  assertEquals((await core.sessions.create(options)).stored, true);
});

Deno.test("core D.2: changes that are refused at the same time leave nothing of any of them", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  await session.store();
  const store = core.services.store();
  const fails: ((error: Error) => void)[] = [];
  let isOver = false;
  Object.assign(store, {
    updateSession: () => new Promise((_, reject) => isOver ? reject(lockedError()) : void fails.push(reject)),
  });
  const before = session.mode;
  const changes = [
    session.setMode("accept_edits"),
    session.setReasoningEffort("high"),
    session.setMode("dont_ask"),
  ];
  assertEquals([session.mode, session.reasoningEffort], ["dont_ask", "high"]);
  isOver = true;
  for (const fail of fails) fail(lockedError());
  const ends = await Promise.allSettled(changes);
  assertEquals(ends.map((end) => end.status), ["rejected", "rejected", "rejected"]);
  assertEquals([session.mode, session.reasoningEffort], [before, null]);
});

Deno.test("core D.2: what is refused comes not back with a change beside it that is kept", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  await session.store();
  const store = core.services.store();
  const updateSession = store.updateSession.bind(store);
  const gate = Promise.withResolvers<void>();
  let calls = 0;
  Object.assign(store, {
    updateSession: async (...args: Parameters<typeof updateSession>) => {
      const isFirst = ++calls === 1;
      await gate.promise;
      if (isFirst) throw lockedError();
      await updateSession(...args);
    },
  });
  const before = session.mode;
  const refused = session.setMode("accept_edits").catch((error) => error.code);
  const kept = session.setReasoningEffort("high");
  gate.resolve();
  assertEquals(await refused, "store_locked");
  await kept;
  assertEquals([session.mode, session.reasoningEffort], [before, "high"]);
  const { mode, reasoningEffort } = store.getSession(session.headId)!.config;
  assertEquals([mode ?? before, reasoningEffort], [before, "high"]);
});

Deno.test("core D.2: two moves that are refused at the same time leave the session where it was", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  await session.store();
  const fails: ((error: Error) => void)[] = [];
  let isOver = false;
  Object.assign(core.services.store(), {
    updateSession: () => new Promise((_, reject) => isOver ? reject(lockedError()) : void fails.push(reject)),
  });
  const before = [...session.roots];
  const moves = [session.setCwd("/a", ["/a2"]), session.setCwd("/b")];
  assertEquals(session.roots, ["/b", "/a2"]);
  isOver = true;
  for (const fail of fails) fail(lockedError());
  const ends = await Promise.allSettled(moves);
  assertEquals(ends.map((end) => end.status), ["rejected", "rejected"]);
  assertEquals([...session.roots], before);
});
