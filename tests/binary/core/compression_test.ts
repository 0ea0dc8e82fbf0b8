/** Compression by itself, budgets and titles against the real program: core rows 49 and 50, core A.14, A.18. */
import {
  call,
  calling,
  type Json,
  query,
  results,
  sent,
  sessionRow,
  strictFault,
  withCore,
} from "../../support/core_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";

const LONG = "word ".repeat(3_000);
const isSummary = (request: Json) =>
  JSON.stringify(request.body.messages).includes("Summarise the conversation");
const respond = (request: Json) => isSummary(request) ? "SUMMARY OF ALL" : `answer ${LONG}`;
/** Far over prompt and tools, and reached by a few long answers. */
const LIMIT = { threshold_tokens: 40_000 };

Deno.test("core 49: a long conversation is compressed by itself before a turn; its list has one entry, the tip", async () => {
  await withCore(
    { model: { respond }, config: { compression: LIMIT } },
    async ({ rig, model, host, open }) => {
      const { sid, stored } = await open();
      let n = 0;
      while (!model.calls().some(isSummary) && n < 14) await host.turn(sid, `question ${n++}`);
      assert(n > 4 && n < 14, `${n}`);
      const last = sent(model.calls().at(-1));
      assertEquals(strictFault(last), null);
      assertMatch(last[0].content, /^question 0/);
      assert(last.some((message) => String(message.content).includes("SUMMARY OF ALL")));
      assertMatch(last.at(-1).content, new RegExp(`question ${n - 1}$`));
      assertEquals(sessionRow(rig, stored).end_reason, "compression");
      const { session_key } = await host.request("session.status", { session_id: sid });
      assertEquals(sessionRow(rig, session_key).parent_session_id, stored);
      assertEquals(query(rig, "SELECT id FROM sessions WHERE listed = 1").map((row) => row.id), [
        session_key,
      ]);
      assertEquals(query(rig, "SELECT * FROM compression_locks"), []);
      const kinds = host.eventsOf("status.update", sid).map((event) => event.payload.kind);
      assert(kinds.includes("compacting"), kinds.join());
    },
  );
});

Deno.test("core 50: in place the id stays, the old rows are inactive and compacted, and are found", async () => {
  const config = { compression: { ...LIMIT, in_place: true } };
  await withCore({ model: { respond }, config }, async ({ rig, model, host, open }) => {
    const { sid, stored } = await open();
    let n = 0;
    while (!model.calls().some(isSummary) && n < 14) await host.turn(sid, `question ${n++}`);
    assertEquals((await host.request("session.status", { session_id: sid })).session_key, stored);
    assertEquals(sessionRow(rig, stored).end_reason, null);
    const gone = query(rig, "SELECT active, compacted FROM messages WHERE content = 'question 2'");
    assertEquals(gone, [{ active: 0, compacted: 1 }]);
    const found = query(
      rig,
      `SELECT count(*) AS n FROM messages_fts WHERE messages_fts MATCH '"question 2"'`,
    );
    assertEquals(found[0].n, 1);
  });
});

Deno.test("core A.14: a call that fails twice the same way is told so in its result", async () => {
  const miss = calling(call("read_file", { path: "nowhere.txt" }));
  await withCore({ model: { turns: [miss, miss, "ok"] } }, async ({ model, host, open }) => {
    const { sid } = await open();
    await host.turn(sid, "go");
    const [first, second] = results(model.calls().at(-1));
    assert(!first!.includes("Tool loop warning"));
    assertMatch(second!, /\[Tool loop warning: repeated_exact_failure_warning; count=2; [^\]]+\]$/);
  });
});

Deno.test("budgets: a limit of the config ends the turn and says how to raise it; the next session is free", async () => {
  const budgets = { session: { model_calls: 1 } };
  await withCore(
    { model: { turns: ["one.", "two."] }, config: { budgets } },
    async ({ model, host, open }) => {
      const { sid } = await open();
      await host.turn(sid, "a");
      const stopped = await host.turn(sid, "b");
      assertMatch(
        stopped.text,
        /used 1 of 1 model calls \(budgets\.session\.model_calls\).*hermes config set/,
      );
      assertEquals(model.calls().length, 1);
      const other = await open();
      assertEquals((await host.turn(other.sid, "c")).text, "two.");
    },
  );
});
