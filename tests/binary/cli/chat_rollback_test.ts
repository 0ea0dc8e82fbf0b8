/** `/rollback` in `hermes chat`. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { call, calling } from "../../support/core_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, runProgram } from "../../support/program.ts";

Deno.test("chat: /rollback lists the turns that changed files and puts them back", async () => {
  await using server = await startModelServer({
    turns: [calling(call("write_file", { path: "a.txt", content: "made\n" })), "done"],
  });
  await using rig = await makeRig({ config: modelConfig(server.url) });
  const input = "make a file\n/rollback\n/rollback diff 1\n/rollback 1\n/rollback 7\n";
  const { code, stdout, stderr } = await runProgram(["chat"], { rig, input });
  const shown = stdout + stderr;
  assertMatch(shown, /1\. [0-9a-f]{8} {2}1 file {2}make a file/);
  assertMatch(shown, /^\+made$/m);
  assertMatch(shown, /removed: a\.txt/);
  assertMatch(shown, /There is no turn "7" to go back to/);
  assertEquals([code, [...Deno.readDirSync(rig.workspace)].length], [1, 0]);
});
