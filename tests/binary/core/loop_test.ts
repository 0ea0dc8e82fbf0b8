/** The loop against the real program: core rows 1, 2, 4–14. What the model was sent and what was stored are read. */
import {
  call,
  calling,
  lastResult,
  query,
  results,
  rows,
  sent,
  sessionRow,
  shell,
  strictFault,
  withCore,
} from "../../support/core_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { runProgram } from "../../support/program.ts";

Deno.test("core 1: a plain answer is one user row, one assistant row, and the deltas join to it", async () => {
  await withCore({ model: { turns: [{ steps: [{ text: "Hel" }, { text: "lo." }] }] } }, async (scene) => {
    const { sid, stored } = await scene.open();
    const complete = await scene.host.turn(sid, "hi");
    assertEquals([complete.status, complete.text], ["complete", "Hello."]);
    assertEquals(scene.host.streamed(sid), "Hello.");
    assertEquals(rows(scene.rig, stored).map((row) => [row.role, row.content, row.finish_reason]), [
      ["user", "hi", null],
      ["assistant", "Hello.", "stop"],
    ]);
    assertEquals(sent(scene.model.calls()[0]), [{ role: "user", content: "hi" }]);
  });
});

Deno.test("core 1: hermes run --json ends with exit reason text_response", async () => {
  await withCore({ model: { turns: ["Hello."] } }, async ({ rig }) => {
    const { code, stdout } = await runProgram(["run", "--json", "hi"], { rig });
    const lines = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    const deltas = lines.filter((line) => line.type === "text.delta").map((line) => line.text).join("");
    const result = lines.at(-1);
    assertEquals([code, deltas, result.type, result.outcome], [0, "Hello.", "result", "completed"]);
    assertEquals(result.exit_reason, "text_response(finish_reason=stop)");
  });
});

Deno.test("core A.1: arguments go back compact with sorted keys, also after a restart; the row has them as they came", async () => {
  const written = '{ "path": "a.txt",  "limit": 5 }';
  const wanted = '{"limit":5,"path":"a.txt"}';
  await withCore({
    model: { turns: [calling(call("read_file", written)), "one", "two"] },
  }, async ({ rig, model, host, open }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "hello\n");
    const { sid, stored } = await open();
    await host.turn(sid, "go");
    await host.end();
    await using again = await startGateway({ rig });
    const { session_id } = await again.request("session.resume", { session_id: stored });
    await again.turn(session_id, "more");
    const replayed = (n: number) => sent(model.calls()[n])[1].tool_calls[0].function.arguments;
    assertEquals([replayed(1), replayed(2)], [wanted, wanted]);
    assertEquals(JSON.parse(rows(rig, stored)[1]!.tool_calls!)[0].function.arguments, written);
  });
});

Deno.test("core 2: call, result and answer are rows in order; the result goes back under its id; usage is split", async () => {
  const usage = { prompt_tokens: 100, cached_tokens: 40, completion_tokens: 7 };
  await withCore({
    model: {
      turns: [
        { steps: [call("read_file", { path: "a.txt" }, "call_abc"), { usage }] },
        { steps: [{ text: "It says hello." }, { usage: { prompt_tokens: 10, completion_tokens: 1 } }] },
      ],
    },
  }, async ({ rig, model, host, open }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "hello\n");
    const { sid, stored } = await open();
    await host.turn(sid, "read it");
    const found = rows(rig, stored);
    assertEquals(found.map((row) => row.role), ["user", "assistant", "tool", "assistant"]);
    assertEquals(found.map((row) => row.id), found.map((row) => row.id).toSorted((a, b) => a - b));
    const [stub] = JSON.parse(found[1]!.tool_calls!);
    assertEquals([stub.id, found[2]!.tool_call_id, found[2]!.tool_name], [
      "call_abc",
      "call_abc",
      "read_file",
    ]);
    const second = sent(model.calls()[1]);
    assertEquals([second[1].tool_calls[0].id, second[2].tool_call_id], ["call_abc", "call_abc"]);
    assertMatch(second[2].content, /1\|hello/);
    assertEquals(strictFault(second), null);
    const { input_tokens, cache_read_tokens, output_tokens, api_call_count } = sessionRow(rig, stored);
    assertEquals([input_tokens, cache_read_tokens, output_tokens, api_call_count], [70, 40, 8, 2]);
  });
});

