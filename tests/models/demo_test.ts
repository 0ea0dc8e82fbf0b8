import type { Message, ToolSpec } from "@/core/mod.ts";
import { ABILITIES, findIntent } from "@/models/builtin/demo_rules.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { makeModels, platform, play, requestOf } from "./helpers.ts";

const TOOLS: readonly ToolSpec[] = [
  "read_file",
  "write_file",
  "patch",
  "search_files",
  "terminal",
  "todo",
  "clarify",
]
  .map((name) => ({ name, description: "", parameters: {} }));

/** No waiting between words. */
const quick = { ...platform, clock: { ...platform.clock, delay: () => Promise.resolve() } };

async function ask(messages: readonly Message[] | string, tools = TOOLS) {
  const models = makeModels({ flags: { demo: true }, platform: quick });
  const list: readonly Message[] = typeof messages === "string"
    ? [{ role: "user", content: messages }]
    : messages;
  return await play(models.client(models.resolve()), requestOf("", { messages: list, tools }));
}

/** The call of a request, as `name {args}`. */
async function callOf(text: string): Promise<string> {
  const { done } = await ask(text);
  return (done?.toolCalls ?? []).map((c) => `${c.name} ${c.arguments}`).join("; ");
}

function answered(request: string, name: string, args: unknown, result: unknown): Message[] {
  const call = { id: "c1", name, arguments: JSON.stringify(args) };
  return [
    { role: "user", content: request },
    { role: "assistant", content: "", toolCalls: [call] },
    { role: "tool", toolCallId: "c1", toolName: name, content: JSON.stringify(result) },
  ];
}

Deno.test("builtin:demo turns plain requests into real tool calls", async () => {
  const cases: readonly (readonly [string, string])[] = [
    ["list files", 'search_files {"pattern":"*","target":"files","path":"."}'],
    ["What is in this workspace?", 'search_files {"pattern":"*","target":"files","path":"."}'],
    ["Please list the files in src.", 'search_files {"pattern":"*","target":"files","path":"src"}'],
    ["read notes.txt", 'read_file {"path":"notes.txt"}'],
    ["show me src/a.ts", 'read_file {"path":"src/a.ts"}'],
    ["search hello", 'search_files {"pattern":"hello","path":"."}'],
    ['search for "a.b" in src', 'search_files {"pattern":"a\\\\.b","path":"src"}'],
    ['write "some text" to notes.txt', 'write_file {"path":"notes.txt","content":"some text\\n"}'],
    ["create a.txt with hello there", 'write_file {"path":"a.txt","content":"hello there\\n"}'],
    ["replace Hello by Bonjour in greeting.txt", 'read_file {"path":"greeting.txt"}'],
    ["run `ls -la`", 'terminal {"command":"ls -la"}'],
    ["run the command: echo hi", 'terminal {"command":"echo hi"}'],
    [
      "ask me something",
      'clarify {"question":"Which colour do you like best?","choices":["Red","Green","Blue"]}',
    ],
  ];
  for (const [request, call] of cases) assertEquals(await callOf(request), call, request);
  assertMatch(await callOf("plan a small project"), /^todo .*"status":"in_progress"/);
});

Deno.test("builtin:demo understands everything that it says it can do", () => {
  for (const ability of ABILITIES) assert(findIntent(ability) !== null, ability);
});

Deno.test("builtin:demo sums up what really came of a call", async () => {
  const read = await ask(
    answered("read a.txt", "read_file", { path: "a.txt" }, { content: "1|one\n2|two", total_lines: 2 }),
  );
  assertMatch(read.text, /a\.txt has 2 lines:\n\n```\none\ntwo\n```$/);
  const failed = await ask(
    answered("read a.txt", "read_file", { path: "a.txt" }, { error: "File not found: a.txt" }),
  );
  assertMatch(failed.text, /That did not work: File not found: a\.txt/);
  const run = await ask(
    answered("run false", "terminal", { command: "false" }, { output: "", exit_code: 1 }),
  );
  assertMatch(run.text, /exit code 1 and printed nothing/);
});

Deno.test("builtin:demo reads before it patches, and before it overwrites a file it has not seen", async () => {
  const request = "replace a by b in f.txt";
  const read = answered(request, "read_file", { path: "f.txt" }, { content: "1|a" });
  assertEquals(
    (await ask(read)).done?.toolCalls[0]?.arguments,
    '{"path":"f.txt","old_string":"a","new_string":"b","replace_all":true}',
  );
  const refused = answered('write "x" to f.txt', "write_file", { path: "f.txt" }, {
    error: "f.txt exists and was never read: read it first",
  });
  assertEquals((await ask(refused)).done?.toolCalls[0]?.name, "read_file");
});

Deno.test("builtin:demo says what it is in the first answer of a session, and only there", async () => {
  const first = await ask("tell me a joke");
  assertMatch(first.text, /built-in demo of hermes.*not an AI/);
  assertMatch(first.text, /list files[\s\S]*hermes setup/);
  const later = await ask([
    { role: "user", content: "x" },
    { role: "assistant", content: first.text },
    { role: "user", content: "think aloud about tea" },
  ]);
  assert(!later.text.includes("not an AI"));
  assertMatch(later.reasoning, /tea/);
});

Deno.test("builtin:demo answers from the conversation, says when a tool is missing, and writes long answers", async () => {
  const recalled = await ask([
    { role: "user", content: "remember that I like tea" },
    { role: "assistant", content: "I keep it." },
    { role: "user", content: "what do you remember?" },
  ]);
  assertMatch(recalled.text, /I like tea/);
  assertMatch((await ask("run ls", [])).text, /`terminal`, which is not offered/);
  const long = await ask("long answer of 300 words");
  assertEquals(
    long.text.split(/\s+/).length -
      "This is the built-in demo of hermes, a small set of rules and not an AI.".split(" ").length,
    300,
  );
  assert(long.batches > 100);
});
