/** The todo list over compressions and restarts, against the real program: core A.16 "todo state migrates", B.6. */
import { call, calling, type Json, results, sent, withCore } from "../../support/core_driver.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { parseLeadingObject } from "../../../src/lib/leading_json.ts";
import { eventually } from "../../support/program.ts";
import type { ScriptTurn } from "../../support/model_server.ts";

const LIST = [
  { id: "1", content: "read the plan", status: "completed" },
  { id: "2", content: "write the code", status: "in_progress" },
  { id: "3", content: "test it", status: "pending" },
];
const isSummary = (request: Json) =>
  JSON.stringify(request.body.messages).includes("Summarise the conversation");
const asked = (request: Json) => String(sent(request).findLast((m) => m.role === "user")?.content);

/** Plays a `todo` call for words of the user that name one, and the summary where it is asked for. */
function respond(args: Readonly<Record<string, Record<string, unknown>>>) {
  return (request: Json): ScriptTurn => {
    if (isSummary(request)) return "THE SUMMARY";
    const word = Object.keys(args).find((one) => asked(request).endsWith(one));
    const isAnswered = sent(request).at(-1)?.role === "tool";
    return word === undefined || isAnswered ? "ok" : calling(call("todo", args[word]!));
  };
}

const todosOf = (request: Json) => parseLeadingObject(results(request).at(-1)!)?.["todos"];

for (const in_place of [false, true]) {
  Deno.test(`core A.16: the whole todo list outlives a compression and a restart (${in_place ? "in place" : "rotation"})`, async () => {
    await withCore(
      {
        model: { respond: respond({ "make it": { todos: LIST }, "show it": {} }) },
        config: { compression: { in_place } },
      },
      async ({ rig, model, host, open }) => {
        const { sid, stored } = await open();
        await host.turn(sid, "make it");
        for (let n = 0; n < 7; n++) await host.turn(sid, `question ${n}`);
        for (let round = 0; round < 2; round++) {
          const { summary } = await host.request("session.compress", { session_id: sid });
          assertEquals(summary.noop, false);
          for (let n = 0; n < 7; n++) await host.turn(sid, `question ${round}${n}`);
          const told = JSON.stringify(sent(model.calls().at(-1)));
          assert(told.includes("- [in_progress] write the code\\n- [pending] test it"), told);
          assert(!told.includes("read the plan"), "only what is open is told again");
          assertEquals(told.split("Open items of the todo list").length, 2);
        }
        await host.end();
        await using again = await startGateway({ rig });
        const resumed = await again.request("session.resume", { session_id: stored });
        await again.turn(resumed.session_id, "show it");
        assertEquals(todosOf(model.calls().at(-1)), LIST);
      },
    );
  });
}

Deno.test("core B.6: a list whose result carries guidance of the user is the one after a restart", async () => {
  const held = Promise.withResolvers<void>();
  const play = respond({ "make it": { todos: LIST }, "show it": {} });
  await withCore({
    model: {
      respond: async (request, n) => {
        if (n === 2) await held.promise;
        return n === 2
          ? calling(call("todo", { todos: [{ id: "2", status: "completed" }], merge: true }))
          : play(request);
      },
    },
  }, async ({ rig, model, host, open }) => {
    const { sid, stored } = await open();
    await host.turn(sid, "make it");
    await host.request("prompt.submit", { session_id: sid, text: "go on" });
    await eventually(() => model.calls().length > 2, 20_000, "the model's call");
    const { status } = await host.request("session.steer", { session_id: sid, text: "mind the {braces}}" });
    assertEquals(status, "queued");
    held.resolve();
    await host.event("message.complete", sid, 1);
    assertMatch(
      results(model.calls().at(-1)).at(-1)!,
      /\}\n\n\[OUT-OF-BAND USER MESSAGE.*\nmind the \{braces\}\}\n/,
    );
    await host.end();
    await using again = await startGateway({ rig });
    const resumed = await again.request("session.resume", { session_id: stored });
    await again.turn(resumed.session_id, "show it");
    assertEquals(
      todosOf(model.calls().at(-1)),
      LIST.map((item) => item.id === "2" ? { ...item, status: "completed" } : item),
    );
  });
});

Deno.test("core B.6, A.13: a list that is too long for one result is bounded for the model and whole after a restart", async () => {
  const long = Array.from({ length: 50 }, (_, n) => ({
    id: String(n),
    content: `${n} ${"word ".repeat(500)}`.trim(),
    status: "pending",
  }));
  await withCore(
    {
      model: {
        respond: respond({
          "make it": { todos: long },
          "one more": { todos: [{ id: "0", status: "completed" }], merge: true },
        }),
      },
    },
    async ({ rig, model, host, open }) => {
      const { sid, stored } = await open();
      await host.turn(sid, "make it");
      const [shown] = results(model.calls().at(-1));
      assert(shown!.startsWith("<persisted-output>") && shown!.length < 3_000, `${shown!.length}`);
      assertEquals((await host.event("tool.complete", sid)).todos, long);
      await host.end();
      await using again = await startGateway({ rig });
      const { session_id } = await again.request("session.resume", { session_id: stored });
      await again.turn(session_id, "one more");
      const { todos } = await again.event("tool.complete", session_id);
      assertEquals(todos, [{ ...long[0], status: "completed" }, ...long.slice(1)]);
    },
  );
});
