/** `hermes sessions restore` over files that turns of a stored conversation changed. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { call, calling } from "../../support/core_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, type Rig, runProgram } from "../../support/program.ts";

interface Scene {
  readonly rig: Rig;
  readonly session: string;
  path(name: string): string;
  /** Texts by name; `null` = absent. */
  files(): Promise<Record<string, string | null>>;
  restore(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>;
}

const write = (path: string, content: string) => call("write_file", { path, content });
const replace = (path: string, from: string, to: string) =>
  call("patch", { mode: "replace", path, old_string: from, new_string: to });
const NAMES = ["a.txt", "b.txt", "c.txt"];

/** Turn 1: a one → two, b made. Turn 2: no file. Turn 3: a two → three, c made. */
async function withTurns(
  test: (scene: Scene) => Promise<void>,
  extra: Record<string, unknown> = {},
  beforeTurn: (prompt: string, path: (name: string) => string) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  await using server = await startModelServer({
    turns: [
      calling(call("read_file", { path: "a.txt" })),
      calling(replace("a.txt", "one", "two"), write("b.txt", "b\n")),
      "first",
      "second",
      calling(replace("a.txt", "two", "three"), write("sub/c.txt", "c\n")),
      "third",
    ],
  });
  await using rig = await makeRig({ config: modelConfig(server.url, extra) });
  const path = (name: string) => `${rig.workspace}/${name === "c.txt" ? "sub/c.txt" : name}`;
  await Deno.writeFile(path("a.txt"), new TextEncoder().encode("\ufeffone\r\n"), { mode: 0o640 });
  let session = "";
  for (const prompt of ["1", "2", "3"]) {
    await beforeTurn(prompt, path);
    const more = session ? ["--session", session] : [];
    const { stdout, stderr } = await runProgram(["run", "--json", "-C", rig.workspace, ...more, prompt], {
      rig,
    });
    const result = JSON.parse(stdout.trim().split("\n").at(-1)!);
    assertEquals(result.outcome, "completed", stderr);
    session = result.session_id;
  }
  await test({
    rig,
    session,
    path,
    files: async () => {
      const found = await Promise.all(NAMES.map((name) => Deno.readTextFile(path(name)).catch(() => null)));
      return Object.fromEntries(NAMES.map((name, at) => [name, found[at]!]));
    },
    restore: (...args) => runProgram(["sessions", "restore", session, ...args], { rig }),
  });
}

const AFTER_3 = { "a.txt": "\ufeffthree\r\n", "b.txt": "b\n", "c.txt": "c\n" };
const AFTER_2 = { "a.txt": "\ufefftwo\r\n", "b.txt": "b\n", "c.txt": null };
const AT_FIRST = { "a.txt": "\ufeffone\r\n", "b.txt": null, "c.txt": null };

Deno.test("sessions restore puts files back to before the last turn that changed any, then to an earlier one", async () => {
  await withTurns(async ({ files, restore, path, rig, session }) => {
    assertEquals(await files(), AFTER_3);
    const dry = await restore("--dry-run");
    assertEquals([dry.code, await files()], [0, AFTER_3]);
    assertMatch(dry.stdout, /would put back {2}.*a\.txt\nwould remove {2}.*sub\/c\.txt\n/);
    const done = await restore();
    assertEquals([done.code, await files()], [0, AFTER_2]);
    assertMatch(done.stdout, /^put back {2}.*a\.txt\nremoved {2}.*sub\/c\.txt\n$/);
    assertEquals((await restore("--turn", "3")).stdout.replaceAll(/ {2}.*/g, ""), "unchanged\nunchanged\n");
    assertEquals([(await restore("--turn", "1")).code, await files()], [0, AT_FIRST]);
    const bytes = await Deno.readFile(path("a.txt"));
    assertEquals([...bytes.slice(0, 3)], [0xef, 0xbb, 0xbf]);
    assertEquals((await Deno.stat(path("a.txt"))).mode! & 0o777, 0o640);
    const audit = await runProgram(["audit", "--json", "--session", session], { rig });
    const kinds = audit.stdout.trim().split("\n").map((line) => JSON.parse(line)).filter((row) =>
      row.kind === "restore"
    );
    assertEquals(kinds.map((row) => row.files_changed), [2, 2]);
  });
});

