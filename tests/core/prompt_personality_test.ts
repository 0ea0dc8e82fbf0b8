/** Personalities (core A.4, H.2): whose words they are, and that a turn has them once. */
import { findPersonality, personalityNames, personalityText } from "../../src/core/prompt_personality.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { EVERYONE, makeScriptedCore, openSession, say } from "../support/scripted_core.ts";

const BUILT_IN = ["concise", "technical", "teacher", "creative", "friendly"];

function known(personalities: Record<string, unknown>) {
  return { personalities };
}

Deno.test("findPersonality(): a configured name as it stands, a built-in one in small letters, none, and null", () => {
  const settings = known({ Pirate: "Arr.", concise: "Own words.", none: "never", empty: {}, number: 5 });
  const found = (name: string) => findPersonality(name, settings);
  assertEquals([found("Pirate"), found(" Pirate "), found("pirate")], ["Pirate", "Pirate", null]);
  assertEquals([found("concise"), found("TEACHER")], ["concise", "teacher"]);
  assertEquals(["", "none", "None", "default", "NEUTRAL"].map(found), Array(5).fill("none"));
  assertEquals(["empty", "number", "nobody", "toString"].map(found), [null, null, null, null]);
  assertEquals(personalityNames(settings), [...BUILT_IN, "Pirate"]);
});

Deno.test("personalityText(): a text, a prompt with tone and style, a description where there is nothing else", () => {
  const settings = {
    ...known({
      pirate: " Arr. ",
      dry: { system_prompt: "Be dry.", tone: "flat", style: "short", description: "not used" },
      blank: { system_prompt: " ", prompt: "Second." },
      toned: { tone: "warm" },
      described: { description: "Talks in verse." },
      concise: "Own words.",
    }),
    display: { personality: "pirate" },
  } as unknown as Parameters<typeof personalityText>[0];
  const text = (name?: string) => personalityText(settings, name);
  assertEquals([text(), text("dry"), text("blank")], [
    "Arr.",
    "Be dry.\nTone: flat\nStyle: short",
    "Second.",
  ]);
  assertEquals([text("toned"), text("described"), text("concise")], [
    "Tone: warm",
    "Talks in verse.",
    "Own words.",
  ]);
  assertEquals([text("none"), text(""), text("nobody")], ["", "", ""]);
  assert(text("Teacher").startsWith("Explain as a patient teacher"));
});

Deno.test("core A.4: a turn has the configured personality or its own, once, and the stored prompt has neither", async () => {
  await using core = await makeScriptedCore({
    settings: (s) => ({
      ...s,
      personalities: { p: "Words of p.", q: "Words of q." },
      display: { ...s.display, personality: "p" },
    }),
  });
  const { session } = await openSession(core);
  const count = (words: string) => core.requests.at(-1)!.system.split(words).length - 1;
  const counts = async (options: { personality?: string; systemExtra?: string }) => {
    core.push(say("ok"));
    await session.submit({ content: "go" }, { asks: EVERYONE, ...options }).done;
    return [count("Words of p."), count("Words of q.")];
  };
  assertEquals(await counts({}), [1, 0]);
  assertEquals(await counts({ personality: "q" }), [0, 1]);
  assertEquals(await counts({ personality: "none" }), [0, 0]);
  assertEquals(await counts({ personality: "p", systemExtra: "The caller's." }), [1, 0]);
  assert(core.requests.at(-1)!.system.includes("\n\nThe caller's.\n\nWords of p.\n\nConversation started:"));
  const stored = core.services.store().getSession(session.headId)!.systemPrompt!;
  assert(!stored.includes("Words of") && stored.includes("Conversation started:"));
});
