/** A process killed in mid-turn: core row 3 and FC-12. The model that follows refuses every history that is not whole. */
import { startGateway } from "../../support/gateway_driver.ts";
import {
  call,
  calling,
  results,
  rows,
  sent,
  shell,
  strictFault,
  strictly,
  withCore,
} from "../../support/core_driver.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { processesWith } from "../../support/processes.ts";
import { eventually } from "../../support/program.ts";

/** Ends what a killed program has left behind. */
async function endAll(text: string): Promise<void> {
  for (const pid of await processesWith(text)) {
    try {
      Deno.kill(pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  }
}

Deno.test("core 3: killed while a tool runs: user and call are stored; resumed, the call gets a stub and the next request is valid", async () => {
  const mark = `sleep 47.${crypto.getRandomValues(new Uint32Array(1))[0]}`;
  const respond = strictly((n) => n === 0 ? calling(shell(mark)) : "Recovered.");
  await withCore({ model: { respond } }, async ({ rig, model, host, open }) => {
    const { sid, stored } = await open();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await eventually(async () => (await processesWith(mark)).length > 0, 5_000, "the command");
    host.kill("SIGKILL");
    await host.exited();
    await endAll(mark);
    assertEquals(rows(rig, stored).map((row) => row.role), ["user", "assistant"]);
    await using again = await startGateway({ rig });
    const resumed = await again.request("session.resume", { session_id: stored });
    const complete = await again.turn(resumed.session_id, "and now?");
    assertEquals([complete.status, complete.text], ["complete", "Recovered."]);
    const [first, second, third, fourth] = sent(model.calls()[1]);
    assertEquals([first.role, second.role, third.role, fourth.role], ["user", "assistant", "tool", "user"]);
    assertMatch(third.content, /interrupted before a result was recorded/);
    assertEquals([first.content, fourth.content], ["go", "and now?"]);
  });
});

Deno.test("FC-12: what was finished before the crash is there with its result; the running call shows as interrupted", async () => {
  const mark = `sleep 48.${crypto.getRandomValues(new Uint32Array(1))[0]}`;
  const turn = calling(call("write_file", { path: "made.txt", content: "made\n" }, "one"), shell(mark));
  const respond = strictly((n) => n === 0 ? turn : "Recovered.");
  await withCore({ model: { respond } }, async ({ rig, model, host, open }) => {
    const { sid, stored } = await open();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await eventually(async () => (await processesWith(mark)).length > 0, 5_000, "the command");
    host.kill("SIGKILL");
    await host.exited();
    await endAll(mark);
    const found = rows(rig, stored);
    assertEquals(found.map((row) => [row.role, row.tool_call_id]), [
      ["user", null],
      ["assistant", null],
      ["tool", "one"],
    ]);
    assertEquals(await Deno.readTextFile(`${rig.workspace}/made.txt`), "made\n");
    await using again = await startGateway({ rig });
    const resumed = await again.request("session.resume", { session_id: stored });
    const shown = JSON.stringify(resumed.messages);
    assertMatch(shown, /made\.txt/);
    const complete = await again.turn(resumed.session_id, "and now?");
    assertEquals(complete.text, "Recovered.");
    const [wrote, slept] = results(model.calls()[1]);
    assertEquals(JSON.parse(wrote!).bytes_written, 5);
    assertMatch(slept!, /interrupted/);
    // The second resume is as valid as the first: nothing that was made up has become part of the history.
    await again.request("session.close", { session_id: resumed.session_id });
    const third = await again.request("session.resume", { session_id: stored });
    assertEquals((await again.turn(third.session_id, "still?")).text, "Recovered.");
    assertEquals(strictFault(sent(model.calls()[2])), null);
  });
});

Deno.test("FC-12: killed at ten points of a turn, no prompt is lost and the history is accepted each time", async () => {
  const work = calling(
    call("write_file", { path: "a.txt", content: "a\n" }),
    shell("cat a.txt"),
    call("read_file", { path: "a.txt" }),
  );
  const strict = strictly(() => "Done.");
  const respond: typeof strict = (request, n) =>
    sent(request).at(-1).role === "user" ? work : strict(request, n);
  await withCore({ model: { respond } }, async ({ rig, model, host: first, open }) => {
    const { sid, stored } = await open();
    await first.turn(sid, "prompt 0");
    await first.end();
    for (let round = 1; round <= 10; round++) {
      await using host = await startGateway({ rig });
      const { session_id } = await host.request("session.resume", { session_id: stored });
      await host.request("prompt.submit", { session_id, text: `prompt ${round}` });
      const from = await host.until(() => at(host.indexOfEvent("message.start", session_id)), "the start");
      // One frame further in every round, so that the end comes at another place each time.
      await host.until(() => host.frames.length > from + round || undefined, "some frames");
      host.kill("SIGKILL");
      await host.exited();
    }
    await using host = await startGateway({ rig });
    const { session_id } = await host.request("session.resume", { session_id: stored });
    const { text } = await host.turn(session_id, "prompt 11");
    assertEquals(text.split("\n\nEdits that failed", 1)[0], "Done.");
    for (const request of model.calls()) assertEquals(strictFault(sent(request)), null);
    const prompts = rows(rig, stored).filter((row) => row.role === "user").map((row) => row.content);
    assertEquals(prompts, Array.from({ length: 12 }, (_, n) => `prompt ${n}`));
  });
});

function at(position: number): number | undefined {
  return position === -1 ? undefined : position;
}
