import { assertEquals } from "../../support/assert.ts";
import type { Hermes } from "../../../src/app/mod.ts";
import type { Ask, AskOutcome, CoreEvent, CoreEventBody, TurnResult } from "../../../src/core/mod.ts";
import { NO_USAGE } from "../../../src/core/mod.ts";
import { Audience, Dialects } from "../../../src/protocols/gateway/audience.ts";
import { Questions } from "../../../src/protocols/gateway/questions.ts";
import { renderCompletion, type RenderTarget, TurnRenderer } from "../../../src/protocols/gateway/render.ts";

const SECRET = "sk-secret";

/** As much of the facade as the renderer uses. */
const hermes = {
  redact: (text: string) => text.replaceAll(SECRET, "***"),
  config: { env: () => undefined },
} as unknown as Hermes;

class Recorder implements RenderTarget {
  readonly sent: [string, unknown?][] = [];
  progress = "all";
  isTitling = false;
  readonly #renderer = new TurnRenderer(hermes, this);
  readonly #questions = new Questions(hermes, {
    sid: "s",
    audience: new Audience(new Dialects()),
    asks: () => [],
    emitTo: (dialect, type, payload) => dialect === "events" && this.emit(type, payload),
    closing: () => null,
  });

  emit(type: string, payload?: Record<string, unknown>): void {
    this.sent.push(payload === undefined ? [type] : [type, payload]);
  }
  emitText(type: string, text: string): void {
    this.sent.push([type, text]);
  }
  emitInfo(): void {
    this.sent.push(["session.info"]);
  }
  askOpened = (ask: Ask) => this.#questions.opened(ask);
  askClosed = (ask: Ask, outcome: AskOutcome) => this.#questions.closed(ask, outcome);
  usage = () => ({ input: 1, output: 2, total: 3, calls: 1 });
  toolProgress = () => this.progress;
  titling = () => this.isTitling;
  storedId = () => "20260801_101500_9be2f1";
  title = () => "A title";
  toolId = (id: string) => id;

  play(...bodies: CoreEventBody[]): [string, unknown?][] {
    this.sent.length = 0;
    for (const body of bodies) {
      this.#renderer.render({ ...body, sessionId: "s", turnId: "t", seq: 1 } as CoreEvent);
    }
    return this.sent;
  }

  types(...bodies: CoreEventBody[]): string[] {
    return this.play(...bodies).map(([type]) => type);
  }
}

const START: CoreEventBody = { type: "turn.start", text: "hi", userRowId: 1 };
const STEP: CoreEventBody = { type: "step.start", step: 1 };

function toolStart(id: string, name = "terminal"): CoreEventBody {
  return {
    type: "tool.start",
    waiting: false,
    call: {
      id,
      name,
      args: { command: "ls" },
      description: { title: "terminal: ls", label: "ls", kind: "execute", locations: [], startText: "" },
    },
  };
}

function toolEnd(id: string, fields: Partial<CoreEventBody & { type: "tool.end" }> = {}): CoreEventBody {
  const { call } = toolStart(id) as CoreEventBody & { type: "tool.start" };
  return {
    type: "tool.end",
    call,
    result: '{"output":"a","exit_code":0}',
    isError: false,
    durationMs: 1234.56,
    edits: [],
    todos: null,
    refused: null,
    ...fields,
  };
}

function result(fields: Partial<TurnResult> = {}): TurnResult {
  return {
    outcome: "completed",
    text: "Done.",
    reasoning: "",
    exitReason: "text_response(finish_reason=stop)",
    partial: false,
    failure: null,
    usage: NO_USAGE,
    apiCalls: 1,
    model: "m1",
    provider: "p1",
    pendingSteer: null,
    userRowId: 1,
    ...fields,
  };
}

function ask(payload: Ask["payload"]): Ask {
  return {
    id: "0d9c41aa" + "0".repeat(24),
    sessionId: "s",
    turnId: "t",
    callId: "call_1",
    toolName: "terminal",
    payload,
    timeoutMs: 1000,
    openedAt: 0,
  };
}

Deno.test("a plain turn is start, status line, deltas, completion", () => {
  const sent = new Recorder().play(
    START,
    STEP,
    { type: "text.delta", text: "Do" },
    { type: "text.delta", text: "ne." },
    { type: "text.end", text: "Done.", final: true },
    { type: "usage", usage: NO_USAGE, total: NO_USAGE },
    { type: "turn.end", result: result() },
  );
  assertEquals(sent, [
    ["message.start"],
    ["thinking.delta", { text: "waiting for the model" }],
    ["thinking.delta", { text: "" }],
    ["message.delta", "Do"],
    ["message.delta", "ne."],
    ["message.complete", {
      text: "Done.",
      usage: { input: 1, output: 2, total: 3, calls: 1, model: "m1" },
      status: "complete",
    }],
  ]);
});

