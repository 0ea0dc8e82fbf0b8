/** A conversation that another program deletes (core.md D.4): before a turn it refuses it, during one it is told. */
import { HermesError, type Message, type SessionStore, type TurnStep } from "@/core/mod.ts";
import { Transcript } from "@/core/transcript.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";

const DELETED = "Another program has deleted this conversation";

function user(content: string): Message {
  return { role: "user", content };
}

function scene(isStored = true) {
  const steps: (TurnStep | undefined)[] = [];
  const store = { isGone: false };
  const appendMessages: SessionStore["appendMessages"] = (id, messages, _calls, step) => {
    steps.push(step);
    if (store.isGone) {
      return Promise.reject(new HermesError("session_not_found", `No session "${id}" is stored`));
    }
    return Promise.resolve(messages.map((_, at) => at + 1));
  };
  const transcript = new Transcript(() => ({ appendMessages }) as SessionStore, "s1", [], () => isStored);
  return { transcript, steps, store };
}

Deno.test("core D.4: a turn on a conversation that is deleted before it begins is refused and leaves nothing", async () => {
  const { transcript, store } = scene();
  transcript.beginTurn();
  await transcript.append([user("a")]);
  transcript.endTurn();
  await transcript.append([{ role: "assistant", content: "1" }]);
  store.isGone = true;
  transcript.beginTurn();
  await assertRejects(
    () => transcript.append([user("b")]),
    /Another program has deleted this conversation/,
  );
  assertEquals([transcript.refusal?.code, transcript.refusal?.message], ["session_not_found", DELETED]);
  assertEquals([transcript.messages.length, transcript.warning], [2, null]);
  transcript.forgetRefusal();
  let isDone = false;
  const work = () => Promise.resolve(isDone = true);
  await assertRejects(() => transcript.alone(work).then(() => {}), /has deleted/);
  assertEquals(isDone, false);
});

Deno.test("core D.4: what is deleted during a turn goes on in memory, is told, and refuses the next turn", async () => {
  const { transcript, steps, store } = scene();
  transcript.beginTurn();
  await transcript.append([user("a")]);
  store.isGone = true;
  assertEquals(await transcript.append([user("b")]), false);
  transcript.endTurn();
  assertEquals(await transcript.append([user("c")]), false);
  assertEquals(transcript.warning, `${DELETED}: nothing more of it is saved`);
  transcript.beginTurn();
  await assertRejects(() => transcript.append([user("d")]), /has deleted/);
  assertEquals(steps, ["begin", "go_on", "end", "begin"]);
  assertEquals(transcript.messages.map(({ content }) => content), ["a", "b", "c"]);
});

Deno.test("core D.2: a turn whose conversation could not be stored yet goes on in memory", async () => {
  const { transcript, store } = scene(false);
  store.isGone = true;
  transcript.beginTurn();
  assertEquals(await transcript.append([user("a")]), false);
  assertEquals([transcript.refusal, transcript.warning], [
    null,
    'Saving is delayed: No session "s1" is stored',
  ]);
  store.isGone = false;
  assertEquals(await transcript.append([user("b")]), true);
});