Deno.test("core 4: two slow reads of one answer run side by side; their results stand in call order, also after a reload", async () => {
  await withCore({
    model: {
      turns: [
        calling(
          call("search_files", { pattern: "needle", path: "big" }, "slow"),
          call("read_file", { path: "b.txt" }, "quick"),
        ),
        "both read",
        "again",
      ],
    },
  }, async ({ rig, model, host, open }) => {
    await Deno.mkdir(`${rig.workspace}/big`);
    for (let n = 0; n < 400; n++) {
      await Deno.writeTextFile(`${rig.workspace}/big/${n}.txt`, "hay\n".repeat(500));
    }
    await Deno.writeTextFile(`${rig.workspace}/b.txt`, "bee\n");
    const { sid, stored } = await open();
    await host.turn(sid, "go");
    const order = host.events.filter((e) => e.session_id === sid && /^tool\.(start|complete)$/.test(e.type))
      .map((e) => e.type);
    assertEquals(order, ["tool.start", "tool.start", "tool.complete", "tool.complete"]);
    const ids = (n: number) =>
      sent(model.calls()[n]).filter((m) => m.role === "tool").map((m) => m.tool_call_id);
    assertEquals(ids(1), ["slow", "quick"]);
    await host.request("session.close", { session_id: sid });
    const resumed = await host.request("session.resume", { session_id: stored });
    await host.turn(resumed.session_id, "more");
    assertEquals(ids(2), ["slow", "quick"]);
    assertEquals(strictFault(sent(model.calls()[2])), null);
  });
});

Deno.test("core 5: a command runs alone first, then the two reads together", async () => {
  await withCore({
    model: {
      turns: [
        calling(
          shell("sleep 0.2; echo made > a.txt; echo made > b.txt"),
          call("read_file", { path: "a.txt" }),
          call("read_file", { path: "b.txt" }),
        ),
        "ok",
      ],
    },
  }, async ({ model, host, open }) => {
    const { sid } = await open();
    await host.turn(sid, "go");
    const order = host.events.filter((e) => e.session_id === sid && /^tool\.(start|complete)$/.test(e.type))
      .map((e) => `${e.type.slice(5)} ${e.payload.name}`);
    assertEquals(order, [
      "start terminal",
      "complete terminal",
      "start read_file",
      "start read_file",
      "complete read_file",
      "complete read_file",
    ]);
    assertEquals(results(model.calls()[1]).slice(1).map((text) => JSON.parse(text).content), [
      "1|made",
      "1|made",
    ]);
  });
});

Deno.test("core 6: an exact repeat runs once; two writes of one file run one after the other", async () => {
  const append = "echo x >> log.txt";
  await withCore({
    model: {
      turns: [
        calling(call("terminal", { command: append }, "a"), call("terminal", { command: append }, "b")),
        calling(
          call("write_file", { path: "w.txt", content: "first\n" }, "c"),
          call("write_file", { path: "./w.txt", content: "second\n" }, "d"),
        ),
        "ok",
      ],
    },
  }, async ({ rig, model, host, open }) => {
    const { sid } = await open();
    await host.turn(sid, "go");
    assertEquals(await Deno.readTextFile(`${rig.workspace}/log.txt`), "x\n");
    assertEquals(sent(model.calls()[1]).filter((m) => m.role === "tool").map((m) => m.tool_call_id), ["a"]);
    assertEquals(await Deno.readTextFile(`${rig.workspace}/w.txt`), "second\n");
    const writes = host.events.filter((e) => e.payload?.name === "write_file").map((e) => e.type)
      .filter((type) => type === "tool.start" || type === "tool.complete");
    assertEquals(writes, ["tool.start", "tool.complete", "tool.start", "tool.complete"]);
  });
});

Deno.test("core 7: the name ReadFile_tool is repaired to read_file, run, and stored repaired", async () => {
  await withCore({
    model: { turns: [calling(call("ReadFile_tool", { path: "a.txt" })), "ok"] },
  }, async ({ rig, model, host, open }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "hello\n");
    const { sid, stored } = await open();
    await host.turn(sid, "go");
    assertEquals(lastResult(model.calls()[1]).content, "1|hello");
    const [stub] = JSON.parse(rows(rig, stored)[1]!.tool_calls!);
    assertEquals(stub.function.name, "read_file");
  });
});

