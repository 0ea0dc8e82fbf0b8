import { assert, assertEquals, assertMatch, assertRejects } from "../support/assert.ts";
import { makeBench, SECRET } from "./context.ts";

Deno.test("FC-16: a CRLF file with BOM and no final newline changes in the one line only", async () => {
  await using bench = await makeBench();
  const path = await bench.write("a.txt", "\ufeffone\r\ntwo\r\nthree");
  const result = await bench.json("patch", {
    path: "a.txt",
    old_string: "one\ntwo\n",
    new_string: "one\nTWO\n",
  });
  assertEquals(result.success, true);
  assertEquals(await bench.read(path), "\ufeffone\r\nTWO\r\nthree");
  const changed = (result.diff as string).split("\n").filter((line) => /^[-+](?![-+])/.test(line));
  assertEquals(changed, ["-two\r", "+TWO\r"]);
  assertMatch(result.diff, /^--- a\/a\.txt\n\+\+\+ b\/a\.txt\n@@ /);
});

Deno.test("FC-16: bytes that are no UTF-8 stay as they are around an edit", async () => {
  await using bench = await makeBench();
  const bytes = new Uint8Array([
    ...new TextEncoder().encode("name = "),
    0xe9,
    0xff,
    10,
    ...new TextEncoder().encode("x = 1\n"),
  ]);
  const path = await bench.write("latin.txt", bytes);
  await bench.json("patch", { path, old_string: "x = 1", new_string: "x = 2" });
  const wanted = new Uint8Array([...bytes.slice(0, -2), 0x32, 10]);
  assertEquals(await Deno.readFile(path), wanted);
  const refused = await bench.json("patch", { path, old_string: "x = 2", new_string: "x = \u20ac" });
  assertMatch(refused.error, /encoding has no character/);
  assertEquals(await Deno.readFile(path), wanted);
});

Deno.test("FC-16: UTF-16 files keep their encoding", async () => {
  await using bench = await makeBench();
  const encode = (text: string) =>
    new Uint8Array([0xff, 0xfe, ...[...text].flatMap((c) => [c.charCodeAt(0), 0])]);
  const path = await bench.write("wide.txt", encode("one\r\ntwo\r\n"));
  const result = await bench.json("patch", { path, old_string: "two", new_string: "2" });
  assertEquals(result.success, true);
  assertEquals(await Deno.readFile(path), encode("one\r\n2\r\n"));
});

Deno.test("FC-16: an ambiguous old text changes nothing and tells the count", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", "x\ny\nx\n");
  const result = await bench.json("patch", { path: "a.txt", old_string: "x", new_string: "z" });
  assertEquals(result.success, false);
  assertMatch(result.error, /Found 2 matches for old_string/);
  assertEquals(await bench.read("a.txt"), "x\ny\nx\n");
  const all = await bench.json("patch", {
    path: "a.txt",
    old_string: "x",
    new_string: "z",
    replace_all: true,
  });
  assertEquals(all.replacements, 2);
  assertEquals(await bench.read("a.txt"), "z\ny\nz\n");
});

Deno.test("core 35: a patch with wrong indentation is applied and re-indented", async () => {
  await using bench = await makeBench();
  await bench.write("a.py", "class A:\n    def f(self):\n        return 1\n");
  const result = await bench.json("patch", {
    path: "a.py",
    old_string: "def f(self):\n    return 1",
    new_string: "def f(self):\n    return 2",
  });
  assertEquals(await bench.read("a.py"), "class A:\n    def f(self):\n        return 2\n");
  assertMatch(result.diff, /- {8}return 1\n\+ {8}return 2/);
  assertMatch(result._hint, /line_trimmed/);
});

Deno.test("core 37: a V4A patch whose second file does not match writes nothing", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", "a\n");
  await bench.write("b.txt", "b\n");
  const patch =
    "*** Begin Patch\n*** Update File: a.txt\n-a\n+A\n*** Update File: b.txt\n-q\n+Q\n*** Delete File: c.txt\n" +
    "*** Add File: new/d.txt\n+d\n*** End Patch";
  const result = await bench.json("patch", { mode: "patch", patch });
  assertEquals(result.success, false);
  assertMatch(
    result.error,
    /^Patch validation failed \(no files were modified\):\n• b\.txt: [\s\S]*\n• c\.txt: file not found$/,
  );
  assertEquals(await bench.read("a.txt"), "a\n");
  assertEquals(await bench.platform.files.stat(`${bench.dir}/new`), null);
});

