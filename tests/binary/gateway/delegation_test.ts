/** Subagents against the real program: gateway row 68, core rows 71 and 72, and results that outlive a process. */
import { assert, assertEquals } from "../../support/assert.ts";
import type { GatewayHost, Json } from "../../support/gateway_driver.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { type ModelServerRequest, type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig, modelConfig } from "../../support/program.ts";
import { withGateway } from "./scene.ts";
import { withWsGateway } from "./ws_scene.ts";

type Answer = (request: ModelServerRequest) => ScriptTurn | null;

function systemOf(request: ModelServerRequest): string {
  return String(request.body.messages.find((one: Json) => one.role === "system")?.content ?? "");
}

const isChild = (request: ModelServerRequest) => systemOf(request).includes("You are a subagent");

function lastOf(request: ModelServerRequest): { role: string; content: string } {
  const last = request.body.messages.at(-1);
  return {
    role: last.role,
    content: typeof last.content === "string" ? last.content : JSON.stringify(last.content),
  };
}

/** A parent that hands over what it is told to, and tells what comes back. */
function scripted(child: Answer): (request: ModelServerRequest) => ScriptTurn {
  return (request) => {
    if (isChild(request)) return child(request) ?? "(nothing)";
    const { role, content } = lastOf(request);
    if (role === "tool") return `told: ${content.slice(0, 40)}`;
    if (content.includes("[ASYNC DELEGATION")) return "thanks";
    if (content.startsWith("delegate ")) {
      return { steps: [{ tool: "delegate_task", args: JSON.parse(content.slice(9)) }] };
    }
    return "hello";
  };
}

function payloads(host: GatewayHost, type: string, sid: string): Json[] {
  return host.eventsOf(type, sid).map((event) => event.payload);
}

const order = (args: Json) => `delegate ${JSON.stringify(args)}`;

Deno.test("core 71: a call of the top-level model returns at once, and its result comes as a later turn", async () => {
  const respond = scripted((request) =>
    lastOf(request).role === "tool"
      ? "the file says x"
      : { steps: [{ delay_ms: 100 }, { tool: "read_file", args: { path: "a.txt" } }] }
  );
  await withGateway({ model: { respond } }, async ({ host, rig, model }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "x");
    const { sid, stored } = await host.session({ cwd: rig.workspace });
    await host.request("prompt.submit", {
      session_id: sid,
      text: order({ goal: "read a.txt", context: "here" }),
    });
    const first = await host.event("message.complete", sid);
    assert(first.text.startsWith('told: {"status":"dispatched"'), first.text);
    const tool = await host.event("tool.complete", sid);
    assertEquals(tool.result.mode, "background");
    const end = await host.event("subagent.complete", sid);
    const last = await host.event("message.complete", sid, 1);
    assertEquals(last.text, "thanks");
    await host.idle(sid);

    assertEquals(
      [
        end.status,
        end.summary,
        end.goal,
        end.task_index,
        end.task_count,
        end.depth,
        end.parent_id,
        end.api_calls,
      ],
      ["completed", "the file says x", "read a.txt", 0, 1, 0, null, 2],
    );
    assertEquals(end.files_read, [`${rig.workspace}/a.txt`]);
    assertEquals(end.delegation_id, tool.result.delegation_id);
    const types = ["spawn_requested", "start", "tool", "progress", "complete"].map((name) =>
      `subagent.${name}`
    );
    const told = host.events.filter((event) => event.type.startsWith("subagent."));
    assertEquals(told.map((event) => event.type), types);
    assertEquals(new Set(told.map((event) => event.payload.subagent_id)).size, 1);
    assertEquals(told[2]!.payload.tool_name, "read_file");
    assert(host.indexOfEvent("message.complete", sid) < host.indexOfEvent("subagent.complete", sid));

    const { messages } = await host.request("session.history", { session_id: sid });
    const later = messages.filter((one: Json) => one.display_kind === "async_delegation");
    assertEquals(later.length, 1);
    assert(later[0].text.startsWith(`[ASYNC DELEGATION COMPLETE — ${tool.result.delegation_id}]`));
    const child = model.calls().filter(isChild)[0]!;
    const names = child.body.tools.map((one: Json) => one.function.name);
    for (const name of ["clarify", "memory", "delegate_task"]) assert(!names.includes(name), name);
    assertEquals(child.body.messages.filter((one: Json) => one.role !== "system"), [
      { role: "user", content: "read a.txt\n\nContext:\nhere" },
    ]);

    const { sessions } = await host.request("session.list");
    assertEquals(sessions.map((one: Json) => one.id), [stored]);
    const { usage } = host.eventsOf("session.info", sid).at(-1)!.payload;
    assertEquals(usage.calls, 5);
  });
});

