/** References in prompts (tui-gateway.md B.11): what the model gets, what people see, and what is refused. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import type { Json } from "../../support/gateway_driver.ts";
import { sentTexts, withGateway } from "./scene.ts";

async function git(cwd: string, ...args: string[]): Promise<void> {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
  const { success, stderr } = await new Deno.Command("git", {
    args: [...identity, ...args],
    cwd,
    stdout: "null",
    stderr: "piped",
  }).output();
  assert(success, new TextDecoder().decode(stderr));
}

Deno.test("B.11: @file: and @folder: stand behind the prompt for the model; people see what was typed", async () => {
  await withGateway({ model: { turns: ["ok", "again"] } }, async ({ host, rig, model }) => {
    await Deno.mkdir(`${rig.workspace}/src/node_modules`, { recursive: true });
    await Deno.writeTextFile(`${rig.workspace}/src/a.ts`, "one\ntwo\nthree\n");
    await Deno.writeTextFile(`${rig.workspace}/key.txt`, "token = ghp_0123456789abcdefghijABCDEFGHIJ0123\n");
    const { sid } = await host.session({ cwd: rig.workspace });
    const typed = "explain @file:src/a.ts:2-3 in @folder:src and @file:key.txt, not @file:gone.ts";
    const done = await host.turn(sid, typed);
    assertEquals([done.status, done.text], ["complete", "ok"]);
    const sent = sentTexts(model.requests.at(-1), "user").at(-1)!;
    assert(sent.startsWith(`${typed}\n\n`), sent);
    assertMatch(sent, /## @file:src\/a\.ts:2-3\n```ts\ntwo\nthree\n```/);
    assertMatch(sent, /## @folder:src\n```\na\.ts\n```/);
    assert(!sent.includes("ghp_0123456789abcdefghij"), "secrets in files are redacted");
    assertMatch(sent, /Not attached:\n- @file:gone\.ts: there is no such file/);
    const [warning] = host.eventsOf("status.update", sid).filter((event) => event.payload.kind === "warn");
    assertEquals(warning?.payload.text, "@file:gone.ts: there is no such file");
    const { messages } = await host.request("session.history", { session_id: sid });
    assertEquals(messages[0].text, typed);
    const undone = await host.request("command.dispatch", { session_id: sid, command: "/undo" });
    assertEquals(undone.message, typed);
  });
});

Deno.test("B.11: @diff, @staged and @git: show the repository", async () => {
  await withGateway({ model: { turns: ["ok", "ok"] } }, async ({ host, rig, model }) => {
    await git(rig.workspace, "init", "-q");
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "old\n");
    await git(rig.workspace, "add", "a.txt");
    await git(rig.workspace, "commit", "-qm", "first commit");
    await Deno.writeTextFile(`${rig.workspace}/b.txt`, "staged\n");
    await git(rig.workspace, "add", "b.txt");
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "new\n");
    const { sid } = await host.session({ cwd: rig.workspace });
    await host.turn(sid, "review @diff against @staged and @git:1");
    const sent = sentTexts(model.requests.at(-1), "user").at(-1)!;
    assertMatch(sent, /## @diff\n```diff[\s\S]*-old\n\+new\n```\n\n## @staged/);
    assertMatch(sent, /## @staged\n```diff[\s\S]*\+staged\n```/);
    assertMatch(sent, /## @git:1\n```diff[\s\S]*first commit/);
  });
});

Deno.test("B.11: a refused reference is a failed turn that never reached the model; the next one works", async () => {
  await withGateway({ model: { turns: ["ok"] } }, async ({ host, rig, model }) => {
    await Deno.writeTextFile(`${rig.workspace}/.env`, "A=1\n");
    const outside = await Deno.makeTempFile({ dir: rig.home });
    await Deno.symlink(outside, `${rig.workspace}/link`);
    const { sid } = await host.session({ cwd: rig.workspace });
    let nth = 0;
    for (
      const [text, reason] of [
        ["@file:.env", /holds credentials/],
        [`@file:${outside}`, /outside the workspace/],
        ["@file:link", /outside the workspace/],
        ["@folder:..", /outside the workspace/],
        [Array.from({ length: 21 }, (_, at) => `@file:${at}`).join(" "), /at most 20/],
      ] as const
    ) {
      assertEquals((await host.request("prompt.submit", { session_id: sid, text })).status, "streaming");
      const done = await host.event("message.complete", sid, nth++);
      assertEquals([done.status, done.failure_reason], ["error", "reference_refused"], text);
      assertMatch(done.error, reason);
      await host.idle(sid);
    }
    const types = host.events.filter((event) => event.session_id === sid).map((event) => event.type);
    assertEquals(types.slice(-4), ["message.start", "error", "message.complete", "session.info"]);
    assertEquals(model.requests.length, 0);
    assertEquals((await host.turn(sid, "plain")).text, "ok");
  });
});

Deno.test("B.11: an interrupt while references are read ends the turn before it starts, and what waits runs next", async () => {
  await withGateway({ model: { turns: ["second"] } }, async ({ host, rig, model }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "x\n");
    const { sid } = await host.session({ cwd: rig.workspace });
    const lines = [
      { id: "a", method: "prompt.submit", params: { session_id: sid, text: "@git:5 @file:a.txt" } },
      { id: "b", method: "prompt.submit", params: { session_id: sid, text: "plain" } },
    ];
    await host.sendLine(lines.map((line) => JSON.stringify(line)).join("\n"));
    assertEquals((await host.response("b")).result.status, "queued");
    const first: Json = await host.event("message.complete", sid);
    assertEquals(first.status, "interrupted");
    assertEquals((await host.event("message.complete", sid, 1)).text, "second");
    assertEquals(model.requests.length, 1);
  });
});