Deno.test("sessions restore refuses all when one file was changed since, unless forced", async () => {
  await withTurns(async ({ files, restore, path }) => {
    await Deno.writeTextFile(path("c.txt"), "mine\n");
    const refused = await restore();
    assertEquals([refused.code, await files()], [1, { ...AFTER_3, "c.txt": "mine\n" }]);
    assertMatch(refused.stdout, /CONFLICT {2}.*c\.txt {2}\(it was changed since\)/);
    assertMatch(refused.stderr, /nothing was changed; --force/);
    assertEquals((await restore("--dry-run")).code, 1);
    const forced = await restore("--force", "--json");
    assertEquals([forced.code, await files()], [0, AFTER_2]);
    const { done, files: told } = JSON.parse(forced.stdout);
    assertEquals([done, told.map((file: { action: string }) => file.action)], [true, ["write", "remove"]]);
  });
});

Deno.test("sessions restore sees what somebody else did between two turns, and a deletion", async () => {
  await withTurns(async ({ files, restore, path }) => {
    await Deno.remove(path("b.txt"));
    const gone = await restore("--turn", "1");
    assertEquals(gone.code, 0);
    assertEquals(await files(), AT_FIRST);
  });
  await withTurns(async ({ restore, path }) => {
    await Deno.remove(path("a.txt"));
    const { code, stdout } = await restore();
    assertEquals(code, 1);
    assertMatch(stdout, /CONFLICT {2}.*a\.txt {2}\(it was deleted since\)/);
  });
  const theirs = (prompt: string, path: (name: string) => string) =>
    prompt === "3" ? Deno.writeTextFile(path("a.txt"), "\ufefftwo\r\ntheirs\r\n") : Promise.resolve();
  await withTurns(
    async ({ files, restore }) => {
      const kept = { ...AFTER_3, "a.txt": "\ufeffthree\r\ntheirs\r\n" };
      const { code, stdout } = await restore("--turn", "1");
      assertEquals([code, await files()], [1, kept]);
      assertMatch(stdout, /CONFLICT {2}.*a\.txt {2}\(it was changed by somebody else between the turns\)/);
      assertEquals((await restore()).code, 0);
    },
    {},
    theirs,
  );
});

Deno.test("sessions restore touches nothing when a content is not kept any more, also forced", async () => {
  await withTurns(async ({ files, restore, rig }) => {
    await Deno.remove(`${rig.home}/snapshots`, { recursive: true });
    const { code, stdout, stderr } = await restore("--force");
    assertEquals([code, await files()], [1, AFTER_3]);
    assertMatch(stdout, /LOST {2}.*a\.txt/);
    assertEquals(stderr.trim(), "hermes: nothing was changed");
  });
});

Deno.test("sessions restore: contents are for the user alone, and none are kept where that is switched off", async () => {
  await withTurns(async ({ rig }) => {
    let count = 0;
    for await (const folder of Deno.readDir(`${rig.home}/snapshots`)) {
      const inside = `${rig.home}/snapshots/${folder.name}`;
      assertEquals((await Deno.stat(inside)).mode! & 0o777, 0o700);
      for await (const file of Deno.readDir(inside)) {
        assertEquals((await Deno.stat(`${inside}/${file.name}`)).mode! & 0o777, 0o600);
        count++;
      }
    }
    assertEquals(count, 2);
  });
  await withTurns(async ({ rig, restore }) => {
    assertEquals(await Deno.stat(`${rig.home}/snapshots`).catch(() => null), null);
    assertMatch((await restore()).stdout, /LOST/);
  }, { snapshots: { enabled: false } });
});

Deno.test("sessions restore: --before takes a row id; what does not exist is said", async () => {
  await withTurns(async ({ files, restore, rig, session }) => {
    const shown = JSON.parse((await runProgram(["sessions", "show", session, "--json"], { rig })).stdout);
    const ids = shown.messages.filter((message: { role: string }) => message.role === "user")
      .map((message: { id?: number; row_id?: number }) => message.row_id ?? message.id);
    assertEquals([(await restore("--before", String(ids[1]))).code, await files()], [0, AFTER_2]);
    const none = await restore("--turn", "9");
    assertEquals(none.code === 0, false);
    assertMatch(none.stderr, /no turn 9; it has 3 turns/);
    assertEquals((await restore("--turn", "1", "--before", "1")).code, 2);
  });
});