Deno.test("gateway 68: a running child is listed, steered, watched and interrupted", async () => {
  let asked = 0;
  const respond = scripted((request) => {
    if (lastOf(request).role === "tool") return { steps: [{ text: "going on" }, { stall: true }] };
    asked++;
    return { steps: [{ delay_ms: 2_000 }, { tool: "todo", args: {} }] };
  });
  await withGateway({ model: { respond } }, async ({ host, model }) => {
    const { sid } = await host.session();
    const { sid: other } = await host.session();
    await host.turn(sid, order({ goal: "work" }));
    const { subagent_id, child_session_id } = await host.event("subagent.start", sid);
    const status = await host.request("delegation.status");
    assertEquals(status.active.length, 1);
    const [active] = status.active;
    assertEquals(
      [
        active.subagent_id,
        active.parent_id,
        active.depth,
        active.goal,
        active.status,
        active.child_session_id,
      ],
      [subagent_id, null, 0, "work", "running", child_session_id],
    );
    assertEquals(typeof active.started_at, "number");
    assertEquals(host.eventsOf("session.info", sid).at(-1)!.payload.usage.active_subagents, 1);

    const steer = { session_id: sid, subagent_id, text: "use the other door" };
    assertEquals(await host.request("subagent.steer", { ...steer, session_id: other }), {
      status: "rejected",
      subagent_id,
      text: steer.text,
    });
    assertEquals((await host.request("subagent.steer", steer)).status, "queued");
    await eventually(() => model.calls().filter(isChild)[1], 10_000, "the second call of the child");
    assert(lastOf(model.calls().filter(isChild)[1]!).content.includes("use the other door"));
    assertEquals(asked, 1);

    const listed = await host.request("subagent.list", { session_id: sid });
    assertEquals(listed.subagents.map((row: Json) => [row.subagent_id, row.goal]), [[subagent_id, "work"]]);
    assertEquals((await host.request("subagent.list", { session_id: other })).subagents, []);
    const tail = await host.request("subagent.tail", { session_id: sid, subagent_id });
    assertEquals([tail.available, tail.truncated, tail.text.split("\n")], [
      true,
      false,
      ["user: work", "[todo] "],
    ]);
    const foreign = await host.request("subagent.tail", { session_id: other, subagent_id });
    assertEquals(foreign, { subagent_id, available: false, text: "", truncated: false });
    assertEquals((await host.refused("subagent.tail", { session_id: sid })).code, 4000);
    assertEquals((await host.refused("subagent.list", {})).code, 4001);

    const watched = await host.request("session.resume", { session_id: child_session_id, lazy: true });
    const busy = await host.refused("prompt.submit", { session_id: watched.session_id, text: "hi" });
    assertEquals(busy.code, 4009);

    const interrupt = (params: Json) => host.request("subagent.interrupt", params);
    assertEquals(
      (await host.refused("subagent.interrupt", { subagent_id, session_id: "nobody" })).code,
      4001,
    );
    assertEquals((await interrupt({ subagent_id, session_id: other })).found, false);
    assertEquals(await interrupt({ subagent_id }), { found: true, subagent_id });
    const end = await host.event("subagent.complete", sid);
    assertEquals([end.status, end.subagent_id], ["interrupted", subagent_id]);
    assertEquals((await host.event("message.complete", watched.session_id)).status, "interrupted");
    await host.event("message.complete", sid, 1);
    assertEquals(await interrupt({ subagent_id }), { found: false, subagent_id });
    assertEquals((await host.request("subagent.steer", steer)).status, "rejected");
    assertEquals((await host.request("delegation.status")).active, []);
  });
});

Deno.test("core 72: another connection cannot steer a child of a session that it does not hold", async () => {
  const respond = scripted(() => ({ steps: [{ stall: true }] }));
  await withWsGateway({ model: { respond } }, async ({ connect }) => {
    const [owner, stranger] = [await connect(), await connect()];
    const { session_id: sid } = await owner.request("session.create");
    await owner.request("prompt.submit", { session_id: sid, text: order({ goal: "work" }) });
    const { subagent_id } = await owner.event("subagent.start", sid);
    const params = { session_id: sid, subagent_id, text: "hurry" };
    assertEquals((await stranger.call("subagent.steer", params)).error.code, 4001);
    assertEquals((await owner.request("subagent.interrupt", { subagent_id })).found, true);
  });
});

