/** Interrupts and guidance: core rows 19–22 and FC-06, all four inputs. */
import {
  calling,
  exists,
  lastResult,
  results,
  rows,
  sent,
  shell,
  strictFault,
  strictly,
  withCore,
} from "../../support/core_driver.ts";
import { assert, assertEquals, assertMatch, assertWithin } from "../../support/assert.ts";
import { ownSleep, processesWith, untilGone, untilHomeIsLeft } from "../../support/processes.ts";
import { eventually } from "../../support/program.ts";

const SLOW = { steps: [{ text: "w ", repeat: 200, delay_ms: 100 }] };

Deno.test("core 19, FC-06.1: an interrupt while text streams closes the request within 1 s and keeps the text", async () => {
  await withCore({ model: { turns: [SLOW, "Fine."] } }, async ({ rig, model, host, open }) => {
    const { sid, stored } = await open();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await host.until(() => host.streamed(sid).length >= 6 || undefined, "three deltas");
    const start = performance.now();
    await host.request("session.interrupt", { session_id: sid });
    const complete = await host.event("message.complete", sid);
    assertEquals(complete.status, "interrupted");
    await eventually(() => model.calls()[0]!.aborted, 1_000, "the closed request");
    assertWithin(performance.now() - start, 1_000);
    await host.idle(sid);
    const last = rows(rig, stored).at(-1)!;
    assertEquals([last.role, last.content, last.finish_reason], [
      "assistant",
      host.streamed(sid),
      "interrupted",
    ]);
    assertEquals(host.eventsOf("error", sid), []);
    assertEquals((await host.turn(sid, "and now?")).text, "Fine.");
  });
});

Deno.test("core 19, FC-06.1: an interrupt before the first byte ends the turn; its row says what happened", async () => {
  await withCore({ model: { turns: [{ steps: [{ stall: true }] }, "Fine."] } }, async (scene) => {
    const { rig, model, host, open } = scene;
    const { sid, stored } = await open();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await eventually(() => model.calls().length === 1, 5_000, "the request");
    const start = performance.now();
    await host.request("session.interrupt", { session_id: sid });
    assertEquals((await host.event("message.complete", sid)).status, "interrupted");
    assertWithin(performance.now() - start, 1_000);
    await eventually(() => model.calls()[0]!.aborted, 1_000, "the closed request");
    await host.idle(sid);
    assertMatch(
      rows(rig, stored).at(-1)!.content!,
      /^Operation interrupted: waiting for model response \(\d+s elapsed\)\.$/,
    );
    assertEquals((await host.turn(sid, "again")).text, "Fine.");
    assertEquals(strictFault(sent(model.calls()[1])), null);
  });
});

Deno.test("core 20: an interrupt during sleep 60 ends the whole process group within 3 s, result rc 130", async () => {
  const sleep = ownSleep(60);
  await withCore({ model: { turns: [calling(shell(sleep))] } }, async ({ rig, host, open }) => {
    const { sid, stored } = await open();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await eventually(async () => (await processesWith(sleep)).length > 0, 5_000, "the command");
    const start = performance.now();
    await host.request("session.interrupt", { session_id: sid });
    await host.event("message.complete", sid);
    await untilGone(sleep);
    assertWithin(performance.now() - start, 3_000);
    await host.idle(sid);
    const [, , result, note] = rows(rig, stored);
    assertEquals(JSON.parse(result!.content!).exit_code, 130);
    assertMatch(JSON.parse(result!.content!).output, /\[Command interrupted\]/);
    assertEquals([result!.effect_disposition, note!.content], ["unknown", "Operation interrupted."]);
  });
});

Deno.test("core 20: calls behind the interrupted one are skipped and answered", async () => {
  const batch = calling(shell("sleep 20"), shell("touch never.txt"));
  await withCore({ model: { turns: [batch, "Fine."] } }, async ({ rig, model, host, open }) => {
    const { sid } = await open();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await host.event("tool.start", sid);
    await host.request("session.interrupt", { session_id: sid });
    await host.idle(sid);
    await host.turn(sid, "again");
    const [, skipped] = results(model.calls()[1]);
    assertEquals(skipped, "[Tool execution cancelled — terminal was skipped due to user interrupt]");
    assertEquals(strictFault(sent(model.calls()[1])), null);
    assertEquals(await exists(`${rig.workspace}/never.txt`), false);
  });
});

Deno.test("FC-06.2: no process of an interrupted command is left that could still do something, its call has ended", async () => {
  const [sleep, late] = [ownSleep(60), ownSleep(61)];
  const command = `sh -c '${sleep} & (${late}; echo LATE > late.txt)'`;
  await withCore({ model: { turns: [calling(shell(command))] } }, async ({ rig, host, open }) => {
    const { sid } = await open();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    const ask = await host.event("approval.request", sid);
    const answer = { session_id: sid, request_id: ask.request_id, choice: "once" };
    assertEquals(await host.request("approval.respond", answer), { resolved: 1 });
    await eventually(async () => (await processesWith(late)).length > 0, 10_000, "the command");
    await host.request("session.interrupt", { session_id: sid });
    await host.event("message.complete", sid);
    assert(host.indexOfEvent("tool.complete", sid) < host.indexOfEvent("message.complete", sid));
    for (const text of [sleep, late]) await untilGone(text);
    await untilHomeIsLeft(rig.home, host.child.pid);
    assertEquals(await exists(`${rig.workspace}/late.txt`), false);
  });
});

