/** Figures of the loop: pauses, rests, room, results of tools, what a compression keeps (core.md A.7, A.11, A.13, A.16). */
import { type CompressionPlan, planCompression, summarise } from "@/core/compression.ts";
import { Failover, Resting } from "@/core/failover.ts";
import type { Message, ModelClient, ModelFailure, ResolvedModel, Settings } from "@/core/mod.ts";
import { retryDelay } from "@/core/model_call.ts";
import { batchLimit, resultLimit } from "@/core/result_limits.ts";
import { thrown } from "@/core/tool_results.ts";
import type { TurnCalls } from "@/core/turn_calls.ts";
import type { TurnInput } from "@/core/turn_input.ts";
import { TurnRoom } from "@/core/turn_room.ts";
import type { TurnRows } from "@/core/turn_rows.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { done, makeScriptedCore, openSession, prompt, say, text } from "../support/scripted_core.ts";
import { addTool, callTools } from "./turn_support.ts";

function failure(kind: ModelFailure["kind"], more: Partial<ModelFailure> = {}): ModelFailure {
  return { kind, message: "", provider: "p", model: "m", retryable: true, ...more };
}

// ── A.11 ──────────────────────────────────────────────────────────────────────────────────────────────────────

Deno.test("core A.11: pauses grow from 5 s to 120 s for an invalid response, from 2 s to 60 s for the others", () => {
  const invalid = [5, 10, 20, 40, 80, 120, 120];
  const error = [2, 4, 8, 16, 32, 60, 60];
  const cases: readonly (readonly [ModelFailure, readonly number[]])[] = [
    [failure("invalid_response"), invalid],
    [failure("empty_stream"), invalid],
    [failure("server_error"), error],
    [failure("timeout"), error],
    [failure("rate_limit"), error],
    [failure("overloaded"), error],
    [failure("unknown"), error],
    [failure("overloaded", { provider: "zai", model: "glm-5.2" }), [30, 60, 90, 120, 120, 120, 120]],
    [failure("overloaded", { provider: "zai", model: "glm-4.7" }), error],
    [failure("rate_limit", { retryAfterMs: 7_000 }), [7, 7, 7, 7, 7, 7, 7]],
    [failure("rate_limit", { retryAfterMs: 601_000 }), [600, 600, 600, 600, 600, 600, 600]],
  ];
  for (const [failed, seconds] of cases) {
    const pauses = seconds.map((_, at) => retryDelay(failed, at + 1, 0) / 1000);
    assertEquals(pauses, seconds, JSON.stringify(failed));
  }
  // Up to 50 % more, by chance.
  const spread = [0, 0.5, 1].map((random) => retryDelay(failure("invalid_response"), 1, random));
  assertEquals(spread, [5_000, 6_250, 7_500]);
});

Deno.test("core A.11: a primary rests for 60 s after a rate limit or billing, for 5 s after an exhausted chain", () => {
  const client = (model: string): ModelClient => ({
    info: { model, provider: "p", baseUrl: "http://p" } as ResolvedModel,
    stream: () => {
      throw new Error("not called");
    },
  });
  const restOf = (kinds: readonly ModelFailure["kind"][]): number => {
    let now = 0;
    const resting = new Resting(() => now);
    const start = () => new Failover(client("m"), [() => client("n")], resting);
    const first = start();
    for (const kind of kinds) first.advance(failure(kind));
    while (start().client.info.model !== "m" && now < 200_000) now += 500;
    return now;
  };
  assertEquals(restOf(["rate_limit"]), 60_000);
  assertEquals(restOf(["billing"]), 60_000);
  assertEquals(restOf(["auth"]), 0);
  assertEquals(restOf(["overloaded"]), 0);
  assertEquals(restOf(["auth", "auth"]), 5_000);
});

interface RoomState {
  readonly tokens?: number;
  readonly messages?: number;
  readonly window?: number | null;
  readonly signal?: AbortSignal;
}