Deno.test("patch() V4A updates, adds, deletes and moves in one go", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", "a\n");
  await bench.write("old.txt", "gone\n");
  await bench.write("run.sh", "echo\n");
  await Deno.chmod(`${bench.dir}/run.sh`, 0o755);
  const patch = [
    "*** Update File: a.txt",
    "-a",
    "+A",
    "*** Add File: n/new.txt",
    "+new",
    "*** Delete File: old.txt",
    "*** Update File: run.sh",
    "-echo",
    "+echo hi",
    "*** Move File: run.sh -> bin/run.sh",
  ].join("\n");
  const result = await bench.json("patch", { mode: "patch", patch });
  assertEquals(result.success, true, result.error);
  assertEquals(result.files_modified, [`${bench.dir}/a.txt`]);
  assertEquals(result.files_created, [`${bench.dir}/n/new.txt`, `${bench.dir}/bin/run.sh`]);
  assertEquals(result.files_deleted, [`${bench.dir}/old.txt`, `${bench.dir}/run.sh`]);
  assertEquals(await bench.read("bin/run.sh"), "echo hi\n");
  assertEquals((await Deno.stat(`${bench.dir}/bin/run.sh`)).mode! & 0o777, 0o755);
  assertEquals(await bench.platform.files.stat(`${bench.dir}/run.sh`), null);
  assertMatch(result.diff, /--- \/dev\/null\n\+\+\+ b\/n\/new\.txt\n@@ -0,0 \+1,1 @@\n\+new\n/);
  assertMatch(result.diff, /--- a\/old\.txt\n\+\+\+ \/dev\/null\n/);
});

Deno.test("patch() V4A refuses to move onto a file, and to change nothing", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", "a\n");
  await bench.write("b.txt", "b\n");
  const moved = await bench.json("patch", { mode: "patch", patch: "*** Move File: a.txt -> b.txt" });
  assertMatch(moved.error, /cannot move onto 'b\.txt'/);
  const inert = await bench.json("patch", { mode: "patch", patch: "*** Update File: a.txt\n a" });
  assertMatch(inert.error, /changes nothing/);
});

Deno.test("patch() puts every file back when one of several cannot be written", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", "a\n");
  await bench.write("b.txt", "b\n");
  const real = bench.context().files;
  const files = {
    ...real,
    write: (path: string, data: Uint8Array) =>
      path.endsWith("b.txt") ? Promise.reject(new Error("disk full")) : real.write(path, data),
  };
  const patch = "*** Add File: sub/c.txt\n+c\n*** Update File: a.txt\n-a\n+A\n*** Update File: b.txt\n-b\n+B";
  const result = await bench.json("patch", { mode: "patch", patch }, { overrides: { files } });
  assertMatch(result.error, /disk full.*All files were put back/);
  assertEquals(await bench.read("a.txt"), "a\n");
  assertEquals(await bench.read("b.txt"), "b\n");
  assertEquals(await bench.platform.files.stat(`${bench.dir}/sub`), null);
});

Deno.test("patch() advises differently after three failures in a row on one file", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", "a\n");
  const fail = () => bench.json("patch", { path: "a.txt", old_string: "nope", new_string: "x" });
  await fail();
  assertMatch((await fail())._hint, /Read the file again/);
  assertMatch((await fail())._hint, /failure 3 in a row.*write_file/);
  await bench.json("patch", { path: "a.txt", old_string: "a", new_string: "b" });
  assertMatch((await fail())._hint, /Read the file again/);
});

Deno.test("FC-17 core 76: a file changed since it was read, or never read, is not overwritten", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", "first\n");
  const never = await bench.json("write_file", { path: "a.txt", content: "mine\n" });
  assertMatch(never.error, /has not read it/);
  await bench.json("read_file", { path: "a.txt" });
  await bench.write("a.txt", "user's newer text\n");
  const changed = await bench.json("write_file", { path: "a.txt", content: "mine\n" });
  assertMatch(changed.error, /has changed since/);
  assertEquals(await bench.read("a.txt"), "user's newer text\n");
  await bench.json("read_file", { path: "a.txt" });
  const done = await bench.json("write_file", { path: "a.txt", content: "mine\n" });
  assertEquals(done.error, undefined);
  assertEquals(await bench.read("a.txt"), "mine\n");
  const again = await bench.json("write_file", { path: "a.txt", content: "mine too\n" });
  assertEquals(again.bytes_written, 9);
});

