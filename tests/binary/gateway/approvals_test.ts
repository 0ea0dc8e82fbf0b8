/** Questions to the human against the real program: gateway rows 23–31, 34, 35, FC-06.3, FC-14. */
import { assert, assertEquals, assertMatch, assertWithin } from "../../support/assert.ts";
import { dangerous, exists, terminal, toolTurn, withGateway } from "./scene.ts";

/** A directory in the workspace that a dangerous command would remove. */
async function victim(workspace: string, name: string): Promise<string> {
  const dir = `${workspace}/${name}`;
  await Deno.mkdir(dir);
  return dir;
}

Deno.test("gateway 23: an approved command runs; start, request, response, completion come in this order", async () => {
  await withGateway({}, async ({ host, model, rig }) => {
    const dir = await victim(rig.workspace, "build");
    model.push(toolTurn(terminal(dangerous(dir))), "Gone.");
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "remove build" });
    const request = await host.event("approval.request", sid);
    assertMatch(request.request_id, /^[0-9a-f]{8}$/);
    assertEquals(request.command, dangerous(dir));
    assertEquals([request.choices, request.allow_permanent], [["once", "session", "always", "deny"], true]);
    assert(request.description.length > 0 && request.pattern_keys.includes(request.pattern_key));
    const [start] = host.eventsOf("tool.start", sid);
    assertEquals(request.tool_id, start!.payload.tool_id);
    const active = await host.request("session.active_list");
    assertEquals(active.sessions[0].status, "waiting");
    const id = await host.post("approval.respond", { session_id: sid, choice: "once" });
    assertEquals((await host.response(id)).result, { resolved: 1 });
    assertEquals((await host.event("message.complete", sid)).text, "Gone.");
    assertEquals(await exists(dir), false);
    const order = [
      host.indexOfEvent("tool.start", sid),
      host.indexOfEvent("approval.request", sid),
      host.indexOfResponse(id),
      host.indexOfEvent("tool.complete", sid),
    ];
    assertEquals(order, order.toSorted((a, b) => a - b));
  });
});

Deno.test("gateway 24: a denied command does not run, says so, and the turn goes on", async () => {
  await withGateway({}, async ({ host, model, rig }) => {
    const dir = await victim(rig.workspace, "build");
    model.push(toolTurn(terminal(dangerous(dir))), "Left alone.");
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "remove build" });
    await host.event("approval.request", sid);
    assertEquals(await host.request("approval.respond", { session_id: sid }), { resolved: 1 });
    const complete = await host.event("message.complete", sid);
    assertEquals([complete.status, complete.text], ["complete", "Left alone."]);
    const [tool] = host.eventsOf("tool.complete", sid);
    assertEquals([tool!.payload.result.status, tool!.payload.result.outcome], ["blocked", "denied"]);
    assertEquals(await exists(dir), true);
    assertEquals(host.eventsOf("approval.expire", sid).length, 0);
  });
});

Deno.test("gateway 25: silence is not consent: blocked as unanswered, approval.expire, a late answer counts for nothing", async () => {
  await withGateway({ config: { approvals: { timeout: 1 } } }, async ({ host, model, rig }) => {
    const dir = await victim(rig.workspace, "build");
    model.push(toolTurn(terminal(dangerous(dir))), "Nobody answered.");
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "remove build" });
    const { request_id } = await host.event("approval.request", sid);
    assertEquals(await host.event("approval.expire", sid), { request_id });
    const complete = await host.event("message.complete", sid);
    assertEquals([complete.status, complete.text], ["complete", "Nobody answered."]);
    assertEquals(host.eventsOf("tool.complete", sid)[0]!.payload.result.outcome, "timeout");
    const late = { session_id: sid, choice: "once" };
    assertEquals(await host.request("approval.respond", late), { resolved: 0 });
    assertEquals(await host.request("approval.respond", { ...late, request_id }), { resolved: 0 });
    assertEquals(await exists(dir), true);
  });
});

Deno.test("gateway 26: a choice that is none, or was not offered, is 4002 and settles nothing", async () => {
  await withGateway({}, async ({ host, model, rig }) => {
    model.push(
      toolTurn({ tool: "write_file", args: { path: ".env", content: "A=1\n" } }),
      "Written.",
    );
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "write .env" });
    const request = await host.event("approval.request", sid);
    assert(!request.choices.includes("always"));
    assertMatch(request.description, /\.env$/);
    assertMatch(request.command, /^\+A=1$/m);
    for (const choice of ["maybe", "always", true, 1, {}]) {
      assertEquals((await host.refused("approval.respond", { session_id: sid, choice })).code, 4002);
    }
    assertEquals(
      (await host.refused("approval.respond", { session_id: "ffffffff", choice: "once" })).code,
      4001,
    );
    assertEquals(await exists(`${rig.workspace}/.env`), false);
    assertEquals(await host.request("approval.respond", { session_id: sid, choice: "once" }), {
      resolved: 1,
    });
    assertEquals((await host.event("message.complete", sid)).text, "Written.");
    assertEquals(await Deno.readTextFile(`${rig.workspace}/.env`), "A=1\n");
  });
});

