/** Files put back through the gateway: `rollback.*`, `/rollback`, and a rewind with `restore_files` (B.11, B.17, FC-16). */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { call, calling } from "../../support/core_driver.ts";
import type { GatewayHost, Json } from "../../support/gateway_driver.ts";
import { withGateway } from "./scene.ts";

const write = (path: string, content: string) => call("write_file", { path, content });
const read = (path: string) => call("read_file", { path });

const TURNS = [
  calling(read("a.txt")),
  calling(write("a.txt", "two\n"), write("b.txt", "b\n")),
  "first",
  "second",
  calling(write("a.txt", "three\n")),
  "third",
  "fourth",
];

interface Scene {
  readonly host: GatewayHost;
  readonly sid: string;
  path(name: string): string;
  /** Texts of a.txt and b.txt; `null` = absent. */
  files(): Promise<(string | null)[]>;
}

/** Turn 1: a one → two, b made. Turn 2: no file. Turn 3: a two → three. */
async function withTurns(test: (scene: Scene) => Promise<void>): Promise<void> {
  await withGateway({ model: { turns: TURNS } }, async ({ host, rig }) => {
    const path = (name: string) => `${rig.workspace}/${name}`;
    await Deno.writeTextFile(path("a.txt"), "one\n");
    const { sid } = await host.session({ cwd: rig.workspace });
    for (const text of ["make two", "only talk", "make three"]) await host.turn(sid, text);
    const files = () =>
      Promise.all(["a.txt", "b.txt"].map((name) => Deno.readTextFile(path(name)).catch(() => null)));
    assertEquals(await files(), ["three\n", "b\n"]);
    await test({ host, sid, path, files });
  });
}

async function userRows(host: GatewayHost, sid: string): Promise<number[]> {
  const { messages } = await host.request("session.history", { session_id: sid });
  return messages.filter((row: Json) => row.role === "user").map((row: Json) => row.row_id);
}

Deno.test("B.17 rollback.list, diff, restore: the turns that changed files, newest first, and the way back", async () => {
  await withTurns(async ({ host, sid, path, files }) => {
    const { enabled, checkpoints } = await host.request("rollback.list", { session_id: sid });
    assertEquals([enabled, checkpoints.map((one: Json) => [one.message, one.files])], [true, [
      ["make three", 1],
      ["make two", 2],
    ]]);
    const [newest, oldest] = checkpoints;
    assert(newest.timestamp > oldest.timestamp);

    const diff = await host.request("rollback.diff", {
      session_id: sid,
      hash: oldest.hash,
      file_path: "a.txt",
    });
    assertEquals(diff.stat, ` ${path("a.txt")} | +1 -1\n 1 file changed, +1 -1`);
    assertMatch(diff.diff, /^-one\n\+three$/m);
    const both = await host.request("rollback.diff", { session_id: sid, hash: 2 });
    assertMatch(both.stat, /2 files changed, \+2 -1$/);

    const restored = await host.request("rollback.restore", { session_id: sid, hash: "1" });
    assertEquals(restored, {
      success: true,
      restored_to: newest.hash,
      history_removed: 0,
      files: [{ path: path("a.txt"), action: "write" }],
    });
    assertEquals(await files(), ["two\n", "b\n"]);
    const one = await host.request("rollback.restore", {
      session_id: sid,
      hash: oldest.hash.slice(0, 8),
      file_path: "b.txt",
    });
    assertEquals([one.success, await files()], [true, ["two\n", null]]);
    assertEquals((await host.request("rollback.restore", { session_id: sid, hash: 2 })).success, true);
    assertEquals(await files(), ["one\n", null]);
    assertEquals(await host.request("rollback.diff", { session_id: sid, hash: 2 }), { stat: "", diff: "" });
  });
});

Deno.test("B.17 rollback: what cannot be gone back to is refused by its code, and nothing is touched", async () => {
  await withTurns(async ({ host, sid, path, files }) => {
    const at = { session_id: sid };
    assertEquals((await host.refused("rollback.list", { session_id: "nope" })).code, 4001);
    assertEquals((await host.refused("rollback.diff", at)).code, 4014);
    assertEquals((await host.refused("rollback.restore", { ...at, hash: "" })).code, 4014);
    assertEquals((await host.refused("rollback.restore", { ...at, hash: {} })).code, -32602);
    assertEquals((await host.refused("rollback.diff", { ...at, hash: 3 })).code, 5022);
    assertEquals((await host.request("rollback.restore", { ...at, hash: "abc" })).reason, "not_found");

    await Deno.writeTextFile(path("a.txt"), "mine\n");
    const refused = await host.request("rollback.restore", { ...at, hash: 2 });
    assertEquals([refused.success, refused.reason], [false, "conflict"]);
    assertMatch(refused.error, /a\.txt \(it was changed since\)/);
    assertEquals(await files(), ["mine\n", "b\n"]);
  });
});

