/** `/rollback` over ACP: a command of the user that the fixed list (acp.md C9) does not advertise. */
import { calls, withAcp } from "../../support/acp_driver.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";

Deno.test("/rollback lists and puts files back over ACP, and refuses where the user has changed one since", async () => {
  const turns = [calls(["write_file", { path: "a.txt", content: "made\n" }]), "done"];
  await withAcp({ turns }, async ({ acp, sessionId, rig, model }) => {
    const path = `${rig.workspace}/a.txt`;
    const say = async (line: string) => {
      const from = acp.frames.length;
      assertEquals((await acp.prompt(sessionId, line)).stopReason, "end_turn");
      return acp.frames.slice(from).map(({ frame }) => frame.params?.update)
        .filter((update) => update?.sessionUpdate === "agent_message_chunk")
        .map((update) => update.content.text).join("");
    };
    await acp.prompt(sessionId, "make a file");
    assertEquals(await Deno.readTextFile(path), "made\n");
    assertMatch(await say("/rollback"), /1\. [0-9a-f]{8} {2}1 file {2}make a file/);
    await Deno.writeTextFile(path, "mine\n");
    assertMatch(await say("/rollback 1"), /^CONFLICT: a\.txt \(it was changed since\)/);
    assertEquals(await Deno.readTextFile(path), "mine\n");
    await Deno.writeTextFile(path, "made\n");
    assertEquals(await say("/rollback 1"), "removed: a.txt");
    assertEquals([...Deno.readDirSync(rig.workspace)].map((entry) => entry.name), []);
    assertEquals(model.calls().length, 2);
  });
});
