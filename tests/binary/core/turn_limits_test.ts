/**
 * Which limit ended a turn, said by every surface of the real program: exit code 5 and `hermes.limit` of `hermes run`,
 * ACP's `max_turn_requests` (acp.md C5), the gateway's `message.complete` (tui-gateway.md C.1), and the answers of the
 * API (api-server.md B1.3, B2.2, B4.3). The limits: `budgets.*`, `agent.max_turns` (core.md A.6), guardrails (A.14).
 */
import { withAcp } from "../../support/acp_driver.ts";
import { collectSse, startApi } from "../../support/api_driver.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { call, calling } from "../../support/core_driver.ts";
import { type ModelServerOptions, startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, runProgram } from "../../support/program.ts";
import { ask, eventsOf, startRun, untilStatus } from "../api/run_scene.ts";
import { withGateway } from "../gateway/scene.ts";

interface Limited {
  readonly config: Record<string, unknown>;
  readonly limit: { readonly kind: string; readonly setting: string; readonly text: string };
  readonly exitReason: string;
  /** `error_code` of Chat Completions, `incomplete_details.reason` of a response. */
  readonly code: string;
}

function budget(scope: string, kind: string, most: number, text: string): Limited {
  const setting = `budgets.${scope}.${kind}`;
  return {
    config: { budgets: { [scope]: { [kind]: most } } },
    limit: { kind, setting, text: `The budget of ${text} is used up; ${setting} raises it` },
    exitReason: `budget_exhausted(${scope}.${kind})`,
    code: "budget_exhausted",
  };
}

const LIMITS: readonly Limited[] = [
  budget("prompt", "model_calls", 1, "model calls for this prompt"),
  budget("session", "tokens", 1, "tokens for this session"),
  budget("day", "usd", 0, "money for today"),
  budget("prompt", "seconds", 0.001, "time for this prompt"),
  {
    config: { agent: { max_turns: 2 } },
    limit: {
      kind: "iterations",
      setting: "agent.max_turns",
      text: "The iteration budget is used up (2 model calls in one turn); agent.max_turns raises it",
    },
    exitReason: "max_iterations_reached(2/2)",
    code: "max_iterations",
  },
  {
    config: { tool_loop_guardrails: { hard_stop_enabled: true, hard_stop_after: { same_tool_failure: 2 } } },
    limit: {
      kind: "guardrail",
      setting: "tool_loop_guardrails.hard_stop_after",
      text:
        "The model went in circles and a guardrail stopped it; tool_loop_guardrails.hard_stop_after says when",
    },
    exitReason: "guardrail_halt",
    code: "guardrail_halt",
  },
];

/** A model that never comes to an end by itself: one failing look after the other, a summary where it has no tools. */
const RESTLESS: ModelServerOptions = {
  respond: ({ body }) =>
    (body.tools ?? []).length === 0 ? "A summary." : calling(call("read_file", { path: "nowhere.txt" })),
};

