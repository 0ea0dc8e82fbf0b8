import { untilAborted } from "../../support/abort.ts";
import type { Ask, CoreEventBody, ToolCallView } from "@/core/mod.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { collectSse, contentOf, readSse, type SseFrame } from "../../support/api_driver.ts";
import { eventually } from "../../support/program.ts";
import { createClient, createFakeHermes, type Play, resultOf, userSays } from "./fake_hermes.ts";

function callOf(id: string, name = "terminal"): ToolCallView {
  const description = {
    title: `${name}: ls`,
    label: "ls",
    kind: "execute",
    locations: [],
    startText: "",
  } as const;
  return { id, name, args: {}, description };
}

function toolStart(id: string, name?: string): CoreEventBody {
  return { type: "tool.start", call: callOf(id, name), waiting: false };
}

function toolEnd(id: string, name?: string): CoreEventBody {
  return {
    type: "tool.end",
    call: callOf(id, name),
    result: "ok",
    isError: false,
    durationMs: 1,
    edits: [],
    todos: null,
    refused: null,
  };
}

function text(text: string): CoreEventBody {
  return { type: "text.delta", text };
}

async function streamOf(
  play: Play,
  extra: Record<string, unknown> = {},
  settings: Record<string, unknown> = {},
): Promise<SseFrame[]> {
  const fake = createFakeHermes(settings);
  fake.play = play;
  const response = await createClient(fake).chat({ ...userSays("hi"), stream: true, ...extra });
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "text/event-stream");
  assertEquals(response.headers.get("cache-control"), "no-cache");
  assertEquals(response.headers.get("x-accel-buffering"), "no");
  return await collectSse(response);
}

/** Frames without what is the same in each of them, which is checked here. */
function bare(frames: readonly SseFrame[]): unknown[] {
  const [first] = frames;
  return frames.map((frame) => {
    if (!frame.json) return frame.data;
    const { id, object, created, model, ...rest } = frame.json;
    assertEquals([id, created, object, model], [
      first!.json.id,
      first!.json.created,
      "chat.completion.chunk",
      "hermes-agent",
    ]);
    assert(Array.isArray(frame.json.choices));
    return frame.event ? { event: frame.event, ...rest } : rest;
  });
}

const choice = (delta: unknown, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const ROLE = choice({ role: "assistant", content: "" });
const USAGE = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };

Deno.test("api 19: role chunk, deltas, finish with usage, [DONE]", async () => {
  const frames = await streamOf(({ publish }) => {
    publish(text("Hel"));
    publish(text("lo!"));
    publish({ type: "text.end", text: "Hello!", final: true });
    return resultOf();
  });
  assertEquals(bare(frames), [
    ROLE,
    choice({ content: "Hel" }),
    choice({ content: "lo!" }),
    { ...choice({}, "stop"), usage: USAGE },
    "[DONE]",
  ]);
});

Deno.test("api 20, FC-23: with include_usage the usage is a chunk of its own, and null on all others", async () => {
  const frames = await streamOf(({ publish }) => {
    publish(text("Hello!"));
    publish(toolStart("c1"));
    return resultOf();
  }, { stream_options: { include_usage: true } });
  assertEquals(bare(frames), [
    { ...ROLE, usage: null },
    { ...choice({ content: "Hello!" }), usage: null },
    {
      event: "hermes.tool.progress",
      choices: [],
      usage: null,
      tool: "terminal",
      emoji: "💻",
      label: "ls",
      toolCallId: "c1",
      status: "running",
    },
    { ...choice({ content: "\n\n" }), usage: null },
    { ...choice({ content: "Hello!" }), usage: null },
    { ...choice({}, "stop"), usage: null },
    { choices: [], usage: USAGE },
    "[DONE]",
  ]);
});

Deno.test("api 21: tool progress is a chunk too; underscore tools, calls without id and orphans are not shown", async () => {
  const frames = await streamOf(({ publish }) => {
    publish(toolStart("c1"));
    publish({ type: "tool.progress", callId: "c1", name: "terminal", text: "half" });
    publish(toolEnd("c1"));
    publish(toolStart("c2", "_secret"));
    publish(toolEnd("c2", "_secret"));
    publish(toolStart("", "terminal"));
    publish(toolEnd("c9"));
    publish(text("done"));
    return resultOf({ text: "done" });
  });
  assertEquals(bare(frames).slice(1, 4), [
    {
      event: "hermes.tool.progress",
      choices: [],
      tool: "terminal",
      emoji: "💻",
      label: "ls",
      toolCallId: "c1",
      status: "running",
    },
    { event: "hermes.tool.progress", choices: [], tool: "terminal", toolCallId: "c1", status: "completed" },
    choice({ content: "done" }),
  ]);
});

