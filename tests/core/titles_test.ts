/** Titles in the background: only where a model is configured for them, never in anybody's way. */
import { type ModelClient, NOBODY_TO_ASK, type Settings } from "../../src/core/mod.ts";
import { cleanTitle } from "../../src/core/title_call.ts";
import { assert, assertEquals } from "../support/assert.ts";
import {
  type Batch,
  done,
  failure,
  makeScriptedCore,
  openSession,
  prompt,
  say,
  type ScriptedCore,
  text,
  until,
} from "../support/scripted_core.ts";

const withModel = (more: Record<string, string> = {}) => (settings: Settings): Settings => ({
  ...settings,
  auxiliary: { title_generation: { model: "tiny", ...more } },
});

interface Asked {
  readonly system: string;
  readonly content: string;
}

/** Answers for the model that writes titles, beside the scripted one. */
function titleModel(core: ScriptedCore, answer: (signal: AbortSignal) => AsyncIterable<Batch>): Asked[] {
  const asked: Asked[] = [];
  const models = core.services.models as {
    resolve: typeof core.services.models.resolve;
    client: typeof core.services.models.client;
  };
  const { resolve, client } = models;
  models.resolve = (choice) => ({ ...resolve(choice), model: choice?.model ?? "m" });
  models.client = (info): ModelClient =>
    info.model !== "tiny" ? client(info) : {
      info,
      stream: (request, { signal }) => {
        asked.push({ system: request.system, content: String(request.messages[0]!.content) });
        return answer(signal);
      },
    };
  return asked;
}

async function* answering(value: string): AsyncIterable<Batch> {
  await Promise.resolve();
  yield [text(value), done()];
}

const titled = (session: Parameters<typeof until>[0]) =>
  until(session, (event) => event.type === "session.change" && event.what === "title");

Deno.test("core A.18: the first exchange gives a title, after the turn, with an event; a second one does not", async () => {
  await using core = await makeScriptedCore({ settings: withModel({ language: "German" }) });
  const asked = titleModel(core, () => answering('Title: "Ein kurzer Name"\nmore'));
  const { session, events } = await openSession(core);
  core.push(say("The answer."), say("Another."));
  const named = titled(session);
  await prompt(session, "q".repeat(900));
  assertEquals([session.title, session.running], [null, false]);
  await named;
  assertEquals(session.title, "Ein kurzer Name");
  assertEquals(core.services.store().getSession(session.headId)!.title, "Ein kurzer Name");
  assertEquals(asked[0]!.content, `User: ${"q".repeat(500)}\n\nAssistant: The answer.`);
  assert(asked[0]!.system.includes("German"));
  await prompt(session, "again");
  assertEquals([asked.length, core.requests.length], [1, 2]);
  const order = events.filter((e) => e.type === "turn.end" || e.type === "session.change").map((e) => e.type);
  assertEquals(order, ["turn.end", "session.change", "turn.end"]);
  assertEquals(session.usage().calls, 3);
});

/** A core whose session model is asked for titles as the config has it, and answers `(script exhausted)`. */
async function calls(
  section: Record<string, unknown> | undefined,
  where: { surface?: string; source?: string; provider?: string; oneShot?: boolean } = {},
): Promise<{ requests: number; title: string | null }> {
  await using core = await makeScriptedCore({
    settings: (s) => ({ ...s, auxiliary: section === undefined ? {} : { title_generation: section } }),
  });
  const { surface = "tui", source = "tui", provider, oneShot } = where;
  if (provider !== undefined) {
    const { models } = core.services;
    const resolve = models.resolve.bind(models);
    Object.assign(models, { resolve: () => ({ ...resolve({}), provider }) });
  }
  const session = await core.sessions.create({ source, surface, cwd: core.services.home });
  core.push(say("one"), say("A title"));
  await session.submit({ content: "hi" }, { asks: NOBODY_TO_ASK, ...(oneShot ? { oneShot } : {}) }).done;
  // The answer is at hand: one that is asked for has come after a few rounds of the event loop.
  for (let round = 0; round < 10; round++) await new Promise((resolve) => setTimeout(resolve));
  const { title } = session;
  await session.close("test");
  return { requests: core.requests.length, title };
}

Deno.test("core A.18, E.4: by default the session's own model names what a person keeps", async () => {
  for (const section of [undefined, {}, { provider: "auto" }, { provider: "auto", language: "x" }]) {
    for (const surface of ["tui", "acp", "cli"]) {
      assertEquals(await calls(section, { surface }), { requests: 2, title: "A title" });
    }
  }
});

Deno.test("core A.18, E.4: switched off, one-shot, over HTTP, for programs and built-in models there is no call", async () => {
  const none = { requests: 1, title: null };
  assertEquals(await calls({ provider: "none" }), none);
  assertEquals(await calls({ provider: false }), none);
  assertEquals(await calls({ provider: "none", model: "tiny" }), none);
  assertEquals(await calls(undefined, { oneShot: true, surface: "cli" }), none);
  assertEquals(await calls(undefined, { surface: "api_server" }), none);
  assertEquals(await calls(undefined, { source: "tool" }), none);
  assertEquals(await calls(undefined, { source: "subagent" }), none);
  assertEquals(await calls(undefined, { provider: "builtin" }), none);
  // Asked for by name, it is done there too.
  const named = { requests: 2, title: "A title" };
  assertEquals(await calls({ provider: "main" }, { surface: "api_server" }), named);
  assertEquals(await calls({ provider: "main" }, { provider: "builtin" }), named);
});