Deno.test("B.13: of an unknown session request_id finds the question, else a stored id its session; else 4001", async () => {
  await withGateway({}, async ({ host, model, rig }) => {
    const dirs = await Promise.all(["a", "b"].map((name) => victim(rig.workspace, name)));
    const { sid, stored } = await host.session();
    const ask = async (dir: string, at: number) => {
      model.push(toolTurn(terminal(dangerous(dir))), "Done.");
      await host.request("prompt.submit", { session_id: sid, text: dir });
      return (await host.event("approval.request", sid, at)).request_id as string;
    };
    const old = "ffffffff";
    const request_id = await ask(dirs[0]!, 0);
    const refused = async (params: Record<string, unknown>) =>
      (await host.refused("approval.respond", { choice: "once", ...params })).code;
    assertEquals(
      [
        await refused({ session_id: old }),
        await refused({ session_id: old, request_id: "00000000" }),
        await refused({ session_id: "", request_id }),
        await refused({ session_id: 7, request_id }),
        await refused({ request_id }),
        await refused({ session_id: old, request_id, choice: "maybe" }),
      ],
      [4001, 4001, 4001, 4001, 4001, 4002],
    );
    const late = { session_id: stored, request_id: "00000000", choice: "once" };
    assertEquals(await host.request("approval.respond", late), { resolved: 0 });
    assertEquals(await exists(dirs[0]!), true);
    const byQuestion = { session_id: old, request_id, choice: "once" };
    assertEquals(await host.request("approval.respond", byQuestion), { resolved: 1 });
    await host.event("message.complete", sid);
    await host.idle(sid);
    assertEquals(await exists(dirs[0]!), false);

    await ask(dirs[1]!, 1);
    const byStored = { session_id: stored, choice: "once" };
    assertEquals(await host.request("approval.respond", byStored), { resolved: 1 });
    await host.event("message.complete", sid, 1);
    assertEquals(await exists(dirs[1]!), false);
  });
});

Deno.test("gateway 27: an answer for the session spares the next question in it, and in no other", async () => {
  await withGateway({}, async ({ host, model, rig }) => {
    const dirs = await Promise.all(["a", "b", "c"].map((name) => victim(rig.workspace, name)));
    const [first, second] = [await host.session(), await host.session()];
    model.push(toolTurn(terminal(dangerous(dirs[0]!))), "1", toolTurn(terminal(dangerous(dirs[1]!))), "2");
    await host.request("prompt.submit", { session_id: first.sid, text: "a" });
    await host.event("approval.request", first.sid);
    await host.request("approval.respond", { session_id: first.sid, choice: "session" });
    await host.event("message.complete", first.sid);
    await host.idle(first.sid);
    assertEquals((await host.turn(first.sid, "b")).text, "2");
    assertEquals(host.eventsOf("approval.request", first.sid).length, 1);
    assertEquals(await exists(dirs[1]!), false);
    model.push(toolTurn(terminal(dangerous(dirs[2]!))), "3");
    await host.request("prompt.submit", { session_id: second.sid, text: "c" });
    await host.event("approval.request", second.sid);
    assertEquals(await host.request("approval.respond", { session_id: first.sid, choice: "once" }), {
      resolved: 0,
    });
    assertEquals(await exists(dirs[2]!), true);
  });
});

Deno.test("gateway 28: a secret in the command is not shown in the question", async () => {
  const secret = "ghp_" + "A1b2C3d4E5".repeat(4);
  await withGateway({}, async ({ host, model, rig }) => {
    const dir = await victim(rig.workspace, "build");
    model.push(toolTurn(terminal(`TOKEN=${secret} ${dangerous(dir)}`)), "Ok.");
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    const request = await host.event("approval.request", sid);
    assert(request.command.includes(dir));
    await host.request("approval.respond", { session_id: sid, choice: "deny" });
    await host.event("message.complete", sid);
    for (const line of host.lines) assert(!line.includes(secret));
  });
});