Deno.test("a blank line parts the texts around a tool batch, once, and only where there was text before", () => {
  const recorder = new Recorder();
  const texts = (...bodies: CoreEventBody[]) =>
    recorder.play(START, ...bodies).filter(([type]) => type === "message.delta").map(([, text]) => text);
  assertEquals(
    texts(
      { type: "text.delta", text: "A" },
      { type: "text.end", text: "A", final: false },
      toolStart("c1"),
      toolEnd("c1"),
      { type: "text.delta", text: "B" },
      { type: "text.delta", text: "C" },
    ),
    ["A", "\n\nB", "C"],
  );
  assertEquals(texts(toolStart("c1"), toolEnd("c1"), { type: "text.delta", text: "B" }), ["B"]);
});

Deno.test("reasoning goes out as deltas and, finished, cut to 500 characters", () => {
  const sent = new Recorder().play(
    { type: "reasoning.delta", text: "hm" },
    { type: "reasoning.end", text: "h".repeat(600) },
  );
  assertEquals(sent, [["reasoning.delta", "hm"], ["reasoning.available", { text: "h".repeat(500) }]]);
});

Deno.test("tool.generating comes once per name and model call", () => {
  const gen = (name: string): CoreEventBody => ({ type: "tool.generating", name });
  assertEquals(
    new Recorder().types(START, gen("a"), gen("a"), gen("b"), STEP, gen("a")),
    [
      "message.start",
      "tool.generating",
      "tool.generating",
      "thinking.delta",
      "thinking.delta",
      "tool.generating",
    ],
  );
});

Deno.test("tool.complete carries the parsed result, seconds, the diff with secrets out, and the error", () => {
  const recorder = new Recorder();
  assertEquals(recorder.play(toolStart("c1"), toolEnd("c1"))[1], ["tool.complete", {
    tool_id: "c1",
    name: "terminal",
    args: { command: "ls" },
    duration_s: 1.235,
    result: { output: "a", exit_code: 0 },
  }]);
  const edits = [{ path: "/w/a.txt", oldText: `x\n${SECRET}\n`, newText: "x\ny\n" }];
  const [, edited] = recorder.play(toolStart("c1"), toolEnd("c1", { edits }))[1]!;
  assertEquals(
    (edited as { inline_diff: string }).inline_diff,
    "--- /w/a.txt\n+++ /w/a.txt\n@@ -1,2 +1,2 @@\n x\n-***\n+y\n",
  );
  const [, failed] = recorder.play(
    toolStart("c1"),
    toolEnd("c1", { isError: true, result: "plain text" }),
  )[1]!;
  assertEquals([(failed as { error: string }).error, (failed as { result: string }).result], [
    "plain text",
    "plain text",
  ]);
});

Deno.test("tool.complete sums up a call whose tool has words for it, unless it failed (C.2)", () => {
  const { call } = toolEnd("c1") as CoreEventBody & { type: "tool.end" };
  const described = { ...call, description: { ...call.description, done: "Extracted 3 pages" } };
  const summary = (durationMs: number, isError = false) => {
    const [, complete] = new Recorder().play(
      toolStart("c1"),
      toolEnd("c1", { call: described, durationMs, isError }),
    );
    return (complete![1] as { summary?: string }).summary;
  };
  assertEquals([1_400, 9_940, 9_960, 12_300, 59_400, 59_600, 125_000].map((ms) => summary(ms)), [
    "Extracted 3 pages in 1.4s",
    "Extracted 3 pages in 9.9s",
    "Extracted 3 pages in 10s",
    "Extracted 3 pages in 12s",
    "Extracted 3 pages in 59s",
    "Extracted 3 pages in 1m 0s",
    "Extracted 3 pages in 2m 5s",
  ]);
  assertEquals(summary(1_400, true), undefined);
});

Deno.test("a call that was never announced has no tool.complete", () => {
  assertEquals(new Recorder().types(toolEnd("ghost", { refused: "policy" })), []);
});

Deno.test("tool-progress mode off leaves only completions with a diff; verbose adds texts", () => {
  const recorder = new Recorder();
  recorder.progress = "off";
  const edits = [{ path: "/w/a.txt", oldText: null, newText: "x\n" }];
  const progress: CoreEventBody = { type: "tool.progress", callId: "c1", name: "terminal", text: "…" };
  const generating: CoreEventBody = { type: "tool.generating", name: "terminal" };
  const thought: CoreEventBody = { type: "reasoning.end", text: "x" };
  assertEquals(recorder.types(generating, toolStart("c1"), progress, toolEnd("c1"), thought), []);
  assertEquals(recorder.types(toolStart("c2"), toolEnd("c2", { edits })), ["tool.complete"]);
  recorder.progress = "verbose";
  const [start, complete] = recorder.play(toolStart("c3"), toolEnd("c3"));
  assertEquals((start![1] as { args_text: string }).args_text, '{\n  "command": "ls"\n}');
  assertEquals((complete![1] as { result_text: string }).result_text, '{"output":"a","exit_code":0}');
});