Deno.test("FC-17: reading a part of a file is not having seen it", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", "1\n2\n3\n4\n");
  await bench.json("read_file", { path: "a.txt", limit: 2 });
  assertMatch((await bench.json("write_file", { path: "a.txt", content: "x" })).error, /only parts/);
  await bench.json("read_file", { path: "a.txt", offset: 3, limit: 2 });
  assertEquals((await bench.json("write_file", { path: "a.txt", content: "x" })).bytes_written, 1);
});

Deno.test("FC-17: a change made while the question is open is not lost", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", "old\n");
  for (
    const [tool, args] of [
      ["write_file", { path: "a.txt", content: "new\n" }],
      ["patch", { path: "a.txt", old_string: "old", new_string: "new" }],
    ] as const
  ) {
    const approved = await bench.propose(tool, args);
    assertEquals(approved.edits, [{ path: `${bench.dir}/a.txt`, oldText: "old\n", newText: "new\n" }]);
    for (const newer of ["old\nplus\n", "all gone\n"]) {
      await bench.write("a.txt", newer);
      const outcome = await bench.call(tool, args, { approved });
      assertEquals(outcome.isError, true);
      assertMatch(String(outcome.content), /changed since approval/);
      assertEquals(await bench.read("a.txt"), newer);
    }
    await bench.write("a.txt", "old\n");
  }
});

Deno.test("propose() write_file: an allowed diff counts as having read the file", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", "old\n");
  const args = { path: "a.txt", content: "new\n" };
  const approved = await bench.propose("write_file", args);
  const outcome = await bench.call("write_file", args, { approved });
  assertEquals(outcome.edits, approved.edits);
  assertEquals(await bench.read("a.txt"), "new\n");
});

Deno.test("propose() writes nothing and shows one edit per file of a patch", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", "a\n");
  const patch = "*** Update File: a.txt\n-a\n+A\n*** Move File: a.txt -> .env\n*** Add File: b.txt\n+b";
  const proposal = await bench.propose("patch", { mode: "patch", patch });
  assertEquals(proposal.edits, [
    { path: `${bench.dir}/a.txt`, oldText: "a\n", newText: null },
    { path: `${bench.dir}/.env`, oldText: null, newText: "A\n" },
    { path: `${bench.dir}/b.txt`, oldText: null, newText: "b\n" },
  ]);
  assertEquals(proposal.paths, proposal.edits.map((edit) => edit.path));
  assertEquals(proposal.path, proposal.paths.join(", "));
  assertEquals(await bench.read("a.txt"), "a\n");
});

Deno.test("propose() says why it cannot be worked out", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", "a\n");
  await Deno.mkdir(`${bench.dir}/d`);
  await bench.write("bin", new Uint8Array([0, 1, 2, 3]));
  await assertRejects(() => bench.propose("write_file", { path: "a.txt" }), /'content'.*cut off/);
  await assertRejects(() => bench.propose("write_file", { content: "x" }), /'path'/);
  await assertRejects(() => bench.propose("write_file", { path: "d", content: "x" }), /directory/);
  await assertRejects(() => bench.propose("write_file", { path: "bin", content: "x" }), /binary/);
  await assertRejects(
    () => bench.propose("patch", { path: "a.txt", old_string: "q", new_string: "x" }),
    /Could not find/,
  );
  await assertRejects(
    () => bench.propose("patch", { path: "b.txt", old_string: "q", new_string: "x" }),
    /File not found/,
  );
});

Deno.test("core 37: write_file refuses text that does not parse and leaves the old file", async () => {
  await using bench = await makeBench();
  for (
    const [name, good, bad] of [
      ["a.json", '{"a": 1}\n', '{"a": 1,,}'],
      ["a.yaml", "a: 1\n", "a: [1\nb: }"],
      ["a.toml", "a = 1\n", "a = = 1"],
    ] as const
  ) {
    const first = await bench.json("write_file", { path: name, content: good });
    assertEquals(first.lint, { status: "ok" }, name);
    const second = await bench.json("write_file", { path: name, content: bad });
    assertMatch(second.error, /^Invalid (JSON|YAML|TOML): .+ Nothing was written/);
    assertEquals(second.lint.status, "error");
    assertEquals(await bench.read(name), good);
  }
  assertEquals((await bench.json("write_file", { path: "a.txt", content: "{" })).lint, { status: "skipped" });
  const commented = await bench.json("write_file", {
    path: "tsconfig.json",
    content: '{\n// c\n"a": [1,],\n}',
  });
  assertEquals(commented.lint, { status: "ok" });
  const helm = await bench.json("write_file", {
    path: "t.yaml",
    content: "{{- if .x }}\na: {{ .y }}\n{{- end }}\n",
  });
  assertEquals(helm.lint, { status: "skipped" });
});