Deno.test("gateway 29: two wait, one answer without a name is 4002 and settles neither; all settles both", async () => {
  await withGateway({}, async ({ host, model, rig }) => {
    const dirs = await Promise.all(["a", "b"].map((name) => victim(rig.workspace, name)));
    model.push(toolTurn(...dirs.map((dir) => terminal(dangerous(dir)))), "Both gone.");
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await host.event("approval.request", sid, 1);
    assertEquals((await host.refused("approval.respond", { session_id: sid, choice: "once" })).code, 4002);
    const pending = await host.request("session.events.since", { session_id: sid });
    assertEquals(pending.open_requests.length, 2);
    const all = await host.request("approval.respond", { session_id: sid, choice: "once", all: true });
    assertEquals(all, { resolved: 2 });
    assertEquals((await host.event("message.complete", sid)).text, "Both gone.");
    assertEquals(await Promise.all(dirs.map(exists)), [false, false]);
  });
});

Deno.test("FC-14.2: an answer settles the one request it names; repeats and unknown ids change nothing", async () => {
  await withGateway({}, async ({ host, model, rig }) => {
    const dirs = await Promise.all(["a", "b"].map((name) => victim(rig.workspace, name)));
    model.push(toolTurn(...dirs.map((dir) => terminal(dangerous(dir)))), "Done.");
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await host.event("approval.request", sid, 1);
    const second = host.eventsOf("approval.request", sid).find((e) => e.payload.command.includes(dirs[1]!))!;
    const answer = { session_id: sid, choice: "once", request_id: second.payload.request_id };
    assertEquals(await host.request("approval.respond", answer), { resolved: 1 });
    assertEquals(await host.request("approval.respond", answer), { resolved: 0 });
    assertEquals(await host.request("approval.respond", { ...answer, request_id: "00000000" }), {
      resolved: 0,
    });
    assertEquals(await host.request("approval.respond", { ...answer, request_id: "" }), { resolved: 0 });
    assertEquals(await exists(dirs[0]!), true);
    assertEquals(host.eventsOf("message.complete", sid).length, 0);
    await host.request("approval.respond", { session_id: sid, choice: "deny" });
    await host.event("message.complete", sid);
    assertEquals(await Promise.all(dirs.map(exists)), [true, false]);
  });
});

Deno.test("FC-14.1: of ten sessions that wait, exactly the approved one runs its command", async () => {
  const names = [..."abcdefghij"];
  await withGateway({
    model: {
      respond: (request) => {
        // deno-lint-ignore no-explicit-any
        const last = request.body.messages.at(-1) as any;
        return last.role === "user" ? toolTurn(terminal(last.content)) : "Over.";
      },
    },
  }, async ({ host, rig }) => {
    const dirs = await Promise.all(names.map((name) => victim(rig.workspace, name)));
    const sids: string[] = [];
    for (const dir of dirs) {
      const { sid } = await host.session();
      await host.request("prompt.submit", { session_id: sid, text: dangerous(dir) });
      sids.push(sid);
    }
    await Promise.all(sids.map((sid) => host.event("approval.request", sid)));
    await host.request("approval.respond", { session_id: sids[2], choice: "once" });
    await host.request("approval.respond", { session_id: sids[5], choice: "deny" });
    await Promise.all([host.event("message.complete", sids[2]!), host.event("message.complete", sids[5]!)]);
    assertEquals(await Promise.all(dirs.map(exists)), names.map((name) => name !== "c"));
    assertEquals(host.eventsOf("message.complete").length, 2);
  });
});

// ── Clarify ─────────────────────────────────────────────────────────────────────────────────────────────────

function clarify(question: string, choices?: string[]): { tool: string; args: Record<string, unknown> } {
  return { tool: "clarify", args: { question, ...(choices ? { choices } : {}) } };
}

Deno.test("gateway 30: a question with choices; the answer reaches the tool, a second one is 4009", async () => {
  await withGateway({
    model: { turns: [toolTurn(clarify("Which one?", ["red", "blue"])), "Blue it is."] },
  }, async ({ host }) => {
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "paint" });
    const request = await host.event("clarify.request", sid);
    assertMatch(request.request_id, /^[0-9a-f]{8}$/);
    assertEquals([request.question, request.choices], ["Which one?", ["red", "blue"]]);
    const answer = { request_id: request.request_id, answer: "blue" };
    assertEquals((await host.refused("clarify.respond", { request_id: "00000000", answer: "x" })).code, 4009);
    assertEquals((await host.refused("clarify.respond", { answer: "x" })).code, 4009);
    assertEquals(await host.request("sudo.respond", { ...answer, password: "x" }), { status: "expired" });
    assertEquals(await host.request("approval.respond", { session_id: sid, choice: "once" }), {
      resolved: 0,
    });
    assertEquals(await host.request("clarify.respond", answer), { status: "ok" });
    assertEquals((await host.event("message.complete", sid)).text, "Blue it is.");
    assertEquals(host.eventsOf("tool.complete", sid)[0]!.payload.result.user_response, "blue");
    assertEquals((await host.refused("clarify.respond", answer)).code, 4009);
  });
});

