/** Clients that we did not write: the ACP SDK's own, and `acpx` from npm. */
import * as acp from "@agentclientprotocol/sdk";
import { calls } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, programCommand, startProgram } from "../../support/program.ts";

Deno.test("the SDK's client opens a session, prompts, allows an edit and reads the answer", async () => {
  await using model = await startModelServer({
    turns: [calls(["write_file", { path: "a.txt", content: "from the sdk" }]), "all done"],
  });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const child = startProgram(["acp"], { rig });
  const stderr = new Response(child.stderr).text();
  const asked: acp.RequestPermissionRequest[] = [];
  const client = acp.client({ name: "test" }).onRequest(
    acp.methods.client.session.requestPermission,
    ({ params }) => {
      asked.push(params);
      return { outcome: { outcome: "selected", optionId: params.options[0]!.optionId } };
    },
  );
  const stream = acp.ndJsonStream(child.stdin, child.stdout);
  const seen: string[] = [];
  await client.connectWith(stream, async (context) => {
    const started = await context.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: {},
    });
    assertEquals(started.agentInfo?.name, "hermes-agent");
    await context.buildSession(rig.workspace).withSession(async (session) => {
      const answer = session.prompt("write a file");
      seen.push(await session.readText());
      assertEquals((await answer).stopReason, "end_turn");
    });
  });
  // The SDK leaves the process, and its streams, to whoever started it.
  await child.stdin.close();
  assertEquals((await child.status).code, 0);
  await stderr;
  assertEquals(seen, ["all done"]);
  assertEquals(asked.length, 1);
  assertEquals(await Deno.readTextFile(`${rig.workspace}/a.txt`), "from the sdk");
});

/** A folder with `acpx` and a Node new enough for it, kept between runs; `null` when npm cannot be reached. */
async function installAcpx(): Promise<string | null> {
  const folder = `${Deno.env.get("TMPDIR") ?? "/tmp"}/hermes-acpx-0.19.1`;
  const ready = `${folder}/node_modules/acpx/package.json`;
  if (await Deno.stat(ready).then(() => true, () => false)) return folder;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/package.json`, '{"private":true}');
  const { success, stderr } = await new Deno.Command("npm", {
    args: ["install", "--no-audit", "--no-fund", "acpx@0.19.1", "node@24"],
    cwd: folder,
    stdout: "null",
    stderr: "piped",
  }).output();
  if (success) return folder;
  const text = new TextDecoder().decode(stderr);
  const unreachable = /ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|network/i.test(text);
  if (!unreachable) throw new Error(`npm could not install acpx:\n${text}`);
  return null;
}

Deno.test("acpx drives a prompt with a permission", async (t) => {
  const folder = await installAcpx();
  await t.step({
    name: folder ? "one prompt through acpx" : "skipped: npm cannot be reached",
    ignore: folder === null,
    fn: async () => {
      await using model = await startModelServer({
        turns: [calls(["write_file", { path: "a.txt", content: "from acpx" }]), "acpx is done"],
      });
      await using rig = await makeRig({ config: modelConfig(model.url) });
      const agent = [...programCommand(), "acp"].map((word) => JSON.stringify(word)).join(" ");
      const { code, stdout, stderr } = await new Deno.Command(`${folder}/node_modules/.bin/node`, {
        args: [
          `${folder}/node_modules/acpx/dist/cli.js`,
          "--agent",
          agent,
          "--approve-all",
          "--format",
          "text",
          "exec",
          "write a file",
        ],
        cwd: rig.workspace,
        clearEnv: true,
        env: { ...rig.env, HOME: rig.env.HOME! },
        stdout: "piped",
        stderr: "piped",
      }).output();
      const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)) as [string, string];
      assertEquals(code, 0, err);
      assertMatch(out, /acpx is done/);
      assertEquals(await Deno.readTextFile(`${rig.workspace}/a.txt`), "from acpx");
      assert(model.calls().length === 2);
    },
  });
});