Deno.test("tool progress can be turned off", async () => {
  const frames = await streamOf(
    ({ publish }) => {
      publish(toolStart("c1"));
      publish(toolEnd("c1"));
      return resultOf();
    },
    {},
    { tool_progress_events: false },
  );
  assertEquals(frames.filter((frame) => frame.event), []);
});

Deno.test("FC-23: the joined content is the model's text, a blank line where tools ran, one finish at the end", async () => {
  const frames = await streamOf(({ publish }) => {
    publish(text("one"));
    publish({ type: "text.end", text: "one", final: false });
    publish(toolStart("c1"));
    publish(toolStart("c2"));
    publish(toolEnd("c1"));
    publish(toolEnd("c2"));
    publish(text("two"));
    publish({ type: "text.end", text: "two", final: false });
    publish(toolStart("c3"));
    publish(toolEnd("c3"));
    publish(text("three"));
    publish({ type: "text.end", text: "three", final: true });
    return resultOf({ text: "three" });
  });
  assertEquals(contentOf(frames), "one\n\ntwo\n\nthree");
  const finishes = frames.map((frame) => frame.json?.choices[0]?.finish_reason).filter((reason) => reason);
  assertEquals(finishes, ["stop"]);
  assertEquals(frames.at(-2)!.json.choices[0].finish_reason, "stop");
});

Deno.test("a text that was not streamed is sent before the finish; one that was is not sent twice", async () => {
  assertEquals(contentOf(await streamOf(() => resultOf())), "Hello!");
  const frames = await streamOf(({ publish }) => {
    publish(text("The answer"));
    publish({ type: "text.end", text: "The answer", final: false });
    publish(toolStart("c1"));
    publish(toolEnd("c1"));
    return resultOf({ text: "The answer" });
  });
  assertEquals(contentOf(frames), "The answer");
});

Deno.test("api 23: a failure after the head is in the finish chunk, redacted, and the stream ends cleanly", async () => {
  const failure = {
    kind: "connection",
    message: "reset sk-secret-0123456789",
    provider: "custom",
    model: "scripted",
    retryable: true,
  } as const;
  const frames = await streamOf(({ publish }) => {
    publish(text("ha"));
    publish({ type: "text.end", text: "ha", final: true });
    return resultOf({ outcome: "failed", text: "ha", failure, partial: true });
  });
  assertEquals(bare(frames).slice(2), [
    {
      ...choice({}, "error"),
      usage: USAGE,
      error: { message: "reset ***", type: "server_error", code: "agent_error" },
      hermes: {
        completed: false,
        partial: true,
        failed: true,
        error: "reset ***",
        error_code: "agent_error",
      },
    },
    "[DONE]",
  ]);
});

Deno.test("truncation finishes with length and the hermes block, but without an error key", async () => {
  const frames = await streamOf(({ publish }) => {
    publish(text("half"));
    return resultOf({ outcome: "max_tokens", text: "half", partial: true });
  });
  const finish = frames.at(-2)!.json;
  assertEquals(finish.choices[0].finish_reason, "length");
  assertEquals(finish.hermes.error_code, "output_truncated");
  assertEquals("error" in finish, false);
});

Deno.test("status and approvals ride in the hermes field of a chunk", async () => {
  const ask: Ask = {
    id: "a".repeat(32),
    sessionId: "s",
    turnId: "turn1",
    callId: "c1",
    toolName: "terminal",
    payload: {
      kind: "approval",
      command: "rm -rf build",
      description: "recursive delete",
      patternKey: "recursive_delete",
      patternKeys: ["recursive_delete"],
      choices: ["once", "session", "deny"],
    },
    timeoutMs: 1000,
    openedAt: 1500,
  };
  const frames = await streamOf(({ publish }) => {
    publish({ type: "status", kind: "retry", text: "waiting" });
    publish({ type: "ask.open", ask });
    return resultOf();
  });
  const [, status, approval] = frames;
  assertEquals([status!.event, status!.json.hermes], [
    "hermes.status",
    { status: { kind: "retry", text: "waiting" } },
  ]);
  assertEquals(status!.json.choices, []);
  assertEquals([approval!.event, approval!.json.choices, approval!.json.hermes], ["approval.request", [], {
    approval: {
      event: "approval.request",
      run_id: frames[0]!.json.id,
      timestamp: 1.5,
      request_id: "a".repeat(32),
      tool_call_id: "c1",
      command: "rm -rf build",
      description: "recursive delete",
      pattern_key: "recursive_delete",
      pattern_keys: ["recursive_delete"],
      allow_permanent: false,
      allow_session: true,
      choices: ["once", "session", "deny"],
    },
  }]);
});