for (const { config, limit, exitReason, code } of LIMITS) {
  Deno.test(`run: ${limit.setting} ends it with exit code 5, and both outputs say which limit it was`, async () => {
    await using model = await startModelServer(RESTLESS);
    await using rig = await makeRig({ config: modelConfig(model.url, config) });
    const json = await runProgram(["run", "--json", "go"], { rig });
    const result = JSON.parse(json.stdout.trim().split("\n").at(-1)!);
    assertEquals([json.code, result.type, result.outcome, result.exit_code], [5, "result", "max_turns", 5]);
    assertEquals([result.exit_reason, result["hermes.limit"]], [exitReason, limit]);
    const text = await runProgram(["run", "go"], { rig });
    assertEquals([text.code, text.stderr.trim().split("\n").at(-1)], [5, `hermes: ${limit.text}`]);
    const chat = await runProgram(["chat", "go"], { rig });
    assert(`${chat.stdout}\n${chat.stderr}`.includes(limit.text), `${chat.stdout}\n${chat.stderr}`);
  });

  Deno.test(`acp 36: ${limit.setting} ends a prompt with max_turn_requests and _meta.hermes.limit`, async () => {
    await withAcp({ respond: RESTLESS.respond!, config }, async ({ acp, sessionId }) => {
      const answer = await acp.prompt(sessionId, "go");
      assertEquals([answer.stopReason, answer._meta], ["max_turn_requests", { hermes: { limit } }]);
    });
  });

  Deno.test(`gateway C.1: ${limit.setting} ends a turn with a warning, partial and hermes.limit`, async () => {
    await withGateway({ model: RESTLESS, config }, async ({ host }) => {
      const { sid } = await host.session();
      const { status, warning, partial, "hermes.limit": told } = await host.turn(sid, "go");
      assertEquals([status, warning, partial, told], ["complete", limit.text, true, limit]);
    });
  });

  Deno.test(`api B1.3, B2.2, B4.3: every route says that ${limit.setting} ended it`, async () => {
    await using model = await startModelServer(RESTLESS);
    await using api = await startApi({ model, config });
    const body = { messages: [{ role: "user", content: "go" }] };
    const block = {
      completed: false,
      partial: true,
      failed: false,
      error: limit.text,
      error_code: code,
      limit,
    };
    const plain = await api.chat(body);
    assertEquals(plain.headers.get("x-hermes-error"), limit.text);
    const { choices, hermes } = await plain.json();
    assertEquals([choices[0].finish_reason, hermes], ["length", block]);
    const chunks = await collectSse(await api.chat({ ...body, stream: true }));
    const last = chunks.findLast((frame) => frame.json?.choices?.[0]?.finish_reason)!.json;
    assertEquals([last.choices[0].finish_reason, last.hermes], ["length", block]);

    const whole = (await ask(api, "/v1/responses", { body: { input: "go" } })).body;
    const stored = (await ask(api, `/v1/responses/${whole.id}`)).body;
    const frames = await collectSse(await api.call("/v1/responses", { body: { input: "go", stream: true } }));
    for (const response of [whole, stored, frames.at(-2)!.json.response]) {
      const { status, incomplete_details, hermes } = response;
      assertEquals([status, incomplete_details, hermes], ["incomplete", { reason: code }, { limit }]);
    }

    const id = await startRun(api);
    const run = await untilStatus(api, id, "completed");
    const events = (await eventsOf(api, id)).flatMap((frame) => frame.json ? [frame.json] : []);
    const end = events.find((event) => event.event === "run.completed");
    for (const told of [run, end]) {
      assertEquals([told.partial, told.turn_exit_reason, told.hermes], [true, exitReason, { limit }]);
    }

    await ask(api, "/api/sessions", { body: { id: "here" } });
    const turn = await ask(api, "/api/sessions/here/chat", { body: { message: "go" } });
    assertEquals(turn.body.hermes, block);
    const stream = await api.call("/api/sessions/here/chat/stream", { body: { message: "go" } });
    const named = await collectSse(stream);
    for (const name of ["assistant.completed", "run.completed"]) {
      const { partial, turn_exit_reason, hermes } = named.find((frame) => frame.event === name)!.json;
      assertEquals([name, partial, turn_exit_reason, hermes], [name, true, exitReason, { limit }]);
    }
  });
}

Deno.test("gateway: money that was spent ends a turn; where HERMES_TUI_MAX_TURNS holds the steps it is named", async () => {
  const gold = { id: "gold", pricing: { prompt: "0.00001", completion: "0.00002" } };
  const scene = {
    model: { ...RESTLESS, models: ["scripted", gold] },
    config: { budgets: { prompt: { usd: 0.000001 } } },
    env: { HERMES_TUI_MAX_TURNS: "1" },
  };
  await withGateway(scene, async ({ host, model }) => {
    const { sid } = await host.session();
    const free = await host.turn(sid, "a");
    assertEquals(free["hermes.limit"], {
      kind: "iterations",
      setting: "HERMES_TUI_MAX_TURNS",
      text: "The iteration budget is used up (1 model call in one turn); HERMES_TUI_MAX_TURNS raises it",
    });
    await host.request("config.set", { key: "model", value: "gold", session_id: sid });
    const before = model.calls().length;
    const paid = await host.turn(sid, "b");
    assertEquals([paid["hermes.limit"].setting, model.calls().length - before], ["budgets.prompt.usd", 1]);
  });
});

Deno.test("a turn that came to its end has no hermes.limit, nor has one that the output cap cut", async () => {
  const cut = { steps: [{ text: "half" }, { finish: "length" }] };
  await withGateway({ model: { turns: ["whole", cut, cut, cut, cut] } }, async ({ host }) => {
    const { sid } = await host.session();
    assertEquals("hermes.limit" in await host.turn(sid, "a"), false);
    const short = await host.turn(sid, "b");
    assertEquals([short.partial, short.warning, "hermes.limit" in short], [
      true,
      "The output limit ended the answer early",
      false,
    ]);
  });
});