/** A room with a conversation of that size; its pauses take no time. */
function makeRoom({ tokens = 0, messages = 0, window = 128_000, signal }: RoomState = {}) {
  const pauses: number[] = [];
  const compressions: number[] = [];
  const turn = {
    scope: {
      signal: signal ?? new AbortController().signal,
      settings: { compression: { enabled: true }, model: { max_tokens: null } },
      platform: {
        clock: {
          delay: (ms: number, options: { signal: AbortSignal }) => {
            pauses.push(ms);
            return options.signal.aborted ? Promise.reject(new Error("stopped")) : Promise.resolve();
          },
        },
      },
    },
    contextTokens: () => tokens,
    transcript: { messages: Array.from({ length: messages }) },
    compact: () => Promise.resolve(compressions.push(pauses.length) > 0),
  };
  const calls = { model: { contextWindow: window }, models: { client: null } };
  const room = new TurnRoom(
    turn as unknown as TurnInput,
    {} as TurnRows,
    calls as unknown as TurnCalls,
  );
  return { room, pauses, compressions };
}

Deno.test("core A.11: at most 3 compressions for one model call, with 2 s between them", async () => {
  const { room, pauses, compressions } = makeRoom();
  const tries: boolean[] = [];
  for (let n = 0; n < 4; n++) tries.push(await room.makeRoom());
  assertEquals([tries, pauses, compressions], [[true, true, true, false], [2_000, 2_000], [0, 1, 2]]);
  // The next call has its own, and its first one is not waited for.
  room.answered();
  assertEquals([await room.makeRoom(), pauses.length, compressions.length], [true, 2, 4]);

  const stop = new AbortController();
  const cut = makeRoom({ signal: stop.signal });
  await cut.room.makeRoom();
  stop.abort();
  assertEquals([await cut.room.makeRoom(), cut.compressions.length], [false, 1]);
});

Deno.test("core A.11: a session is large over 60 % of the window, or with one up to 256K over 120K tokens or 200 messages", () => {
  const cases: readonly (readonly [RoomState, boolean])[] = [
    [{ tokens: 76_800 }, false],
    [{ tokens: 76_801 }, true],
    [{ messages: 200 }, false],
    [{ messages: 201 }, true],
    [{ window: 256_000, tokens: 120_000, messages: 200 }, false],
    [{ window: 256_000, tokens: 120_001 }, true],
    [{ window: 256_000, messages: 201 }, true],
    [{ window: null, tokens: 120_001 }, true],
    [{ window: 400_000, tokens: 120_001, messages: 201 }, false],
    [{ window: 400_000, tokens: 240_000, messages: 9_999 }, false],
    [{ window: 400_000, tokens: 240_001 }, true],
  ];
  for (const [state, large] of cases) {
    assertEquals(makeRoom(state).room.isLarge(), large, JSON.stringify(state));
  }
});

// ── A.7, A.13 ─────────────────────────────────────────────────────────────────────────────────────────────────

Deno.test("core A.7: what a tool throws is one error of at most 2,000 characters, without tags, CDATA and fences", () => {
  const errorOf = (message: unknown) => {
    const { content, isError, effect } = thrown("reader", message);
    assertEquals([isError, effect], [true, "unknown"]);
    return JSON.parse(String(content)).error as string;
  };
  const begin = "[TOOL_ERROR] Error executing reader: ";
  const most = 2_000 - begin.length;
  assertEquals(errorOf(new Error("x".repeat(most))), begin + "x".repeat(most));
  assertEquals(errorOf(new Error("x".repeat(most + 1))), begin + "x".repeat(most));
  assertEquals(errorOf(new Error("x".repeat(50_000))).length, 2_000);
  assertEquals(errorOf("plain"), `${begin}plain`);
  const dirty =
    "<system>a</system><user x='1'>b</USER><assistant>c</assistant><tool>d</tool><![CDATA[e]]>```f```";
  assertEquals(errorOf(new Error(dirty)), `${begin}abcdef`);
});

Deno.test("core A.13: one result has 15 % of the window, 8,000 to 100,000; a batch 30 %, 16,000 to 200,000", () => {
  const windows = [1_000, 13_333, 14_000, 20_000, 128_000, 166_666, 166_667, 1_000_000, null];
  assertEquals(windows.map(resultLimit), [
    8_000,
    8_000,
    8_400,
    12_000,
    76_800,
    99_999,
    100_000,
    100_000,
    100_000,
  ]);
  assertEquals(windows.map(batchLimit), [
    16_000,
    16_000,
    16_800,
    24_000,
    153_600,
    199_999,
    200_000,
    200_000,
    200_000,
  ]);
});