Deno.test("core A.18: a model that does not answer is left at the end of its time; the next turn tries once more", async () => {
  await using core = await makeScriptedCore({
    settings: (s) => ({
      ...s,
      auxiliary: { title_generation: { timeout: 0.05 } as Record<string, unknown> },
    }),
  });
  const { session } = await openSession(core);
  const { promise: gone, resolve: left } = Promise.withResolvers<void>();
  core.push(
    say("one"),
    async function* (_request, signal): AsyncIterable<Batch> {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      left();
      yield [text("Too late"), done()];
    },
    say("two"),
    say("In time"),
  );
  await prompt(session, "hi");
  await gone;
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(session.title, null);
  const named = titled(session);
  await prompt(session, "again");
  await named;
  assertEquals(session.title, "In time");
});

Deno.test("core A.18: no title is paid for when a budget is used up", async () => {
  const none = { model_calls: null, tokens: null, usd: null, seconds: null };
  for (const [model_calls, requests] of [[1, 1], [2, 2]] as const) {
    await using core = await makeScriptedCore({
      settings: (s) => ({
        ...s,
        auxiliary: {},
        budgets: { prompt: none, session: { ...none, model_calls }, day: none },
      }),
    });
    const { session } = await openSession(core);
    core.push(say("one"), say("A title"));
    await prompt(session, "hi");
    for (let round = 0; round < 10; round++) await new Promise((resolve) => setTimeout(resolve));
    assertEquals([core.requests.length, session.title], [requests, requests === 1 ? null : "A title"]);
  }
});

Deno.test("core A.18: a title that is being chosen when the turn ends is not asked for", async () => {
  await using core = await makeScriptedCore({ settings: (s) => ({ ...s, auxiliary: {} }) });
  const { session } = await openSession(core);
  let chosen: Promise<unknown> = Promise.resolve();
  session.subscribe((event) => {
    if (event.type === "turn.end") chosen = session.setTitle("Mine");
  });
  core.push(say("one"));
  await prompt(session, "hi");
  await chosen;
  await session.close("test");
  assertEquals([core.requests.length, session.title], [1, "Mine"]);
});

Deno.test("core A.18: a slow title delays neither the next turn nor the close, and never replaces a title", async () => {
  await using core = await makeScriptedCore({ settings: withModel() });
  const { promise: go, resolve: release } = Promise.withResolvers<void>();
  let aborted = false;
  const asked = titleModel(core, async function* (signal) {
    signal.addEventListener("abort", () => {
      aborted = true;
      release();
    });
    await go;
    yield [text("Too late"), done()];
  });
  const { session } = await openSession(core);
  core.push(say("one"), say("two"));
  await prompt(session, "hi");
  assertEquals((await prompt(session, "next")).text, "two");
  await session.setTitle("Mine");
  await session.close("test");
  assertEquals([asked.length, aborted, session.title], [1, true, "Mine"]);
  assertEquals(core.services.store().getSession(session.headId)!.title, "Mine");
});

Deno.test("core A.18: a title that came after the user's own is dropped; a taken one gets a number; failures are silent", async () => {
  await using core = await makeScriptedCore({ settings: withModel() });
  const { promise: go, resolve: release } = Promise.withResolvers<void>();
  const replies = [
    async function* (): AsyncIterable<Batch> {
      await go;
      yield [text("Generated"), done()];
    },
    () => answering("Mine"),
    async function* (): AsyncIterable<Batch> {
      await Promise.resolve();
      yield [failure("auth")];
    },
  ];
  titleModel(core, () => replies.shift()!());
  const first = await openSession(core);
  core.push(say("one"), say("two"), say("three"));
  await prompt(first.session, "hi");
  await first.session.setTitle("Mine");
  release();
  await first.session.close("test");
  assertEquals(first.session.title, "Mine");

  const second = await openSession(core);
  const named = titled(second.session);
  await prompt(second.session, "hi");
  await named;
  assertEquals(second.session.title, "Mine #2");

  const third = await openSession(core);
  await prompt(third.session, "hi");
  await third.session.close("test");
  assertEquals([third.session.title, replies.length], [null, 0]);
});

Deno.test("core A.18: no close waits for a model that goes on, nor for a locked database that a title is to go into", async () => {
  await using core = await makeScriptedCore({ settings: withModel() });
  const { promise: never } = Promise.withResolvers<void>();
  const { promise: isAsked, resolve: noteAsked } = Promise.withResolvers<void>();
  const { promise: isNaming, resolve: noteNaming } = Promise.withResolvers<void>();
  const replies = [
    async function* (): AsyncIterable<Batch> {
      noteAsked();
      await never;
      yield [text("Never"), done()];
    },
    () => answering("Kept from"),
  ];
  titleModel(core, () => replies.shift()!());
  core.push(say("one"), say("two"));
  const deaf = await openSession(core);
  await prompt(deaf.session, "hi");
  await isAsked;
  await deaf.session.close("test");

  Object.assign(core.services.store(), {
    setTitle: () => {
      noteNaming();
      return never;
    },
  });
  const locked = await openSession(core);
  await prompt(locked.session, "hi");
  await isNaming;
  await locked.session.close("test");
  assertEquals([deaf.session.title, locked.session.title], [null, null]);
});

Deno.test("cleanTitle() takes one line, without quotes or a label, at most 80 characters", () => {
  assertEquals(cleanTitle('\n **Title: "A plan"**\nand more'), "A plan");
  assertEquals(cleanTitle("`x`."), "x");
  assertEquals(cleanTitle("  "), "");
  assertEquals([...cleanTitle("😀".repeat(90))].length, 80);
  assert(cleanTitle("a".repeat(81)).endsWith("a..."));
});