Deno.test("core 8: an unknown tool is answered with the list; the third time in a row the turn stops as partial", async () => {
  await withCore({ model: { turns: [calling(call("warp_drive", {}))], loop: true } }, async (scene) => {
    const { sid, stored } = await scene.open();
    const complete = await scene.host.turn(sid, "go");
    assertEquals(scene.model.calls().length, 3);
    assertMatch(
      results(scene.model.calls()[1])[0]!,
      /Tool 'warp_drive' does not exist\. Available tools: .*\bterminal\b.*\bread_file\b/,
    );
    assertEquals([complete.status, complete.partial], ["error", true]);
    assertMatch(complete.text, /Model generated invalid tool call: warp_drive/);
    const effects = rows(scene.rig, stored).filter((row) => row.role === "tool").map((r) =>
      r.effect_disposition
    );
    assertEquals(effects, ["none", "none", "none"]);
  });
});

Deno.test("core 8: beside an unknown tool the other calls of the answer are skipped, not run", async () => {
  await withCore({
    model: { turns: [calling(shell("touch made.txt"), call("warp_drive", {})), "ok"] },
  }, async ({ rig, model, host, open }) => {
    const { sid } = await open();
    assertEquals((await host.turn(sid, "go")).status, "complete");
    assertEquals(query(rig, "SELECT count(*) AS n FROM messages WHERE role = 'tool'")[0].n, 2);
    assertMatch(results(model.calls()[1])[0]!, /skipped/i);
    assertMatch(results(model.calls()[1])[1]!, /does not exist/);
    assertEquals(await Array.fromAsync(Deno.readDir(rig.workspace)), []);
  });
});

Deno.test("core 9: the text 5 for an integer reaches the tool as 5", async () => {
  await withCore({
    model: { turns: [calling(call("read_file", { path: "a.txt", limit: "2", offset: "3" })), "ok"] },
  }, async ({ rig, model, host, open }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "1\n2\n3\n4\n5\n6\n");
    const { sid } = await open();
    await host.turn(sid, "go");
    assertEquals(lastResult(model.calls()[1]).content, "3|3\n4|4");
  });
});

Deno.test("core 10: arguments cut by the output cap never run; the model is called again with a larger cap", async () => {
  await withCore({
    model: {
      turns: [
        { steps: [call("terminal", '{"command": "touch made.txt'), { finish: "length" }] },
        { steps: [call("terminal", { command: "touch whole.txt" })] },
        "ok",
      ],
    },
    modelSettings: { max_tokens: 1_000 },
  }, async ({ rig, model, host, open }) => {
    const { sid, stored } = await open();
    assertEquals((await host.turn(sid, "go")).text, "ok");
    const names = (await Array.fromAsync(Deno.readDir(rig.workspace))).map((entry) => entry.name);
    assertEquals(names, ["whole.txt"]);
    assertEquals(model.calls().map((request) => request.body.max_tokens).slice(0, 2), [1_000, 2_000]);
    assertEquals(sent(model.calls()[1]), [{ role: "user", content: "go" }]);
    assertEquals(rows(rig, stored).map((row) => row.role), ["user", "assistant", "tool", "assistant"]);
  });
});

Deno.test("core 10: a text cut by the output cap is continued and told as one answer", async () => {
  const part = (text: string) => ({ steps: [{ text }, { finish: "length" }] });
  await withCore({
    model: { turns: [part("One, t"), part("wo, th"), "ree."] },
    modelSettings: { max_tokens: 100 },
  }, async ({ rig, model, host, open }) => {
    const { sid, stored } = await open();
    const complete = await host.turn(sid, "count");
    assertEquals([complete.status, complete.text], ["complete", "One, two, three."]);
    assertEquals(host.streamed(sid), "One, two, three.");
    assertEquals(rows(rig, stored).map((row) => row.content), ["count", "One, two, three."]);
    assertEquals(model.calls().map((request) => request.body.max_tokens), [100, 200, 400]);
    const third = sent(model.calls()[2]);
    assertEquals(third.map((m) => m.role), ["user", "assistant", "user"]);
    assertEquals(third[1].content, "One, two, th");
  });
});

