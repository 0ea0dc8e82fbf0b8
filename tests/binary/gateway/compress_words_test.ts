/** `/compress [here [N] | topic | --preview]` and `session.compress` (core H.2, A.16, tui-gateway D.2), real program. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import type { GatewayHost, Json } from "../../support/gateway_driver.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import type { Rig } from "../../support/program.ts";
import { query } from "../../support/core_driver.ts";
import { sentTexts, withGateway } from "./scene.ts";

const isSummary = (request: Json) =>
  JSON.stringify(request.body.messages).includes("Summarise the conversation");
const model = { respond: (request: Json) => isSummary(request) ? "THE SUMMARY" : "ok" };
const SAID = ["a", "b", "c", "d", "e", "f", "g", "h"];

async function talk(host: GatewayHost): Promise<{ sid: string; stored: string }> {
  const opened = await host.session();
  for (const prompt of SAID) await host.turn(opened.sid, prompt);
  return opened;
}

const rows = (rig: Rig) =>
  query(rig, "SELECT id, parent_session_id, end_reason FROM sessions ORDER BY id").concat(
    query(rig, "SELECT id, session_id, active, compacted FROM messages ORDER BY id"),
  );

Deno.test("core H.2: --preview tells the plan and the numbers; no model is asked, no row and no event is written", async () => {
  await withGateway({ model }, async ({ host, model, rig }) => {
    const { sid, stored } = await talk(host);
    const before = [rows(rig), model.calls().length, host.eventsOf("status.update", sid).length];
    const shown = await host.request("session.compress", { session_id: sid, focus_topic: "--preview" });
    assertEquals(
      [shown.status, shown.removed, shown.before_messages, shown.summary.noop, shown.messages.length],
      ["preview", 0, 16, true, 16],
    );
    const { kept_first, kept_last, summarized_messages, summarized_tokens } = shown.plan;
    assertEquals(shown.after_messages, kept_first + 1 + kept_last);
    assertEquals(summarized_messages, 16 - kept_first - kept_last);
    assert(summarized_tokens > 0 && shown.after_tokens <= shown.before_tokens);
    const text = await host.request("slash.exec", { session_id: sid, command: "/compress --preview here 3" });
    assertMatch(
      text.output,
      /^Preview, nothing was changed: 16 → 7 messages\nAbout [\d,]+ → [\d,]+ tokens\nSummarised: 10 messages, about [\d,]+ tokens\. Kept word for word: the last 6 messages\.\nKept: your last 3 turns$/,
    );
    assertEquals([rows(rig), model.calls().length, host.eventsOf("status.update", sid).length], before);
    assertEquals((await host.request("session.status", { session_id: sid })).session_key, stored);

    const done = await host.request("session.compress", { session_id: sid });
    assertEquals(
      [done.status, done.before_messages, done.after_messages, done.plan],
      ["compressed", 16, shown.after_messages, undefined],
    );
  });
});

Deno.test("core H.2: here N keeps the last N turns word for word, here the last one", async () => {
  await withGateway({ model }, async ({ host, model }) => {
    const { sid } = await talk(host);
    const done = await host.request("session.compress", { session_id: sid, focus_topic: "here 3" });
    assertEquals([done.before_messages, done.after_messages], [16, 7]);
    assertEquals(done.summary.note, "Kept: your last 3 turns");
    assert(!JSON.stringify(model.calls().at(-1)!.body).includes("topic"));
    await host.turn(sid, "i");
    // The summary and the words after it are one message on the wire: roles take turns there.
    const sent = () => {
      const [first, ...rest] = sentTexts(model.calls().at(-1), "user");
      assert(first!.includes("THE SUMMARY"), first);
      return [first!.split("\n").at(-1), ...rest];
    };
    assertEquals(sent(), ["f", "g", "h", "i"]);
    const last = await host.request("command.dispatch", { session_id: sid, command: "/compact here" });
    assertMatch(last.output, /^Compressed: 9 → 3 messages\nAbout .* tokens\nKept: your last turn$/);
    await host.turn(sid, "j");
    assertEquals(sent(), ["i", "j"]);
    const none = await host.request("command.dispatch", { session_id: sid, command: "/compress here 50" });
    assertMatch(none.output, /^There is too little to compress\n/);
  });
});

Deno.test("core H.2: what is no option and no number is refused on each way in, and nothing changes", async () => {
  await withGateway({ model }, async ({ host, model, rig }) => {
    const { sid } = await talk(host);
    const before = [rows(rig), model.calls().length];
    for (
      const [words, why] of [
        ["--previw", "/compress has no option --previw"],
        ["auth --all", "/compress has no option --all"],
        ["here three", '"three" is no number of turns'],
        ["here 0", '"0" is no number of turns'],
      ] as const
    ) {
      const answers = [
        await host.refused("session.compress", { session_id: sid, focus_topic: words }),
        await host.refused("command.dispatch", { session_id: sid, name: "compress", arg: words }),
        await host.refused("slash.exec", { session_id: sid, command: `/compact ${words}` }),
      ];
      for (const { code, message } of answers) {
        assertEquals(code, 4004);
        assert(message.startsWith(`${why}: use a topic, here, here 3`), message);
        assert(message.includes("--preview"), message);
      }
    }
    assertEquals([rows(rig), model.calls().length], before);
  });
});

Deno.test("tui-gateway D.2: catalogue, help and completion say what /compress takes", async () => {
  await withGateway({}, async ({ host }) => {
    const { sid } = await host.session();
    const hint = "/compress [here [N] | topic | --preview]";
    const { pairs, sub } = await host.request("commands.catalog");
    const [, description] = pairs.find(([name]: [string]) => name === "/compress");
    assert(description.endsWith(` (usage: ${hint})`), description);
    assertEquals(sub["/compress"], ["here", "--preview"]);
    const help = await host.request("slash.exec", { session_id: sid, command: "/help" });
    assert(help.output.includes(`\n${hint} — `));
    const complete = async (text: string) =>
      (await host.request("complete.slash", { text })).items.map((item: Json) => item.text);
    assertEquals([await complete("/compress "), await complete("/compact --p")], [
      ["here", "--preview"],
      ["--preview"],
    ]);
  });
});

// ── The whole conversation afterwards ───────────────────────────────────────────────────────────────────────

Deno.test("/history and /save have the whole conversation after compressions, each message once, also after a restart", async () => {
  await withGateway(
    { model: { respond: (r: Json) => isSummary(r) ? "THE SUMMARY" : `to ${lastSaid(r)}` } },
    async (scene) => {
      const { host, rig, model } = scene;
      const { sid, stored } = await talk(host);
      const built = model.calls()[0]!.body.messages[0].content;
      await host.request("session.compress", { session_id: sid, focus_topic: "here 2" });
      const whole = SAID.flatMap((said) => [`You: ${said}`, `Hermes: to ${said}`]);
      const history = async (at: GatewayHost, id: string) =>
        (await at.request("slash.exec", { session_id: id, command: "/history" })).output.split("\n");
      assertEquals(await history(host, sid), whole);

      const save = async (at: GatewayHost, id: string) => {
        const { file } = await at.request("session.save", { session_id: id });
        return JSON.parse(await Deno.readTextFile(file));
      };
      const saved = await save(host, sid);
      const { session_key } = await host.request("session.status", { session_id: sid });
      assert(session_key !== stored);
      assertEquals([saved.session_id, saved.system_prompt], [session_key, built]);
      const said = (file: Json) =>
        file.messages.filter((row: Json) => row.displayKind === undefined).map((row: Json) => row.content);
      assertEquals(said(saved), SAID.flatMap((text) => [text, `to ${text}`]));
      assertEquals(
        saved.messages.filter((row: Json) => row.displayKind === "compaction_summary").length,
        1,
      );

      await host.turn(sid, "i");
      await host.request("session.compress", { session_id: sid, focus_topic: "here" });
      await host.end();
      await using other = await startGateway({ rig });
      const { session_id } = await other.request("session.resume", { session_id: stored });
      assertEquals(await history(other, session_id), [...whole, "You: i", "Hermes: to i"]);
      const again = await save(other, session_id);
      assertEquals(said(again).slice(-2), ["i", "to i"]);
      assertEquals([said(again).length, again.session_start], [18, saved.session_start]);
      assert(again.system_prompt.length > 100);
    },
  );
});

Deno.test("/save of a branch has what was copied and no prompt of the conversation it left", async () => {
  await withGateway({ model }, async ({ host }) => {
    const { sid } = await talk(host);
    const branch = (await host.request("session.branch", { session_id: sid, count: 4 })).session_id;
    assertEquals((await host.request("session.compress", { session_id: sid })).status, "compressed");
    const { file } = await host.request("session.save", { session_id: branch });
    const saved = JSON.parse(await Deno.readTextFile(file));
    assertEquals(saved.messages.map((row: Json) => row.content), ["a", "ok", "b", "ok"]);
    assertEquals(saved.system_prompt, "");
  });
});

function lastSaid(request: Json): string {
  return sentTexts(request, "user").at(-1)!;
}