Deno.test("/rollback lists, shows, refuses and puts back, as the methods do", async () => {
  await withTurns(async ({ host, sid, path, files }) => {
    const say = async (command: string) =>
      (await host.request("slash.exec", { session_id: sid, command })).output as string;
    assertMatch(await say("/rollback"), /^ {2}1\. [0-9a-f]{8} {2}1 file {2}make three$/m);
    assertMatch(await say("/rollback diff 1"), /^-two\n\+three$/m);
    await Deno.writeTextFile(path("b.txt"), "mine\n");
    assertEquals(
      await say("/rollback 2"),
      "left alone: a.txt\nCONFLICT: b.txt (it was changed since)\n" +
        "Nothing was changed: `hermes sessions restore --force` overwrites what was changed since.",
    );
    assertEquals(await files(), ["three\n", "mine\n"]);
    assertEquals(await say("/rollback 2 a.txt"), "put back: a.txt");
    assertEquals(await files(), ["one\n", "mine\n"]);
    assertEquals((await host.refused("slash.exec", { session_id: sid, command: "/rollback 9" })).code, 4018);
    assertEquals(
      (await host.refused("slash.exec", { session_id: sid, command: "/rollback diff" })).code,
      4004,
    );
  });
});

Deno.test("B.17 rollback.diff and /rollback diff show no secret", async () => {
  const secret = "ghp_0123456789abcdefghijABCDEFGHIJ0123";
  await withGateway({ model: { turns: [calling(write("b.txt", "b\n")), "done"] } }, async ({ host, rig }) => {
    const { sid } = await host.session({ cwd: rig.workspace });
    await host.turn(sid, "make b");
    await Deno.writeTextFile(`${rig.workspace}/b.txt`, `token = ${secret}\n`);
    const { diff } = await host.request("rollback.diff", { session_id: sid, hash: 1 });
    const { output } = await host.request("slash.exec", { session_id: sid, command: "/rollback diff 1" });
    for (const text of [diff, output]) {
      assertMatch(text, /^\+token = /m);
      assert(!text.includes(secret), text);
    }
  });
});

Deno.test("B.11 restore_files: a rewind takes back the files of the turns it cuts away", async () => {
  await withTurns(async ({ host, sid, path, files }) => {
    const rows = await userRows(host, sid);
    const result = await host.request("prompt.submit", {
      session_id: sid,
      text: "again",
      truncate_before_row_id: rows[1],
      confirm_truncate: true,
      restore_files: true,
    });
    assertEquals(result.status, "streaming");
    assertEquals(result.restored_files, [{ path: path("a.txt"), action: "write" }]);
    assertEquals(result.survivor_user_row_ids.length, 1);
    await host.event("message.complete", sid, 3);
    await host.idle(sid);
    assertEquals(await files(), ["two\n", "b\n"]);
    const { messages } = await host.request("session.history", { session_id: sid });
    assertEquals(messages.filter((row: Json) => row.role === "user").map((row: Json) => row.text), [
      "make two",
      "again",
    ]);
  });
});

Deno.test("B.11 restore_files: where the user changed a file since it is 4031, and neither files nor history move", async () => {
  await withTurns(async ({ host, sid, path, files }) => {
    const rows = await userRows(host, sid);
    await Deno.writeTextFile(path("a.txt"), "mine\n");
    const submit = (more: Json) =>
      host.refused("prompt.submit", { session_id: sid, text: "again", restore_files: true, ...more });
    const refused = await submit({
      truncate_before_row_id: rows[0],
      confirm_truncate: true,
      confirm_empty_truncate: true,
    });
    assertEquals([refused.code, refused.data.reason], [4031, "conflict"]);
    assertEquals(refused.data.files.map((one: Json) => one.action), ["conflict", "remove"]);
    assertEquals((await submit({})).code, 4004);
    assertEquals((await submit({ truncate_before_row_id: rows[0] })).code, 4029);
    assertEquals(await files(), ["mine\n", "b\n"]);
    assertEquals(await userRows(host, sid), rows);
  });
});
