/** core.md J 55, acp.md C5: what is wrong with the settings is told to who uses them, once. */
import { type Json, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";

const config = { approvals: { timeout: "2" }, acpp: {} };
const WRONG = [/approvals\.timeout/, /acpp.*did you mean acp/];

function assertTold(texts: readonly string[]): void {
  assertEquals(texts.length, WRONG.length, texts.join("\n"));
  WRONG.forEach((wrong, at) => assertMatch(texts[at]!, wrong));
}

Deno.test("core 55: a client with notices is told at once what is wrong with the settings, and once", async () => {
  await withAcp(
    { turns: ["hi"], config, capabilities: { session: { notices: {} } } },
    async ({ acp, rig, sessionId }) => {
      await acp.prompt(sessionId, "go");
      const notices = (id: string) =>
        acp.updates(id).filter((u: Json) => u.sessionUpdate === "notice").map((u: Json) => u.title);
      assertTold(notices(sessionId));
      const other = await acp.newSession(rig.workspace);
      await acp.update((u) => u.sessionUpdate === "available_commands_update");
      assertEquals(notices(other), []);
      assertEquals(acp.text(sessionId), "hi");
      await acp.close();
      for (const wrong of WRONG) assertMatch(acp.stderr, wrong);
    },
  );
});

Deno.test("core 55: any other client is told at the start of its next turn, also that a broken file was left out", async () => {
  await withAcp({ turns: ["hi"], config }, async ({ acp, rig, sessionId, again }) => {
    await acp.prompt(sessionId, "go");
    const [first, second, third] = acp.updates(sessionId)
      .filter((u: Json) => u.sessionUpdate === "agent_message_chunk").map((u: Json) => u.content.text);
    assertTold([first, second]);
    assertEquals(third, "hi");
    await acp.close();
    await Deno.writeTextFile(`${rig.home}/config.jsonc`, "{ broken");
    await using next = await again();
    await next.request("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
    await next.update((u) => u.sessionUpdate === "available_commands_update");
    await next.close();
    assertMatch(next.stderr, /config\.jsonc/);
    assert(!next.stderr.includes("approvals.timeout"), next.stderr);
  });
});