Deno.test("an approval is asked under eight digits of its id, with what may be chosen", () => {
  const payload = {
    kind: "approval",
    command: "rm -rf build",
    description: "recursive delete",
    patternKey: "recursive delete",
    patternKeys: ["recursive delete"],
    choices: ["once", "session", "deny"],
  } as const;
  assertEquals(new Recorder().play({ type: "ask.open", ask: ask(payload) }), [["approval.request", {
    request_id: "0d9c41aa",
    command: "rm -rf build",
    description: "recursive delete",
    pattern_key: "recursive delete",
    pattern_keys: ["recursive delete"],
    allow_permanent: false,
    allow_session: true,
    choices: ["once", "session", "deny"],
    tool_name: "terminal",
    tool_id: "call_1",
  }]]);
});

Deno.test("an edit is asked about with its whole diff, the file named, secrets out", () => {
  const payload = {
    kind: "edit",
    description: "sensitive file",
    choices: ["once", "deny"],
    proposal: {
      toolName: "write_file",
      path: ".env",
      oldText: null,
      newText: `KEY=${SECRET}\n`,
      arguments: {},
      paths: ["/w/.env"],
      edits: [{ path: "/w/.env", oldText: null, newText: `KEY=${SECRET}\n` }],
    },
  } as const;
  const [[type, sent]] = new Recorder().play({ type: "ask.open", ask: ask(payload) }) as [[string, unknown]];
  const { command, description } = sent as { command: string; description: string };
  assertEquals(type, "approval.request");
  assertEquals(description, "sensitive file: .env");
  assertEquals(command, "--- /dev/null\n+++ /w/.env\n@@ -0,0 +1,1 @@\n+KEY=***\n");
});

Deno.test("only a timeout makes an expire event, and never for clarify", () => {
  const approval = {
    kind: "approval",
    command: "x",
    description: "",
    patternKey: "",
    patternKeys: [],
    choices: ["once", "deny"],
  } as const;
  const clarify = { kind: "clarify", question: "?", choices: null } as const;
  const close = (payload: Ask["payload"], type: "timeout" | "cancelled"): CoreEventBody => ({
    type: "ask.close",
    ask: ask(payload),
    outcome: { type },
  });
  const recorder = new Recorder();
  assertEquals(recorder.play(close(approval, "timeout")), [["approval.expire", { request_id: "0d9c41aa" }]]);
  assertEquals(recorder.play(close({ kind: "sudo", command: "x" }, "timeout")), [
    ["sudo.expire", { request_id: "0d9c41aa" }],
  ]);
  assertEquals(recorder.play(close(approval, "cancelled"), close(clarify, "timeout")), []);
});

Deno.test("a title that came by itself is told as session.title, one that was set is not", () => {
  const recorder = new Recorder();
  const change: CoreEventBody = { type: "session.change", what: "title" };
  assertEquals(recorder.play(change), [
    ["session.title", { session_id: "20260801_101500_9be2f1", title: "A title" }],
    ["session.info"],
  ]);
  recorder.isTitling = true;
  assertEquals(recorder.play(change), [["session.info"]]);
});

Deno.test("a failed turn has an error event before its completion (H 18)", () => {
  const failure = {
    kind: "auth",
    message: "401 bad key",
    provider: "p",
    model: "m",
    retryable: false,
  } as const;
  const sent = new Recorder().play({
    type: "turn.end",
    result: result({ outcome: "failed", text: "", failure }),
  });
  assertEquals(sent.map(([type]) => type), ["error", "message.complete"]);
  assertEquals(sent[0]![1], { message: "401 bad key" });
});

Deno.test("renderCompletion() tells apart how turns end", () => {
  const of = (fields: Partial<TurnResult>) => {
    const { usage: _, ...rest } = renderCompletion(result(fields), {});
    return rest;
  };
  const failure = { kind: "auth", message: "401", provider: "p", model: "m", retryable: false } as const;
  assertEquals(of({}), { text: "Done.", status: "complete" });
  assertEquals(of({ outcome: "cancelled", text: "par", partial: true }), {
    text: "par",
    status: "interrupted",
  });
  assertEquals(of({ outcome: "failed", text: "", failure }), {
    text: "Error: 401",
    status: "error",
    error: "401",
    failure_reason: "auth",
    recoverable: false,
  });
  assertEquals(of({ outcome: "failed", text: "half", partial: true, failure })["partial"], true);
  assertEquals(of({ outcome: "refused", text: "no", failure })["failure_reason"], "content_filter");
  assertEquals(of({ outcome: "max_tokens", partial: true }), {
    text: "Done.",
    status: "complete",
    warning: "The output limit ended the answer early",
    partial: true,
  });
  const stopped = of({
    outcome: "max_turns",
    partial: true,
    exitReason: "budget_exhausted(session.tokens)",
    warning: "not saved",
  });
  const text = "The budget of tokens for this session is used up; budgets.session.tokens raises it";
  assertEquals(stopped, {
    text: "Done.",
    status: "complete",
    warning: `not saved; ${text}`,
    partial: true,
    "hermes.limit": { kind: "tokens", setting: "budgets.session.tokens", text },
  });
  assertEquals(of({ reasoning: "hm", warning: "not saved" }), {
    text: "Done.",
    status: "complete",
    reasoning: "hm",
    warning: "not saved",
  });
  assertEquals(of({ pendingSteer: "left" })["steer_requeued"], "left");
});