Deno.test("FC-06.3: an interrupt while an approval waits: not done, a late answer is ignored, a new prompt works", async () => {
  await withCore({ model: { turns: [calling(shell("rm -rf precious")), "Fine."] } }, async (scene) => {
    const { rig, model, host, open } = scene;
    await Deno.mkdir(`${rig.workspace}/precious`);
    const { sid } = await open();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    const ask = await host.event("approval.request", sid);
    await host.request("session.interrupt", { session_id: sid });
    assertEquals((await host.event("message.complete", sid)).status, "interrupted");
    await host.idle(sid);
    const late = { session_id: sid, request_id: ask.request_id, choice: "once" };
    assertEquals(await host.request("approval.respond", late), { resolved: 0 });
    assertEquals(await exists(`${rig.workspace}/precious`), true);
    assertEquals((await host.turn(sid, "again")).text, "Fine.");
    assertEquals(lastResult(model.calls()[1]).outcome, "cancelled");
    assertEquals(strictFault(sent(model.calls()[1])), null);
  });
});

Deno.test("FC-06.4: twenty times a long tool is interrupted, and each plain question after it is its own turn", async () => {
  const respond = strictly((n) => n % 2 === 0 ? calling(shell(`sleep 20.${n}`)) : `Answer ${n}.`);
  await withCore({ model: { respond } }, async ({ rig, model, host, open }) => {
    const { sid, stored } = await open();
    for (let round = 0; round < 20; round++) {
      await host.request("prompt.submit", { session_id: sid, text: `long ${round}` });
      await host.event("tool.start", sid, round);
      await host.request("session.interrupt", { session_id: sid });
      assertEquals((await host.event("message.complete", sid, 2 * round)).status, "interrupted");
      await host.idle(sid);
      const complete = await host.turn(sid, `plain ${round}`);
      assertEquals([complete.status, complete.text], ["complete", `Answer ${2 * round + 1}.`]);
    }
    assertEquals(model.calls().length, 40);
    const users = rows(rig, stored).filter((row) => row.role === "user").map((row) => row.content);
    assertEquals(users, Array.from({ length: 20 }, (_, n) => [`long ${n}`, `plain ${n}`]).flat());
    await untilHomeIsLeft(rig.home, host.child.pid);
  });
});

Deno.test("FC-06: an interrupt when nothing runs is harmless; one right after the submit ends that turn", async () => {
  await withCore({ model: { turns: [SLOW, "Fine."] } }, async ({ rig, host, open }) => {
    const { sid, stored } = await open();
    assertEquals(await host.request("session.interrupt", { session_id: sid }), { status: "interrupted" });
    await Promise.all([
      host.post("prompt.submit", { session_id: sid, text: "go" }),
      host.post("session.interrupt", { session_id: sid }),
    ]);
    assertEquals((await host.event("message.complete", sid)).status, "interrupted");
    await host.idle(sid);
    assertEquals(rows(rig, stored).map((row) => row.role), ["user", "assistant"]);
  });
});

const MARK = (text: string) =>
  "\n\n[OUT-OF-BAND USER MESSAGE — a direct message from the user, delivered mid-turn; not tool output]\n" +
  `${text}\n[/OUT-OF-BAND USER MESSAGE]`;

Deno.test("core 21: guidance given while a tool runs ends the last tool result, without a user row", async () => {
  await withCore({ model: { turns: [calling(shell("sleep 2; echo done")), "ok"] } }, async (scene) => {
    const { rig, model, host, open } = scene;
    const { sid, stored } = await open();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await host.event("tool.start", sid);
    for (const text of ["  use tabs  ", "and be brief"]) {
      assertEquals((await host.request("session.steer", { session_id: sid, text })).status, "queued");
    }
    await host.event("message.complete", sid);
    await host.idle(sid);
    const told = results(model.calls()[1])[0]!;
    assert(told.endsWith(MARK("use tabs\nand be brief")), told);
    assertEquals(JSON.parse(told.slice(0, told.indexOf("\n\n[OUT"))).output, "done");
    assertEquals(rows(rig, stored).map((row) => row.role), ["user", "assistant", "tool", "assistant"]);
    assertEquals(rows(rig, stored)[2]!.content, told);
  });
});

Deno.test("core 22: guidance that met no tool is not lost: it is the next turn; blank and idle guidance is rejected", async () => {
  const slow = { steps: [{ text: "a" }, { delay_ms: 2_000 }, { text: "b" }] };
  await withCore({ model: { turns: [slow, "After."] } }, async ({ rig, model, host, open }) => {
    const { sid, stored } = await open();
    assertEquals((await host.request("session.steer", { session_id: sid, text: "idle" })).status, "rejected");
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await host.event("message.delta", sid);
    assertEquals((await host.refused("session.steer", { session_id: sid, text: "  \n" })).code, 4002);
    assertEquals((await host.request("session.steer", { session_id: sid, text: "more" })).status, "queued");
    assertEquals((await host.event("message.complete", sid, 1)).text, "After.");
    await host.idle(sid);
    assertEquals(sent(model.calls()[1]).map((m) => m.content), ["go", "ab", "more"]);
    assertEquals(rows(rig, stored).map((row) => row.content), ["go", "ab", "more", "After."]);
  });
});

Deno.test("core 22: an interrupt drops waiting guidance; the next turn does not get it", async () => {
  await withCore({
    model: { turns: [SLOW, calling(shell("echo hi")), "ok"] },
  }, async ({ model, host, open }) => {
    const { sid } = await open();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await host.event("message.delta", sid);
    await host.request("session.steer", { session_id: sid, text: "stale" });
    await host.request("session.interrupt", { session_id: sid });
    await host.event("message.complete", sid);
    await host.idle(sid);
    await host.turn(sid, "again");
    assertEquals(JSON.stringify(model.calls().slice(1).map((r) => sent(r))).includes("stale"), false);
  });
});