Deno.test("core 11: broken JSON is asked for again three times, then told to the model; the turn goes on", async () => {
  const broken = calling(shell("touch good.txt"), call("read_file", '{"path": a.txt}'));
  await withCore({ model: { turns: [broken, broken, broken, broken, "sorry"] } }, async (scene) => {
    const { sid, stored } = await scene.open();
    const complete = await scene.host.turn(sid, "go");
    assertEquals([complete.status, complete.text], ["complete", "sorry"]);
    const [first, , , fourth, fifth] = scene.model.calls();
    assertEquals(sent(fourth), sent(first));
    assertEquals(results(fifth).length, 2);
    for (const text of results(fifth)) assertMatch(text, /[Ii]nvalid JSON arguments/);
    assertEquals(await Array.fromAsync(Deno.readDir(scene.rig.workspace)), []);
    assertEquals(rows(scene.rig, stored).map((r) => r.role), [
      "user",
      "assistant",
      "tool",
      "tool",
      "assistant",
    ]);
  });
});

Deno.test("core 12: the step limit ends with a summary that is asked for without tools", async () => {
  await withCore({
    model: {
      turns: [calling(shell("echo 1")), calling(shell("echo 2")), "Echoed twice; nothing is left."],
    },
    config: { agent: { max_turns: 2 } },
  }, async ({ rig, model }) => {
    const { code, stdout } = await runProgram(["run", "--json", "go"], { rig });
    const result = JSON.parse(stdout.trimEnd().split("\n").at(-1)!);
    assertEquals([code, result.outcome, result.exit_reason, result.text], [
      5,
      "max_turns",
      "max_iterations_reached(2/2)",
      "Echoed twice; nothing is left.",
    ]);
    const calls = model.calls();
    assertEquals(calls.length, 3);
    assert(calls[1]!.body.tools.length > 0);
    assertEquals(calls[2]!.body.tools, undefined);
    assertEquals(sent(calls[2]).at(-1).role, "user");
    const [{ session_id }] = query(rig, "SELECT DISTINCT session_id FROM messages");
    assertEquals(rows(rig, session_id).map((row) => row.role), [
      "user",
      "assistant",
      "tool",
      "assistant",
      "tool",
      "assistant",
    ]);
  });
});

Deno.test("core 13: an empty answer is asked for again; nothing synthetic is stored", async () => {
  const nothing = { steps: [{ finish: "stop" }] };
  await withCore(
    { model: { turns: [calling(shell("echo 1")), nothing, nothing, "Here."] } },
    async (scene) => {
      const { sid, stored } = await scene.open();
      assertEquals((await scene.host.turn(sid, "go")).text, "Here.");
      assertEquals(sent(scene.model.calls()[2]).at(-1).role, "user");
      assertEquals(rows(scene.rig, stored).map((row) => [row.role, row.display_kind]), [
        ["user", null],
        ["assistant", null],
        ["tool", null],
        ["assistant", null],
      ]);
    },
  );
});

Deno.test("core 13: a model that stays empty is a failed turn, not an empty answer", async () => {
  await withCore({ model: { turns: [{ steps: [{ finish: "stop" }] }], loop: true } }, async (scene) => {
    const { sid, stored } = await scene.open();
    const complete = await scene.host.turn(sid, "go", 60_000);
    assertEquals(complete.status, "error");
    assertMatch(complete.text, /^Error: .*empty/i);
    assertEquals(rows(scene.rig, stored).map((row) => row.role), ["user"]);
  });
});

Deno.test("core 14: think tags in content are reasoning, not text", async () => {
  await withCore({
    model: { turns: [{ steps: [{ text: "<thi" }, { text: "nk>x</think>" }, { text: "y" }] }] },
  }, async (scene) => {
    const { sid, stored } = await scene.open();
    const complete = await scene.host.turn(sid, "go");
    assertEquals([complete.text, scene.host.streamed(sid)], ["y", "y"]);
    assertEquals(scene.host.eventsOf("reasoning.delta", sid).map((e) => e.payload.text).join(""), "x");
    const last = rows(scene.rig, stored).at(-1)!;
    assertEquals([last.content, last.reasoning], ["y", "x"]);
  });
});