Deno.test("write_file() makes parents and says which, keeps mode, CRLF and BOM", async () => {
  await using bench = await makeBench();
  const made = await bench.json("write_file", { path: "x/y/a.txt", content: "hi\n" });
  assertEquals(made.dirs_created, [`${bench.dir}/x`, `${bench.dir}/x/y`]);
  assertEquals(made.bytes_written, 3);
  assertEquals(made.resolved_path, `${bench.dir}/x/y/a.txt`);
  const path = await bench.write("dos.sh", "\ufeffa\r\nb\r\n");
  await Deno.chmod(path, 0o750);
  await bench.json("read_file", { path });
  await bench.json("write_file", { path, content: "a\nc\n" });
  assertEquals(await bench.read(path), "\ufeffa\r\nc\r\n");
  assertEquals((await Deno.stat(path)).mode! & 0o777, 0o750);
  const names = [...Deno.readDirSync(bench.dir)].map((entry) => entry.name);
  assert(!names.some((name) => name.startsWith(".hermes-tmp")), names.join());
});

Deno.test("write_file() goes through a link to its target and refuses a dangling one", async () => {
  await using bench = await makeBench();
  await bench.write("target.txt", "t\n");
  await Deno.symlink("target.txt", `${bench.dir}/link.txt`);
  await Deno.symlink("nowhere", `${bench.dir}/dangling.txt`);
  await bench.json("read_file", { path: "target.txt" });
  const done = await bench.json("write_file", { path: "link.txt", content: "new\n" });
  assertEquals(done.resolved_path, `${bench.dir}/target.txt`);
  assertEquals(await bench.read("target.txt"), "new\n");
  assertEquals((await Deno.lstat(`${bench.dir}/link.txt`)).isSymlink, true);
  const refused = await bench.json("write_file", { path: "dangling.txt", content: "x" });
  assertMatch(refused.error, /symbolic link to nothing/);
  assertEquals((await Deno.lstat(`${bench.dir}/dangling.txt`)).isSymlink, true);
});

Deno.test("write_file() refuses the numbered view of read_file and stand-ins of secrets", async () => {
  await using bench = await makeBench();
  const numbered = await bench.json("write_file", { path: "a.txt", content: "1|one\n2|two\n" });
  assertMatch(numbered.error, /numbered view/);
  await bench.write("c.env.txt", `KEY=${SECRET}\nA=1\n`);
  const seen = await bench.json("read_file", { path: "c.env.txt" });
  assertEquals(seen.content, "1|KEY=«redacted:zz…»\n2|A=1");
  const back = await bench.json("write_file", { path: "c.env.txt", content: "KEY=«redacted:zz…»\nA=2\n" });
  assertMatch(back.error, /stands for a secret/);
  assertEquals(await bench.read("c.env.txt"), `KEY=${SECRET}\nA=1\n`);
});

Deno.test("write_file() warns outside the working directory and refuses a FIFO", async () => {
  await using bench = await makeBench();
  const outside = await bench.json("write_file", { path: "~/x.txt", content: "x" });
  assertMatch(outside._warning, /outside the working directory/);
  assertEquals(await bench.read(`${bench.userHome}/x.txt`), "x");
  await new Deno.Command("mkfifo", { args: [`${bench.dir}/pipe`] }).output();
  const pipe = await bench.json("write_file", { path: "pipe", content: "x" });
  assertMatch(pipe.error, /FIFO/);
});

Deno.test("write_file() core 6: two writers of one file wait for each other", async () => {
  await using bench = await makeBench();
  await Promise.all(
    ["a", "b", "c"].map((letter) =>
      bench.json("write_file", { path: "a.txt", content: letter.repeat(50_000) })
    ),
  );
  const text = await bench.read("a.txt");
  assertEquals(text, text[0]!.repeat(50_000));
});