Deno.test("a result waits while a turn runs, and comes behind the prompts that were typed meanwhile", async () => {
  let release = () => {};
  const gate = new Promise<void>((resolve) => release = resolve);
  const respond = async (request: ModelServerRequest): Promise<ScriptTurn> => {
    const { content } = lastOf(request);
    if (!isChild(request) && content === "long") await gate;
    return scripted(() => ({ steps: [{ delay_ms: 50 }, { text: "report" }] }))(request);
  };
  await withGateway(
    { model: { respond }, config: { display: { busy_input_mode: "queue" } } },
    async ({ host }) => {
      const { sid } = await host.session();
      await host.turn(sid, order({ goal: "work" }));
      await host.request("prompt.submit", { session_id: sid, text: "long" });
      await host.event("subagent.complete", sid);
      await host.request("prompt.submit", { session_id: sid, text: "typed" });
      release();
      await host.event("message.complete", sid, 3);
      const { messages } = await host.request("session.history", { session_id: sid });
      const users = messages.filter((one: Json) => one.role === "user").map((one: Json) =>
        one.text.slice(0, 18)
      );
      assertEquals(users.slice(1), ["long", "typed", "[ASYNC DELEGATION "]);
    },
  );
});

Deno.test("core I.4: a result that no turn has taken in is delivered after a restart, once", async () => {
  await using model = await startModelServer({
    respond: (request) =>
      lastOf(request).content === "hold"
        ? { steps: [{ stall: true }] }
        : scripted(() => ({ steps: [{ delay_ms: 50 }, { text: "report" }] }))(request),
  });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  let stored: string;
  {
    await using host = await startGateway({ rig });
    const made = await host.session();
    stored = made.stored;
    await host.turn(made.sid, order({ goal: "work" }));
    await host.request("prompt.submit", { session_id: made.sid, text: "hold" });
    await host.event("subagent.complete", made.sid);
    host.child.kill("SIGKILL");
    await host.exited();
  }
  for (const isFirst of [true, false]) {
    await using host = await startGateway({ rig });
    const { session_id } = await host.request("session.resume", { session_id: stored });
    if (isFirst) assertEquals((await host.event("message.complete", session_id)).text, "thanks");
    const { messages } = await host.request("session.history", { session_id });
    const later = messages.filter((one: Json) => one.display_kind === "async_delegation");
    assertEquals(later.length, 1);
    assert(later[0].text.includes("report"));
    assertEquals(host.eventsOf("message.start", session_id).length, isFirst ? 1 : 0);
    await host.end();
  }
});

Deno.test("children are paused for the whole program, and a batch tells which task is whose", async () => {
  const respond = scripted(() => "report");
  await withGateway({ model: { respond } }, async ({ host }) => {
    const { sid } = await host.session();
    assertEquals(await host.request("delegation.pause"), { paused: true });
    const refused = await host.turn(sid, order({ goal: "work" }));
    assert(refused.text.includes("paused"), refused.text);
    assertEquals(payloads(host, "subagent.spawn_requested", sid), []);
    assertEquals(await host.request("delegation.pause", { paused: false }), { paused: false });
    await host.turn(sid, order({ tasks: [{ goal: "one" }, { goal: "two" }] }));
    await host.event("subagent.complete", sid, 1);
    const counts = payloads(host, "subagent.start", sid).map((one) => [one.task_index, one.task_count]);
    assertEquals(counts.sort(), [[0, 2], [1, 2]]);
  });
});

Deno.test("children use the model, the address and the key that the configuration has for them", async () => {
  await using own = await startModelServer({
    respond: () => "from elsewhere",
    key: "key-of-the-children-0123456789",
  });
  const delegation = { model: "small", base_url: own.url, api_key: "key-of-the-children-0123456789" };
  await withGateway(
    { model: { respond: scripted(() => "wrong") }, config: { delegation } },
    async ({ host }) => {
      const { sid } = await host.session();
      await host.turn(sid, order({ goal: "work" }));
      const end = await host.event("subagent.complete", sid);
      assertEquals([end.status, end.summary, end.model], ["completed", "from elsewhere", "small"]);
      assertEquals(own.calls().map((request) => request.body.model), ["small"]);
      assert(!host.lines.join("\n").includes("key-of-the-children"));
    },
  );
});

Deno.test("a model alone is one of the parent's provider; one that cannot be used is an error of the task", async () => {
  for (
    const [delegation, status] of [[{ model: "small" }, "completed"], [
      { provider: "nobody" },
      "error",
    ]] as const
  ) {
    const respond = scripted((request) => `I am ${request.body.model}`);
    await withGateway({ model: { respond }, config: { delegation } }, async ({ host }) => {
      const { sid } = await host.session();
      await host.turn(sid, order({ goal: "work" }));
      const end = await host.event("subagent.complete", sid);
      assertEquals(end.status, status);
      if (status === "completed") assertEquals(end.summary, "I am small");
      else assert(end.error.includes("nobody"), end.error);
    });
  }
});
