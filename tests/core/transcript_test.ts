import { type CountedCall, HermesError, type Message, type SessionStore } from "@/core/mod.ts";
import { NO_USAGE } from "@/core/messages.ts";
import { Transcript } from "@/core/transcript.ts";
import { assertEquals } from "../support/assert.ts";

const CALL: CountedCall = { usage: { ...NO_USAGE, input: 7 }, model: { model: "m", provider: "p" } };

function user(content: string): Message {
  return { role: "user", content };
}

/** What was written, one entry per transaction; the first `fails` are refused. */
function scene(
  fails = 0,
  failure = new Error("locked"),
): { transcript: Transcript; written: [texts: unknown[], calls: number][] } {
  const written: [unknown[], number][] = [];
  const store = {
    appendMessages: (_id: string, messages: readonly Message[], calls: readonly CountedCall[] = []) => {
      if (fails-- > 0) return Promise.reject(failure);
      written.push([messages.map((message) => message.content), calls.length]);
      return Promise.resolve(messages.map((_, at) => at + 1));
    },
  } as unknown as SessionStore;
  return { transcript: new Transcript(() => store, "s1"), written };
}

Deno.test("Transcript.count(): a call is written together with the rows that come next, and once", async () => {
  const { transcript, written } = scene();
  transcript.count(CALL);
  assertEquals(written, []);
  await transcript.append([user("a")]);
  await transcript.append([user("b")]);
  assertEquals(written, [[["a"], 1], [["b"], 0]]);
});

Deno.test("Transcript.count(): without rows flush() writes it, and a refused write keeps rows and calls in order", async () => {
  const alone = scene();
  alone.transcript.count(CALL);
  assertEquals(await alone.transcript.flush(), true);
  assertEquals(await alone.transcript.flush(), true);
  assertEquals(alone.written, [[[], 1]]);

  const { transcript, written } = scene(1);
  transcript.count(CALL);
  assertEquals(await transcript.append([user("a")]), false);
  assertEquals(transcript.warning, "Saving is delayed: locked");
  transcript.count(CALL);
  assertEquals(await transcript.append([user("b")]), true);
  assertEquals([written, transcript.warning], [[[["a", "b"], 2]], null]);
});

Deno.test("core D.2: a warning names the class of the failure", async () => {
  const locked = new HermesError("store_locked", "locked", { class: "session_persistence_failed:locked" });
  const { transcript } = scene(1, locked);
  await transcript.append([user("a")]);
  assertEquals(transcript.warning, "Saving is delayed (session_persistence_failed:locked): locked");
});

Deno.test("acp D6: the warning is taken once for each time that saving begins to fail", async () => {
  const { transcript } = scene(2);
  assertEquals(transcript.takeWarning(), null);
  await transcript.append([user("a")]);
  assertEquals(transcript.takeWarning(), "Saving is delayed: locked");
  await transcript.append([user("b")]);
  assertEquals([transcript.takeWarning(), transcript.warning], [null, "Saving is delayed: locked"]);
  assertEquals([await transcript.flush(), transcript.takeWarning()], [true, null]);

  let isLocked = true;
  const store = {
    appendMessages: () => isLocked ? Promise.reject(new Error("locked")) : Promise.resolve([1]),
  } as unknown as SessionStore;
  const twice = new Transcript(() => store, "s1");
  await twice.append([user("a")]);
  assertEquals(twice.takeWarning(), "Saving is delayed: locked");
  isLocked = false;
  assertEquals(await twice.flush(), true);
  isLocked = true;
  await twice.append([user("b")]);
  assertEquals([twice.takeWarning(), twice.takeWarning()], ["Saving is delayed: locked", null]);
});

Deno.test("core D.2: rows whose write is refused late stay before the rows that came meanwhile", async () => {
  const written: unknown[][] = [];
  const first = Promise.withResolvers<number[]>();
  let writes = 0;
  const store = {
    appendMessages: (_id: string, messages: readonly Message[]) => {
      if (writes++ === 0) return first.promise;
      written.push(messages.map((message) => message.content));
      return Promise.resolve(messages.map((_, at) => at + 1));
    },
  } as unknown as SessionStore;
  const transcript = new Transcript(() => store, "s1");
  const saves = [
    transcript.append([user("a")]),
    transcript.append([user("b")]),
    transcript.append([user("c")]),
  ];
  first.reject(new Error("locked"));
  assertEquals(await Promise.all(saves), [false, true, true]);
  assertEquals(written, [["a", "b", "c"]]);
});

Deno.test("core D.2: flush() does not say that all is saved while a write is under way", async () => {
  const first = Promise.withResolvers<number[]>();
  const store = { appendMessages: () => first.promise } as unknown as SessionStore;
  const transcript = new Transcript(() => store, "s1");
  const saving = transcript.append([user("a")]);
  let told: boolean | null = null;
  const flushed = transcript.flush().then((saved) => told = saved);
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(told, null);
  first.resolve([1]);
  assertEquals([await saving, await flushed], [true, true]);
});

Deno.test("core D.2: a store that cannot be opened is tried again with the next rows", async () => {
  let opened = 0;
  const written: unknown[][] = [];
  const store = {
    appendMessages: (_id: string, messages: readonly Message[]) => {
      written.push(messages.map((message) => message.content));
      return Promise.resolve([1, 2]);
    },
  } as unknown as SessionStore;
  const transcript = new Transcript(() => {
    if (opened++ === 0) throw new HermesError("store_failed", "no disk");
    return store;
  }, "s1");
  assertEquals(await transcript.append([user("a")]), false);
  assertEquals(await transcript.append([user("b")]), true);
  assertEquals(written, [["a", "b"]]);
});

Deno.test("Transcript.replaceContent(): a row that is being written is replaced in its row, too", async () => {
  const writing = Promise.withResolvers<number[]>();
  const replaced: unknown[] = [];
  const store = {
    appendMessages: () => writing.promise,
    updateContent: (...what: unknown[]) => Promise.resolve(void replaced.push(what)),
  } as unknown as SessionStore;
  const transcript = new Transcript(() => store, "s1");
  const message = user("old");
  const appending = transcript.append([message]);
  const replacing = transcript.replaceContent(message, "new");
  writing.resolve([7]);
  await appending;
  assertEquals([(await replacing).rowId, replaced], [7, [[7, "new"]]]);
  assertEquals(transcript.messages.map(({ content }) => content), ["new"]);
});