Deno.test("patch() reports a lint error of what it wrote", async () => {
  await using bench = await makeBench();
  await bench.write("a.json", '{"a": 1}\n');
  const result = await bench.json("patch", { path: "a.json", old_string: "1", new_string: "" });
  assertEquals(result.success, true);
  assertEquals(result.lint.status, "error");
});

Deno.test("describe() never throws on malformed arguments", async () => {
  await using bench = await makeBench();
  const names = [
    "terminal",
    "process",
    "read_file",
    "write_file",
    "patch",
    "search_files",
    "todo",
    "clarify",
  ];
  for (const name of names) {
    const tool = bench.tool(name);
    for (const bad of [undefined, null, 5, "", {}, [], [null], { a: [1] }, "\0"]) {
      const args = Object.fromEntries(
        [
          "path",
          "command",
          "patch",
          "todos",
          "pattern",
          "action",
          "question",
          "choices",
          "offset",
          "mode",
          "session_id",
        ]
          .map((key) => [key, bad]),
      );
      const { title } = tool.describe(args, { cwd: "/w" });
      assert(title.length > 0);
      tool.paths?.(args, { cwd: "/w" });
      tool.command?.(args);
    }
  }
});

Deno.test("describe() gives titles, kinds and places as acp.md C11 has them", async () => {
  await using bench = await makeBench();
  const describe = (name: string, args: Record<string, unknown>) =>
    bench.tool(name).describe(args, { cwd: "/w" });
  assertEquals(describe("read_file", { path: "src/a.ts", offset: 7 }), {
    title: "read: src/a.ts",
    label: "src/a.ts",
    kind: "read",
    locations: [{ path: "/w/src/a.ts", line: 7 }],
    startText: "",
  });
  assertEquals(describe("terminal", { command: "ls -la" }).title, "terminal: ls -la");
  assertEquals(describe("terminal", { command: "ls -la" }).startText, "$ ls -la");
  assertEquals(describe("write_file", { path: "/x/y" }).title, "write: /x/y");
  assertEquals(describe("patch", { path: "a", old_string: "x" }).title, "patch (replace): a");
  assertEquals(describe("patch", { mode: "patch", patch: "*** Move File: a -> b" }).locations, [
    { path: "/w/a" },
    { path: "/w/b" },
  ]);
  assertEquals(describe("search_files", { pattern: "foo" }).title, "search: foo");
  assertEquals(describe("process", { action: "kill", session_id: "proc_1" }).title, "process kill: proc_1");
  assertEquals(
    describe("todo", { todos: [{ id: "1", content: "x", status: "completed" }] }).startText,
    "[x] x",
  );
  const kinds = ["terminal", "process", "read_file", "write_file", "patch", "search_files", "todo", "clarify"]
    .map((name) => describe(name, {}).kind);
  assertEquals(kinds, ["execute", "execute", "read", "edit", "edit", "search", "other", "other"]);
});

Deno.test("core C.8: another profile's skills and memories are written only with cross_profile", async () => {
  await using bench = await makeBench();
  const profile = `${bench.home}/profiles/work`;
  await Deno.mkdir(`${profile}/skills`, { recursive: true });
  const path = `${profile}/skills/x.md`;
  const refused = await bench.json("write_file", { path, content: "x\n" });
  assertMatch(refused.error, /belongs to the profile "work"\. Nothing was written.*cross_profile=true/);
  const added = `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch`;
  const patched = await bench.json("patch", { mode: "patch", patch: added });
  assertMatch(patched.error, /belongs to the profile "work"/);
  await Deno.symlink(`${profile}/skills`, `${bench.dir}/link`);
  assertMatch(
    (await bench.json("write_file", { path: "link/x.md", content: "x\n" })).error,
    /profile "work"/,
  );
  assertEquals([...Deno.readDirSync(`${profile}/skills`)], []);
  const meant = await bench.json("write_file", { path, content: "x\n", cross_profile: true });
  assertEquals([meant.error, await Deno.readTextFile(path)], [undefined, "x\n"]);

  const inside = { overrides: { home: profile } };
  const back = await bench.json(
    "write_file",
    { path: `${bench.home}/memories/M.md`, content: "m\n" },
    inside,
  );
  assertMatch(back.error, /belongs to the profile "default"/);
  const own = await bench.json("write_file", { path: `${profile}/skills/y.md`, content: "y\n" }, inside);
  assertEquals(own.error, undefined);
  const other = await bench.json("write_file", { path: `${profile}/notes.md`, content: "n\n" });
  assertEquals(other.error, undefined);
});