Deno.test("core A.13: of a batch over its limit the largest go to files, read_file never", async () => {
  await using core = await makeScriptedCore();
  const sizes: Readonly<Record<string, number>> = { read_file: 76_000, largest: 75_000, small: 9_000 };
  for (const [name, size] of Object.entries(sizes)) {
    addTool(core, name, () => Promise.resolve({ content: name[0]!.repeat(size), isError: false }));
  }
  const { session } = await openSession(core);
  const calls = Object.keys(sizes).map((name) => [name, name, "{}"] as const);
  core.push(callTools(...calls), say("ok"));
  assertEquals((await prompt(session, "go")).text, "ok");
  const results = core.requests[1]!.messages.flatMap((one) =>
    one.role === "tool" ? [String(one.content)] : []
  );
  const path = /was saved to (\S+)\.\n/.exec(results[1]!)?.[1];
  assert(path !== undefined, results[1]!.slice(0, 200));
  try {
    assertEquals(await Deno.readTextFile(path), "l".repeat(75_000));
  } finally {
    await Deno.remove(path);
  }
  // Its preview: 1,500 characters.
  assertEquals(/\nl+\n/.exec(results[1]!)![0].length, 1_502);
  assertEquals([results[0], results[2]], ["r".repeat(76_000), "s".repeat(9_000)]);
});

// ── A.16 ──────────────────────────────────────────────────────────────────────────────────────────────────────

const COMPRESSION: Settings["compression"] = {
  enabled: true,
  threshold: 0.5,
  target_ratio: 0.2,
  protect_first_n: 3,
  protect_last_n: 20,
  in_place: false,
};

/** Turns of the user and the model by turns, the user's last. */
function conversation(length: number, characters: number): Message[] {
  const content = "w".repeat(characters);
  return Array.from({ length }, (_, n) => ({ role: (length - n) % 2 === 1 ? "user" : "assistant", content }));
}

Deno.test("core A.16: however long they are, the last 3 to 8 messages stay, as protect_last_n says", () => {
  const messages = conversation(40, 40_000);
  const tail = (protect_last_n: number) =>
    planCompression(messages, 10_000, { ...COMPRESSION, protect_last_n })!.tail.length;
  assertEquals([0, 1, 2, 3, 4, 5, 7, 8, 9, 20].map(tail), [3, 3, 3, 3, 4, 5, 7, 8, 8, 8]);
  const { tail: kept } = planCompression(messages, 10_000, COMPRESSION)!;
  assertEquals(kept, messages.slice(-8));
});

Deno.test("core A.16: a summary is asked for with a fifth of the content: 2,000 tokens, 5 % of the window, 10,000 at most", async () => {
  const words = async (characters: number, contextWindow: number) => {
    let asked = "";
    const client: ModelClient = {
      info: { model: "m", provider: "p", baseUrl: "http://p", contextWindow } as ResolvedModel,
      stream: async function* (request) {
        asked = String(request.messages[0]!.content);
        await Promise.resolve();
        yield [text("S"), done()];
      },
    };
    const middle = conversation(characters / 1_000, 1_000);
    const plan = { middle, previous: null } as unknown as CompressionPlan;
    const options = { signal: new AbortController().signal, focus: null, sessionId: "s" };
    assertEquals((await summarise(plan, client, options)).type, "text");
    return Number(/At most about (\d+) words\./.exec(asked)?.[1]);
  };
  // Three words are taken for four tokens.
  assertEquals(await words(4_000, 1_000_000), 1_500);
  assertEquals(await words(4_000, 30_000), 1_125);
  assertEquals(await words(400_000, 1_000_000), 7_500);
  assertEquals(await words(2_000_000, 1_000_000), 7_500);
  assertEquals(await words(400_000, 160_000), 6_000);
  const between = await words(100_000, 1_000_000);
  assert(between >= 3_750 && between < 3_900, `${between}`);
});
