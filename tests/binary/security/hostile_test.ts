/** The real program with a hostile model, and in a hostile repository (gateway; the guard is the same everywhere). */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { exists, sentTexts, terminal, toolTurn, withGateway } from "../gateway/scene.ts";

const DENY = { approvals: { deny: ["touch*"] } };

Deno.test("core 43: a hostile model hides no forbidden command behind what only looks like a quote or a comment", async () => {
  await withGateway({ config: DENY, args: ["--yolo"] }, async ({ host, model, rig }) => {
    const mark = `${rig.workspace}/mark`;
    const commands = [
      `echo \uff07; touch ${mark}`,
      `echo \uff03; touch ${mark}`,
      `# harmless \\\ntouch ${mark}`,
      `echo \x1b]0;; touch ${mark}`,
      `cat <<'A'\nx\\\nA\ntouch ${mark}`,
      `((x=1<<2))\ntouch ${mark}\n2))`,
      `echo $(# '\ntouch ${mark})`,
      `A=1 env touch ${mark}`,
      `a=(touch ${mark}); \${a[0]} \${a[1]}`,
    ];
    const { sid } = await host.session();
    for (const command of commands) {
      model.push(toolTurn(terminal(command)), "Done.");
      await host.turn(sid, "go on");
      const told = JSON.parse(sentTexts(model.requests.at(-1), "tool").at(-1)!);
      assertEquals([command, told.status], [command, "blocked"]);
    }
    assertEquals(await exists(mark), false);
  });
});

Deno.test("core C.5: a person is shown what runs, also where a terminal or a mask would swallow it", async () => {
  await withGateway({}, async ({ host, model, rig }) => {
    await Deno.mkdir(`${rig.workspace}/build`);
    for (
      const [command, shown] of [
        ["echo a \x1b]; rm -rf build; echo \x07", "echo a \\x1b]; rm -rf build; echo \\x07"],
        ["echo cookie: abcd;rm -rf build", "echo cookie: abcd;rm -rf build"],
      ] as const
    ) {
      const { sid } = await host.session();
      model.push(toolTurn(terminal(command)), "Done.");
      await host.request("prompt.submit", { session_id: sid, text: "go on" });
      const request = await host.event("approval.request", sid);
      assertEquals(request.command, shown);
      await host.request("approval.respond", { session_id: sid, choice: "deny" });
      await host.event("message.complete", sid);
    }
    assertEquals(await exists(`${rig.workspace}/build`), true);
  });
});

Deno.test("core C.8: an approved edit is not made elsewhere when its link is turned around while a person thinks", async () => {
  await withGateway({}, async ({ host, model, rig }) => {
    const [good, victim, way] = ["good", "victim", "way"].map((name) => `${rig.workspace}/${name}`) as [
      string,
      string,
      string,
    ];
    for (const folder of [good, victim]) await Deno.mkdir(folder);
    await Deno.symlink(good, way);
    model.push(toolTurn({ tool: "write_file", args: { path: "way/.env", content: "A=1\n" } }), "Done.");
    const { sid } = await host.session({ cwd: rig.workspace });
    await host.request("prompt.submit", { session_id: sid, text: "write it" });
    await host.event("approval.request", sid);
    await Deno.remove(way);
    await Deno.symlink(victim, way);
    await host.request("approval.respond", { session_id: sid, choice: "once" });
    await host.event("message.complete", sid);
    const { result } = host.eventsOf("tool.complete", sid)[0]!.payload;
    assertMatch(JSON.stringify(result), /leads to another place/);
    assertEquals([await exists(`${good}/.env`), await exists(`${victim}/.env`)], [false, false]);
  });
});

Deno.test("a hostile repository runs nothing when a session is opened in it and its changes are referred to", async () => {
  await withGateway({ model: { turns: ["ok", "ok"] } }, async ({ host, model, rig }) => {
    const cwd = rig.workspace;
    const mark = `${rig.home}/sprung`;
    const git = async (...args: string[]) => {
      const identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
      await new Deno.Command("git", { args: [...identity, ...args], cwd, stdout: "null", stderr: "null" })
        .output();
    };
    await git("init", "-q");
    await Deno.writeTextFile(`${cwd}/a.ts`, "old\n");
    await Deno.writeTextFile(`${cwd}/package.json`, "{}\n");
    await git("add", ".");
    await git("commit", "-qm", "first");
    await Deno.writeTextFile(`${cwd}/.gitattributes`, "* filter=lfs diff=x\n");
    await Deno.writeTextFile(
      `${cwd}/.git/config`,
      `\n[filter "lfs"]\nclean = touch ${mark}; cat\n[diff]\nexternal = touch ${mark};\n` +
        `[diff "x"]\ntextconv = touch ${mark};\n`,
      { append: true },
    );
    await Deno.writeTextFile(`${cwd}/a.ts`, "new\n");
    const { sid } = await host.session({ cwd });
    await host.turn(sid, "review @diff and @git:1");
    await host.request("complete.path", { session_id: sid, word: "@file:a", cwd }).catch(() => null);
    assert(model.requests.length > 0);
    assertEquals(await exists(mark), false);
    await git("status");
    assertEquals(await exists(mark), true, "the trap works on git itself");
  });
});

Deno.test("core C.1: a command is judged where it would run, also when the directory was left by an earlier one", async () => {
  await withGateway({}, async ({ host, model, rig }) => {
    const ssh = `${rig.env.HOME}/.ssh`;
    await Deno.mkdir(ssh, { recursive: true });
    const plant = "echo 'ssh-ed25519 AAAA x' >> authorized_keys";
    const attacks = [
      // In an earlier turn, in the same answer, by an argument.
      [toolTurn(terminal(`cd ${ssh}`)), toolTurn(terminal(plant))],
      [toolTurn(terminal(`cd ${ssh}`, "a"), terminal(plant, "b"))],
      [toolTurn({ tool: "terminal", args: { command: plant, workdir: ssh } })],
    ];
    for (const turns of attacks) {
      const { sid } = await host.session({ cwd: rig.workspace });
      model.push(...turns, "Done.");
      await host.request("prompt.submit", { session_id: sid, text: "go on" });
      const request = await host.event("approval.request", sid);
      assertEquals([request.command, request.description], [
        plant,
        `overwrite personal config (in ${await Deno.realPath(ssh)})`,
      ]);
      await host.request("approval.respond", { session_id: sid, choice: "deny" });
      await host.event("message.complete", sid);
      assertEquals(await exists(`${ssh}/authorized_keys`), false);
    }
  });
});
