/**
 * Answers in the full form of the providers' own documentation, field by field, read from the bytes on: what the
 * scripted server says in short is here as it really looks.
 */
import { assert, assertEquals } from "../support/assert.ts";
import { startModelServer } from "../support/model_server.ts";
import { makeModels, play, type Played, requestOf } from "./helpers.ts";

async function fixture(name: string): Promise<string> {
  return await Deno.readTextFile(new URL(`./fixtures/${name}.sse`, import.meta.url));
}

/** The same bytes in writes of several sizes. */
async function playFixture(name: string, api_mode: string, run: (played: Played) => void): Promise<void> {
  const raw = (await fixture(name)).trim();
  const turns = [0, 1, 13, 4096].map((split) => ({ steps: [{ raw }, { finish: null }], split }));
  await using server = await startModelServer({ turns });
  const models = makeModels({
    config: { providers: { box: { base_url: server.url, api_mode, model: "m" } } },
  });
  const client = models.client(models.resolve({ provider: "custom:box" }));
  for (const _ of turns) run(await play(client, requestOf("x")));
}

Deno.test("a documented Responses stream is read whole, however it is cut", () =>
  playFixture("responses", "codex_responses", ({ text, reasoning, names, done }) => {
    assertEquals([text, reasoning, names], ["Hi 👋 there", "**Plan**\n\nLook first.", ["read_file"]]);
    assertEquals(done, {
      type: "done",
      finish: "tool_calls",
      toolCalls: [{ id: "call_X", name: "read_file", arguments: '{"path":"a.txt"}' }],
      usage: { input: 200, output: 52, cacheRead: 128, cacheWrite: 0, reasoning: 20 },
      reasoningDetails: [
        {
          type: "reasoning",
          id: "rs_67cc1",
          summary: [{ type: "summary_text", text: "**Plan**" }, {
            type: "summary_text",
            text: "Look first.",
          }],
          encrypted_content: "gAAAAB-whole",
        },
        { type: "message", phase: "commentary" },
      ],
    });
  }));

Deno.test("a documented Messages stream is read whole, however it is cut", () =>
  playFixture("messages", "anthropic_messages", ({ text, reasoning, names, done }) => {
    assertEquals([text, reasoning, names], ["Hi 👋 there", "Let me see.", ["read_file"]]);
    assertEquals(done, {
      type: "done",
      finish: "tool_calls",
      toolCalls: [{ id: "toolu_01T", name: "read_file", arguments: '{"path": "a.txt"}' }],
      usage: { input: 25, output: 89, cacheRead: 200, cacheWrite: 100, reasoning: 30 },
      reasoningDetails: [
        { type: "thinking", thinking: "Let me see.", signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3h" },
        { type: "redacted_thinking", data: "EmwKAhgB" },
      ],
    });
  }));

Deno.test("a Responses stream without deltas is read from its items, and a failed one is a failure", async () => {
  const event = (value: unknown) => `data: ${JSON.stringify(value)}`;
  const output = [
    { type: "message", content: [{ type: "output_text", text: "only here" }] },
    { type: "function_call", call_id: "c", name: "t", arguments: "{}" },
  ];
  const ends = [
    { type: "response.completed", response: { status: "completed", output } },
    {
      type: "response.failed",
      response: { status: "failed", error: { code: "rate_limit_exceeded", message: "slow" } },
    },
    {
      type: "response.incomplete",
      response: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, output },
    },
  ];
  const turns = ends.map((end) => ({ steps: [{ raw: event(end) }, { finish: null }] }));
  await using server = await startModelServer({ turns });
  const box = { base_url: server.url, api_mode: "codex_responses", model: "m" };
  const models = makeModels({ config: { providers: { box } } });
  const client = models.client(models.resolve({ provider: "custom:box" }));
  const first = await play(client, requestOf("x"));
  assertEquals([first.text, first.names, first.done?.finish], ["only here", ["t"], "tool_calls"]);
  assertEquals((await play(client, requestOf("x"))).failure?.kind, "rate_limit");
  assertEquals((await play(client, requestOf("x"))).done?.finish, "length");
  assert(server.calls().length === 3);
});
