/** Bounds on what tools hand over: core row 26 and FC-18. */
import { call, calling, lastResult, results, rows, shell, withCore } from "../../support/core_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";

Deno.test("core 26: a result of 300,000 characters becomes a persisted-output block, whose file can be read", async () => {
  const bytes = 300_000;
  await withCore({
    model: {
      respond: (request, n) => {
        if (n === 0) return calling(shell(`head -c ${bytes} /dev/zero | tr '\\0' x`));
        const saved = /saved to (\S+?\.txt)/.exec(results(request).at(-1) ?? "")?.[1];
        return n === 1 ? calling(call("read_file", { path: saved ?? "none", limit: 3 })) : "ok";
      },
    },
    config: { tool_output: { max_bytes: 1_000_000 } },
  }, async ({ rig, model, host, open }) => {
    const { sid, stored } = await open();
    assertEquals((await host.turn(sid, "go")).text, "ok");
    const block = results(model.calls()[1])[0]!;
    assert(
      block.startsWith("<persisted-output>") && block.endsWith("</persisted-output>"),
      block.slice(0, 200),
    );
    assert(block.length < 3_000);
    assertMatch(block, /3000\d\d characters/);
    const page = lastResult(model.calls()[2]);
    assertEquals([page.error, page.content.slice(0, 10)], [undefined, '1|{"output']);
    assert(rows(rig, stored).every((row) => (row.content?.length ?? 0) < 110_000));
  });
});

Deno.test("core 26: results that are too long only together are spilled, the largest first, until they fit", async () => {
  const print = (letter: string, count: number) => shell(`head -c ${count} /dev/zero | tr '\\0' ${letter}`);
  await withCore({
    model: { turns: [calling(print("a", 60_000), print("b", 70_000), print("c", 50_000)), "ok"] },
    config: { tool_output: { max_bytes: 1_000_000 } },
  }, async ({ model, host, open }) => {
    const { sid } = await open();
    await host.turn(sid, "go");
    const lengths = results(model.calls()[1]).map((text) => text.length);
    assert(lengths.reduce((a, b) => a + b, 0) <= 153_600, `${lengths}`);
    assertEquals(results(model.calls()[1]).map((text) => text.startsWith("<persisted-output>")), [
      false,
      true,
      false,
    ]);
  });
});

/** Resident memory of the gateway in MiB. */
async function residentMiB(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)![1]) / 1024;
}

Deno.test({
  name:
    "FC-18: 200 MB of lines and one line of 20 MB are bounded for model, host and store; memory stays low",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await withCore({
      model: {
        turns: [
          calling(shell("echo FIRST; yes 'a short line' | head -c 200000000; echo LAST")),
          calling(shell("printf START; head -c 20000000 /dev/zero | tr '\\0' y; printf END")),
          "ok",
          "Still here.",
        ],
      },
    }, async ({ rig, model, host, open }) => {
      const { sid, stored } = await open();
      await host.request("prompt.submit", { session_id: sid, text: "go" });
      const before = await residentMiB(host.child.pid);
      let peak = before;
      const watch = setInterval(() => {
        residentMiB(host.child.pid).then((now) => peak = Math.max(peak, now), () => {});
      }, 20);
      const complete = await host.event("message.complete", sid, 0, 60_000);
      clearInterval(watch);
      await host.idle(sid);
      assertEquals(complete.text, "ok");
      assert(peak - before < 150, `${before} → ${peak} MiB`);
      const [lines, line] = results(model.calls()[2]).map((text) => JSON.parse(text).output as string);
      for (const [text, head, tail] of [[lines!, "FIRST", "LAST"], [line!, "START", "END"]]) {
        assert(
          text!.startsWith(head!) && text!.endsWith(tail!),
          `${text!.slice(0, 20)} … ${text!.slice(-20)}`,
        );
        assertMatch(text!, /\[OUTPUT TRUNCATED - \d+ chars omitted out of \d+ total\]/);
        assert(text!.length < 51_000);
      }
      assert(host.lines.reduce((sum, text) => sum + text.length, 0) < 1_000_000);
      assert(rows(rig, stored).reduce((sum, row) => sum + (row.content?.length ?? 0), 0) < 1_000_000);
      assertEquals((await host.turn(sid, "still there?")).text, "Still here.");
    });
  },
});
