/** A turn on a conversation that other programs use, too (core.md D.4 `session_turn_leases`). */
import { HermesError } from "@/core/mod.ts";
import type { Message, SessionStore, TurnStep } from "@/core/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";
import {
  callTool,
  makeScriptedCore,
  openSession,
  prompt,
  say,
  type ScriptedCore,
} from "../support/scripted_core.ts";

const contents = (messages: readonly Message[]) => messages.map(({ content }) => content);

/** Every write of a turn's rows as it is asked for; `refuse` makes the store find another program there. */
function watched(core: ScriptedCore, refuse: (step: TurnStep | undefined) => boolean = () => false) {
  const store = core.services.store();
  const append = store.appendMessages.bind(store);
  const [load, fetch] = [store.loadMessages.bind(store), store.fetchMessages.bind(store)];
  const seen = { steps: [] as (TurnStep | undefined)[], loads: 0 };
  Object.assign(store, {
    appendMessages: (...args: Parameters<SessionStore["appendMessages"]>) => {
      if (refuse(args[3])) {
        return Promise.reject(new HermesError("session_busy", "session busy: somebody else"));
      }
      seen.steps.push(args[3]);
      return append(...args);
    },
    loadMessages: (id: string) => {
      seen.loads++;
      return load(id);
    },
    fetchMessages: (id: string) => {
      seen.loads++;
      return fetch(id);
    },
  });
  return seen;
}

Deno.test("core D.4: a turn begins with its first write and ends with its last, with none beside them", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  const seen = watched(core);
  core.push(callTool("reader", { limit: 1 }), say("done"), say("two"));
  await prompt(session, "one");
  assertEquals(seen.steps, ["begin", "go_on", "go_on", "end"]);
  await prompt(session, "two");
  assertEquals(seen.steps.slice(4), ["begin", "end"]);
});

Deno.test("core D.4: what happens here alone is never read again", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(say("1"), callTool("reader", { limit: 1 }), say("2"), say("3"), say("4"));
  await prompt(session, "a");
  const seen = watched(core);
  await prompt(session, "b");
  await session.setTitle("t");
  await session.setCwd("/tmp");
  await prompt(session, "c");
  const last = session.history().findLast(({ role }) => role === "user")!;
  await session.dropFrom(last.rowId!);
  const { loads } = seen;
  await prompt(session, "d");
  assertEquals([seen.loads, loads], [1, 1]); // of the rewind itself
  assertEquals(contents(session.history()).filter((text) => text === "c"), []);
});

Deno.test("core D.4: what another program has added, taken away or compressed is known to the next turn", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(say("1"), say("2"), say("3"), say("4"));
  await prompt(session, "a");
  const store = core.services.store();
  const outside: Message[] = [{ role: "user", content: "from elsewhere" }, {
    role: "assistant",
    content: "yes",
  }];
  await store.appendMessages(session.headId, outside);
  await prompt(session, "b");
  const asked = () => contents(core.requests.at(-1)!.messages);
  assertEquals(asked(), ["a", "1", "from elsewhere", "yes", "b"]);
  const rowId = store.loadMessages(session.headId)[2]!.rowId!;
  await store.deactivateFrom(session.headId, rowId);
  await prompt(session, "c");
  assertEquals(asked(), ["a", "1", "c"]);
  const { headId } = session;
  await store.rotate(headId, { id: "tip", source: session.source, cwd: null, config: {} }, [
    { role: "user", content: "what was before" },
  ]);
  await prompt(session, "d");
  assertEquals([asked(), session.headId], [["what was before\nd"], "tip"]);
  assertEquals(contents(store.loadMessages("tip")), ["what was before", "d", "4"]);
});

Deno.test("core D.4: a turn that another program keeps out ends as failed, asks no model and keeps its news", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(say("1"));
  await prompt(session, "a");
  let isBusy = true;
  watched(core, (step) => isBusy && step === "begin");
  const events: string[] = [];
  session.subscribe((event) => void events.push(event.type));
  session.scope.tell!({ kind: "process_complete", text: "it is over" });
  const result = await prompt(session, "b");
  assertEquals([result.outcome, result.exitReason, result.userRowId], ["failed", "session_busy", null]);
  assertEquals(result.failure!.message, "session busy: somebody else");
  assertEquals(events.filter((type) => type.startsWith("turn.")), ["turn.start", "turn.end"]);
  assertEquals(contents(session.history()), ["a", "1"]);
  assertEquals(contents(core.services.store().loadMessages(session.headId)), ["a", "1"]);
  assertEquals(core.requests.length, 1);
  isBusy = false;
  core.push(say("2"));
  await prompt(session, "c");
  assertEquals(contents(session.history()), ["a", "1", "it is over", "c", "2"]);
});

Deno.test("core D.4: a turn that loses its conversation stops before the row that would come between", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  const seen = watched(core, (step) => step === "go_on");
  core.push(callTool("reader", { limit: 1 }), say("never"));
  const result = await prompt(session, "a");
  assertEquals([result.outcome, result.exitReason], ["failed", "session_busy"]);
  assertEquals([seen.steps, core.ran], [["begin"], []]);
  assertEquals(contents(session.history()), ["a"]);
  assert(!session.running);
});