Deno.test("gateway 31: a question nobody answers is skipped, without an expire event; a late answer is 4009", async () => {
  await withGateway({
    model: { turns: [toolTurn(clarify("Which one?")), "My choice."] },
    config: { agent: { clarify_timeout: 1 } },
  }, async ({ host }) => {
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "paint" });
    const { request_id, choices } = await host.event("clarify.request", sid);
    assertEquals(choices, null);
    assertEquals((await host.event("message.complete", sid)).text, "My choice.");
    assertEquals(host.eventsOf("tool.complete", sid)[0]!.payload.result.user_response, "");
    assertEquals(host.events.filter((event) => event.type.endsWith(".expire")), []);
    assertEquals((await host.refused("clarify.respond", { request_id, answer: "red" })).code, 4009);
  });
});

Deno.test("gateway 34, FC-06.3: an interrupt ends an open question without an expire event; a late answer is ignored", async () => {
  await withGateway(
    { model: { turns: [toolTurn(clarify("Which one?")), "Plain."] } },
    async ({ host, model, rig }) => {
      const { sid } = await host.session();
      await host.request("prompt.submit", { session_id: sid, text: "paint" });
      const { request_id } = await host.event("clarify.request", sid);
      await host.request("session.interrupt", { session_id: sid });
      assertEquals((await host.event("message.complete", sid, 0)).status, "interrupted");
      assertEquals((await host.refused("clarify.respond", { request_id, answer: "red" })).code, 4009);
      await host.idle(sid);
      assertEquals((await host.turn(sid, "plain?")).text, "Plain.");
      const dir = await victim(rig.workspace, "build");
      model.push(toolTurn(terminal(dangerous(dir))));
      await host.request("prompt.submit", { session_id: sid, text: "remove build" });
      const approval = await host.event("approval.request", sid);
      const started = performance.now();
      await host.request("session.interrupt", { session_id: sid });
      assertEquals((await host.event("message.complete", sid, 2)).status, "interrupted");
      assertWithin(performance.now() - started, 2_000);
      const late = { session_id: sid, choice: "once", request_id: approval.request_id };
      assertEquals(await host.request("approval.respond", late), { resolved: 0 });
      assertEquals(host.events.filter((event) => event.type.endsWith(".expire")), []);
      assertEquals(await exists(dir), true);
    },
  );
});

Deno.test("gateway 32: sudo.respond and secret.respond refuse a missing id and call unknown ones expired", async () => {
  await withGateway({}, async ({ host }) => {
    for (const method of ["sudo.respond", "secret.respond"]) {
      assertEquals(await host.request(method, { request_id: "00000000" }), { status: "expired" });
      assertEquals((await host.refused(method, {})).code, 4009);
      assertEquals((await host.refused(method, { request_id: "" })).code, 4009);
    }
  });
});

Deno.test("gateway 35: an interrupt in one session leaves the question of another open", async () => {
  await withGateway({
    model: {
      respond: (request) => request.body.messages.at(-1).role === "user" ? toolTurn(clarify("?")) : "Over.",
    },
  }, async ({ host }) => {
    const [a, b] = [await host.session(), await host.session()];
    for (const { sid } of [a, b]) await host.request("prompt.submit", { session_id: sid, text: "ask" });
    const asked = await host.event("clarify.request", b.sid);
    await host.event("clarify.request", a.sid);
    await host.request("session.interrupt", { session_id: a.sid });
    assertEquals((await host.event("message.complete", a.sid)).status, "interrupted");
    assertEquals(await host.request("clarify.respond", { request_id: asked.request_id, answer: "y" }), {
      status: "ok",
    });
    assertEquals((await host.event("message.complete", b.sid)).text, "Over.");
  });
});

Deno.test("yolo asks nothing in the session it was set for, and off asks again", async () => {
  await withGateway({}, async ({ host, model, rig }) => {
    const dirs = await Promise.all(["a", "b"].map((name) => victim(rig.workspace, name)));
    const { sid } = await host.session();
    const on = await host.request("config.set", { key: "yolo", value: "on", session_id: sid });
    assertEquals([on.value, on.scope], ["1", "session"]);
    assertEquals(host.eventsOf("session.info", sid).at(-1)!.payload.yolo, true);
    model.push(toolTurn(terminal(dangerous(dirs[0]!))), "Gone.");
    assertEquals((await host.turn(sid, "go")).text, "Gone.");
    assertEquals(await exists(dirs[0]!), false);
    await host.request("config.set", { key: "yolo", value: "off", session_id: sid });
    model.push(toolTurn(terminal(dangerous(dirs[1]!))), "Asked.");
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await host.event("approval.request", sid);
    assertEquals(await exists(dirs[1]!), true);
  });
});
