/** What a session row says beside its messages (core.md D.3, D.4, F.9), and where it is shown. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { startApi } from "../../support/api_driver.ts";
import { query, sessionRow, withCore } from "../../support/core_driver.ts";
import { eventually, runProgram } from "../../support/program.ts";

const usage = { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107 };
const answer = (text: string) => ({ steps: [{ text }, { usage }] });

async function repository(directory: string, branch: string): Promise<void> {
  await Deno.mkdir(`${directory}/.git`, { recursive: true });
  await Deno.writeTextFile(`${directory}/.git/HEAD`, `ref: refs/heads/${branch}\n`);
}

Deno.test("core D.3, D.4, F.9: branch and root, who is paid and how, tokens of an answer: stored, and shown by sessions show and serve", async () => {
  await withCore({ model: { loop: true, turns: [answer("yes")] } }, async ({ rig, host, open, model }) => {
    await repository(rig.workspace, "feature/one");
    await Deno.mkdir(`${rig.workspace}/deep/er`, { recursive: true });
    const { sid, stored } = await open({ cwd: `${rig.workspace}/deep/er` });
    await host.turn(sid, "hello");
    const row = sessionRow(rig, stored);
    assertEquals([row.git_branch, row.git_repo_root], ["feature/one", rig.workspace]);
    assertEquals([row.billing_provider, row.billing_base_url, row.billing_mode], [
      "custom",
      model.url,
      "unknown",
    ]);
    assertEquals([row.cost_status, row.pricing_version], ["unknown", null]);
    const counted = query(
      rig,
      "SELECT model, provider, base_url, billing_mode, api_call_count, output_tokens FROM session_model_usage",
    );
    assertEquals(counted, [{
      model: "scripted",
      provider: "custom",
      base_url: model.url,
      billing_mode: "unknown",
      api_call_count: 1,
      output_tokens: 7,
    }]);
    const counts = query(rig, "SELECT role, token_count FROM messages ORDER BY id");
    assertEquals(counts, [{ role: "user", token_count: null }, { role: "assistant", token_count: 7 }]);

    const shown = JSON.parse((await runProgram(["sessions", "show", stored, "--json"], { rig })).stdout);
    assertEquals([shown.git_branch, shown.git_repo_root], ["feature/one", rig.workspace]);
    assertEquals(shown.cost, {
      estimated_cost_usd: null,
      cost_status: "unknown",
      cost_source: "none",
      pricing_version: null,
      billing_provider: "custom",
      billing_base_url: model.url,
      billing_mode: "unknown",
    });
    assertEquals(shown.messages[1].token_count, 7);
    await using api = await startApi({ rig, model });
    const { data } = await (await api.call(`/api/sessions/${stored}/messages`)).json();
    assertEquals(data.map(({ token_count }: { token_count: unknown }) => token_count), [null, 7]);

    // A session that moves says where it is now, with its next turn at the latest.
    const other = `${rig.workspace}/other`;
    await repository(other, "side");
    await host.request("session.cwd.set", { session_id: sid, cwd: other });
    assertEquals([sessionRow(rig, stored).git_branch, sessionRow(rig, stored).cwd], [null, other]);
    await host.turn(sid, "and here?");
    await eventually(() => sessionRow(rig, stored).git_branch === "side", 5_000, "the branch");
    assertEquals(sessionRow(rig, stored).git_repo_root, other);
  });
});

Deno.test("core D.3: outside a repository both are null; a branch of a session takes over what is known", async () => {
  await withCore({ model: { loop: true, turns: [answer("yes")] } }, async ({ rig, host, open }) => {
    const { sid, stored } = await open();
    await host.turn(sid, "hello");
    const { git_branch, git_repo_root } = sessionRow(rig, stored);
    assertEquals([git_branch, git_repo_root], [null, null]);
    await repository(rig.workspace, "main");
    const { stored: second, sid: secondSid } = await open();
    await host.turn(secondSid, "hello");
    assertEquals(sessionRow(rig, second).git_branch, "main");
    await host.request("session.branch", { session_id: secondSid, name: "copy" });
    const copy = query(rig, "SELECT * FROM sessions WHERE title = 'copy'")[0];
    assertEquals([copy.git_branch, copy.git_repo_root], ["main", rig.workspace]);
    const tokens = query(rig, "SELECT token_count FROM messages WHERE session_id = ? ORDER BY id", copy.id);
    assertEquals(tokens.map(({ token_count }) => token_count), [null, 7]);
  });
});

Deno.test("core F.9: the built-in models are included, and the row says so", async () => {
  await withCore({}, async ({ rig }) => {
    const run = await runProgram(["run", "--demo", "hello"], { rig });
    assertEquals(run.code, 0, run.stderr);
    const [row] = query(rig, "SELECT * FROM sessions");
    assertEquals([row.billing_provider, row.billing_mode, row.cost_status], [
      "builtin",
      "included",
      "included",
    ]);
    assertMatch(row.id, /^\d{8}_\d{6}_[0-9a-f]{6}$/);
  });
});
