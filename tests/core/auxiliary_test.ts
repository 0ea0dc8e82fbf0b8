/** Models for side tasks: what the file says, whose key is whose, the chain behind the first. */
import type { ModelChunk, ModelClient, Models, ResolvedModel, Settings } from "@/core/mod.ts";
import { auxiliaryClient } from "@/core/mod.ts";
import { auxiliaryEntries, auxiliaryEntry, isForOwnModel, isSwitchedOff } from "../../src/core/auxiliary.ts";
import { done, text } from "../support/scripted_core.ts";
import { assertEquals } from "../support/assert.ts";

const settingsWith = (entry: unknown) => ({ auxiliary: { task: entry } }) as unknown as Settings;
const signal = new AbortController().signal;
const request = { system: "", messages: [], tools: [], sessionId: "s" };
const failed = (name: string): ModelChunk => ({
  type: "error",
  toolInFlight: false,
  failure: { kind: "server_error", message: `${name} is down`, model: name, provider: "p", retryable: true },
});

type Answer = (signal: AbortSignal) => AsyncIterable<readonly ModelChunk[]>;

/** Models by name; a name that is not there cannot be resolved. */
function modelsOf(answers: Record<string, Answer>, efforts: (string | undefined)[] = []): Models {
  return {
    resolve: (choice: { model: string }) => {
      if (!answers[choice.model]) throw new Error("no key");
      return { model: choice.model, provider: "p" } as ResolvedModel;
    },
    client: (info: ResolvedModel): ModelClient => ({
      info,
      stream: (asked, options) => {
        efforts.push(asked.reasoningEffort);
        return answers[info.model]!(options.signal);
      },
    }),
  } as unknown as Models;
}

const saying = (...chunks: ModelChunk[]): Answer =>
  async function* () {
    await Promise.resolve();
    for (const chunk of chunks) yield [chunk];
  };

async function read(client: ModelClient | null): Promise<string> {
  let out = "";
  for await (const batch of client!.stream(request, { signal })) {
    for (const chunk of batch) {
      if (chunk.type === "text") out += chunk.text;
      if (chunk.type === "error") out += `!${chunk.failure.kind}: ${chunk.failure.message}`;
    }
  }
  return out;
}

Deno.test("core E.4: auto, main and an entry without a place are no model of their own", () => {
  for (
    const entry of [
      undefined,
      null,
      {},
      { provider: "auto" },
      { provider: "none" },
      { provider: false },
      { provider: "main", timeout: 5 },
      { model: " " },
    ]
  ) {
    assertEquals(auxiliaryEntries(settingsWith(entry), "task"), []);
  }
  assertEquals([isForOwnModel(settingsWith({ provider: "main" }), "task")], [true]);
  assertEquals([isForOwnModel(settingsWith({ provider: "auto" }), "task")], [false]);
  const off = [{ provider: "none" }, { provider: false }, { provider: "auto" }, {}, null];
  assertEquals(off.map((entry) => isSwitchedOff(settingsWith(entry), "task")), [
    true,
    true,
    false,
    false,
    false,
  ]);
});

Deno.test("core E.4: a key counts only beside an address or a provider, and each place of the chain has its own", () => {
  const settings = settingsWith({
    model: "a",
    api_key: "key-of-nobody",
    fallback_chain: [
      { provider: "p2", model: "b", api_key: "key-b", extra_body: { top_k: 1 }, reasoning_effort: "low" },
      "nonsense",
      { base_url: "http://x/v1", key_env: "X_KEY" },
    ],
  });
  const entries = auxiliaryEntries(settings, "task");
  assertEquals(entries.map(({ choice, apiKey, keyEnv }) => [choice, apiKey, keyEnv]), [
    [{ model: "a", auxiliary: { task: "task", at: 0 } }, null, null],
    [{ provider: "p2", model: "b", auxiliary: { task: "task", at: 1 } }, "key-b", null],
    [{ baseUrl: "http://x/v1", auxiliary: { task: "task", at: 3 } }, null, "X_KEY"],
  ]);
  assertEquals([entries[1]!.extraBody, entries[1]!.reasoningEffort], [{ top_k: 1 }, "low"]);
  assertEquals(auxiliaryEntry(settings, entries[2]!.choice)?.keyEnv, "X_KEY");
  assertEquals(auxiliaryEntry(settings, { model: "a" }), null);
});

Deno.test("core E.4: the next of the chain is asked when one fails before it has spoken, and `info` names it", async () => {
  const settings = settingsWith({
    model: "gone",
    fallback_chain: [{ model: "down" }, { model: "up", reasoning_effort: "high" }, { model: "never" }],
  });
  const efforts: (string | undefined)[] = [];
  const models = modelsOf({
    down: saying({ type: "reasoning", text: "hm" }, failed("down")),
    up: saying(text("hello"), done()),
    never: saying(text("no")),
  }, efforts);
  const client = auxiliaryClient(models, settings, "task")!;
  assertEquals(client.info.model, "down");
  assertEquals(await read(client), "hello");
  assertEquals([client.info.model, efforts], ["up", [undefined, "high"]]);
});

Deno.test("core E.4: what has spoken is not replaced, and the failure of the last one is the failure", async () => {
  const chain = { model: "half", fallback_chain: [{ model: "down" }] };
  const half = modelsOf({ half: saying(text("ha"), failed("half")), down: saying(failed("down")) });
  assertEquals(
    await read(auxiliaryClient(half, settingsWith(chain), "task")),
    "ha!server_error: half is down",
  );
  const silent = modelsOf({ half: saying(failed("half")), down: saying(failed("down")) });
  assertEquals(
    await read(auxiliaryClient(silent, settingsWith(chain), "task")),
    "!server_error: down is down",
  );
  assertEquals(auxiliaryClient(modelsOf({}), settingsWith(chain), "task"), null);
});

Deno.test("core E.4: one that does not answer within its time has failed", async () => {
  const stuck: Answer = async function* (signal) {
    yield [];
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  };
  const models = modelsOf({ slow: stuck, up: saying(text("here")) });
  const alone = settingsWith({ model: "slow", timeout: 0.02 });
  assertEquals(await read(auxiliaryClient(models, alone, "task")), "!timeout: slow did not answer in 0.02 s");
  const chained = settingsWith({ model: "slow", timeout: 0.02, fallback_chain: [{ model: "up" }] });
  assertEquals(await read(auxiliaryClient(models, chained, "task")), "here");
});