Deno.test("reasoning is streamed only with the gate on", async () => {
  const play: Play = ({ publish }) => {
    publish({ type: "reasoning.delta", text: "hm" });
    return resultOf();
  };
  const reasoning = (frames: SseFrame[]) =>
    frames.flatMap((frame) => frame.json?.choices[0]?.delta?.reasoning_content ?? []);
  assertEquals(reasoning(await streamOf(play)), []);
  assertEquals(reasoning(await streamOf(play, {}, { show_reasoning: true })), ["hm"]);
});

Deno.test("a huge delta is cut into several, never inside a character", async () => {
  const long = "😀".repeat(30_000);
  const frames = await streamOf(({ publish }) => {
    publish(text(long));
    return resultOf({ text: long });
  });
  assertEquals(contentOf(frames), long);
  assert(frames.every((frame) => (frame.data?.length ?? 0) < 20_000));
});

Deno.test("line separators of other readers go out escaped", async () => {
  const fake = createFakeHermes();
  fake.play = ({ publish }) => {
    publish(text("a\u2028b\u0085c\nd\re"));
    return resultOf({ text: "a\u2028b\u0085c\nd\re" });
  };
  const response = await createClient(fake).chat({ ...userSays("hi"), stream: true });
  const wire = await response.clone().text();
  assertEquals(/[\u2028\u2029\u0085\r]/.test(wire), false);
  assertEquals(contentOf(await collectSse(response)), "a\u2028b\u0085c\nd\re");
});

Deno.test("api 24, FC-06: leaving the stream cancels its turn and frees its slot", async () => {
  const fake = createFakeHermes();
  const ended = Promise.withResolvers<void>();
  fake.play = async ({ publish, signal }) => {
    publish(text("first"));
    await untilAborted(signal);
    ended.resolve();
    return resultOf({ outcome: "cancelled", text: "first" });
  };
  const { chat, api } = createClient(fake);
  const response = await chat({ ...userSays("hi"), stream: true });
  for await (const frame of readSse(response)) if (frame.json.choices[0].delta.content) break;
  await ended.promise;
  await api.admission.whenIdle();
  assertEquals(fake.submitted[0]!.cancelled, true);
});

Deno.test("api 22: a quiet stream gets keep-alive comments", async () => {
  const fake = createFakeHermes();
  const enough = Promise.withResolvers<void>();
  fake.play = async () => {
    await enough.promise;
    return resultOf();
  };
  const { chat } = createClient(fake, { keepaliveMs: 5 });
  const response = await chat({ ...userSays("hi"), stream: true });
  let comments = 0;
  for await (const frame of readSse(response)) {
    if (frame.comment === "keepalive" && ++comments === 3) enough.resolve();
  }
  assert(comments >= 3);
});

Deno.test("frames of one tick leave as one chunk, and a reader that takes nothing holds the turn back", async () => {
  const fake = createFakeHermes();
  let waited = 0;
  fake.play = async ({ publish }) => {
    publish(text("a"));
    publish(text("b"));
    for (let i = 0; i < 40; i++) {
      const full = publish(text("x".repeat(8_000)));
      if (full) {
        waited++;
        await full;
      } else await Promise.resolve();
    }
    return resultOf({ text: "x" });
  };
  const response = await createClient(fake).chat({ ...userSays("hi"), stream: true });
  const reader = response.body!.getReader();
  await eventually(() => waited === 1);
  const next = async () => new TextDecoder().decode((await reader.read()).value);
  assertEquals((await next()).match(/^data: /gm)?.length, 1);
  let rest = await next();
  assertMatch(rest, /"content":"a"[^\n]*\n\ndata: [^\n]*"content":"b"/);
  for (let text = await next(); text !== ""; text = await next()) rest += text;
  assertEquals(rest.match(/"content":"x{8000}"/g)?.length, 40);
  assertMatch(rest, /data: \[DONE\]\n\n$/);
});
