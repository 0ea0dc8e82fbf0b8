import { parseScript } from "@/models/builtin/script_parse.ts";
import { assert, assertEquals, assertMatch, assertThrows } from "../support/assert.ts";
import { makeModels, play, requestOf } from "./helpers.ts";

async function withScript(text: string, run: (path: string) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempFile({ suffix: ".jsonc" });
  try {
    await Deno.writeTextFile(path, text);
    await run(path);
  } finally {
    await Deno.remove(path);
  }
}

function clientOf(path: string) {
  const models = makeModels({ flags: { model: `builtin:script:${path}` } });
  return models.client(models.resolve());
}

Deno.test("core 74: builtin:script plays text, reasoning, calls, errors, usage and finishes", () =>
  withScript(
    `{
      // comments are fine
      "turns": [
        "plain",
        {"steps": [
          {"reasoning": "hm"}, {"text": "Hel", "delay_ms": 1}, {"text": "lo "}, {"text": "x", "repeat": 200},
          {"tool": "read_file", "args": {"path": "a"}}, {"tool": "t", "args": "{bad", "id": "mine"},
          {"usage": {"prompt_tokens": 100, "completion_tokens": 5, "cached_tokens": 40, "reasoning_tokens": 2}},
        ]},
        {"steps": [{"error": {"status": 429, "message": "slow down", "headers": {"Retry-After": "2"}}}]},
        {"steps": [{"text": "part"}, {"error": {"message": "boom"}}]},
        {"steps": [{"text": "part"}, {"reset": true}]},
        {"steps": [{"text": "cut"}, {"finish": "length"}]},
        {"steps": [{"text": "half"}, {"finish": null}]},
      ],
    }`,
    async (path) => {
      const client = clientOf(path);
      const next = () => play(client, requestOf("x"));
      assertEquals((await next()).text, "plain");
      const second = await next();
      assertEquals([second.reasoning, second.text, second.names], ["hm", "Hello " + "x".repeat(200), [
        "read_file",
        "t",
      ]]);
      assertEquals(second.done?.toolCalls, [
        { id: "call_1", name: "read_file", arguments: '{"path":"a"}' },
        { id: "mine", name: "t", arguments: "{bad" },
      ]);
      assertEquals(second.done?.usage, { input: 60, output: 5, cacheRead: 40, cacheWrite: 0, reasoning: 2 });
      const limited = (await next()).failure;
      assertEquals([limited?.kind, limited?.status, limited?.retryAfterMs], ["rate_limit", 429, 2000]);
      const late = await next();
      assertEquals([late.text, late.failure?.kind], ["part", "server_error"]);
      assertEquals((await next()).failure?.kind, "connection");
      assertEquals((await next()).done?.finish, "length");
      assertEquals((await next()).failure?.kind, "connection");
      assertEquals((await next()).text, "(script exhausted)");
    },
  ));

Deno.test("builtin:script keeps a place per session, loops, and takes a new client of a session where it was", () =>
  withScript('{"turns":["a","b"],"loop":true}', async (path) => {
    const models = makeModels({ flags: { model: `builtin:script:${path}` } });
    const say = async (sessionId: string) =>
      (await play(models.client(models.resolve()), requestOf("x", { sessionId }))).text;
    assertEquals([await say("1"), await say("2"), await say("1"), await say("1"), await say("2")], [
      "a",
      "a",
      "b",
      "a",
      "b",
    ]);
  }));

Deno.test("FC-06: a stall and a delay of a script end at an abort", () =>
  withScript(
    '{"turns":[{"steps":[{"text":"a"},{"stall":true}]},{"steps":[{"text":"b","delay_ms":60000}]}]}',
    async (path) => {
      const client = clientOf(path);
      for (const text of ["a", ""]) {
        const controller = new AbortController();
        const played = play(client, requestOf("x"), controller.signal);
        setTimeout(() => controller.abort(), 20);
        const { text: said, done, failure } = await played;
        assertEquals([said, done, failure], [text, null, null]);
      }
    },
  ));

Deno.test("a script that is missing or wrong is a config failure that names file and line", async () => {
  const missing = (await play(clientOf("/nowhere/x.jsonc"), requestOf("x"))).failure;
  assertEquals([missing?.kind, missing?.retryable], ["config", false]);
  assertMatch(missing!.message, /\/nowhere\/x\.jsonc.*no such file/);
  await withScript('{\n  "turns": [\n    {"steps": [{"txt": 1}]}\n  ]\n}', async (path) => {
    const { failure } = await play(clientOf(path), requestOf("x"));
    assertEquals(failure?.kind, "config");
    assertMatch(failure!.message, /line 3, column \d+: unknown step/);
    assert(failure!.message.includes(path));
  });
  await withScript('{"turns":[{"steps":[{"raw":"data: x"}]}]}', async (path) => {
    assertEquals((await play(clientOf(path), requestOf("x"))).failure?.kind, "config");
  });
});

Deno.test("parseScript() refuses every malformed file and says where", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["", /line 1.*(empty|expected)/],
    ["[]", /must be an object/],
    ["{}", /needs "turns"/],
    ['{"turns":[1]}', /a turn/],
    ['{"turns":[{}]}', /needs "steps"/],
    ['{"turns":[{"steps":[{}]}]}', /unknown step/],
    ['{"turns":[{"steps":[{"text":1}]}]}', /"text" must be string/],
    ['{"turns":[{"steps":[{"text":"a","tool":"b"}]}]}', /one thing/],
    ['{"turns":[{"steps":[{"text":"a","nope":1}]}]}', /no member "nope"/],
    ['{"turns":[{"steps":[{"text":"a","delay_ms":-1}]}]}', /negative/],
    ['{"turns":[{"steps":[{"finish":"done"}]}]}', /"finish" is one of/],
    ['{\n"turns": [\n"a"\n"b"]}', /line 4.*comma expected/],
    ['{"turns":["a"', /line 1/],
  ];
  for (const [text, pattern] of cases) assertThrows(() => parseScript(text), pattern);
  assertEquals(parseScript('\ufeff{"turns":["a",],/*x*/"loop":false}'), { turns: ["a"], loop: false });
});
