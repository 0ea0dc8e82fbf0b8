/** The file tools as the model sees them: core rows 32–38 and 76, FC-16, FC-17. */
import {
  call,
  calling,
  exists,
  type Json,
  lastResult,
  results,
  type Scene,
  withCore,
} from "../../support/core_driver.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";
import type { ScriptTurn } from "../../support/model_server.ts";

/** Plays the turns in one prompt, on files made before; the results of all calls, as JSON. */
async function play(
  turns: ScriptTurn[],
  check: (results: Json[], scene: Scene) => Promise<void> | void,
  files: Record<string, string | Uint8Array> = {},
): Promise<void> {
  await withCore({ model: { turns: [...turns, "ok"] } }, async (scene) => {
    for (const [name, content] of Object.entries(files)) await put(scene, name, content);
    const { sid } = await scene.open();
    const { text } = await scene.host.turn(sid, "go");
    // Below the answer stands which edits have failed.
    assertEquals(text.split("\n\nEdits that failed", 1)[0], "ok");
    await check(results(scene.model.calls().at(-1)).map((text) => JSON.parse(text)), scene);
  });
}

async function put({ rig }: Scene, name: string, content: string | Uint8Array): Promise<void> {
  if (typeof content === "string") await Deno.writeTextFile(`${rig.workspace}/${name}`, content);
  else await Deno.writeFile(`${rig.workspace}/${name}`, content);
}

function text({ rig }: Scene, name: string): Promise<string> {
  return Deno.readTextFile(`${rig.workspace}/${name}`);
}

const read = (path: string, more = {}) => call("read_file", { path, ...more });
const write = (path: string, content: string) => call("write_file", { path, content });
const replace = (path: string, old_string: string, new_string: string, more = {}) =>
  call("patch", { path, old_string, new_string, ...more });

Deno.test("core 32: a long file comes in pages of 500 lines; an offset shows the end", async () => {
  const lines = Array.from({ length: 2_500 }, (_, n) => `line ${n + 1}`).join("\n") + "\n";
  await play([calling(read("long.txt")), calling(read("long.txt", { offset: 2_400 }))], ([first, last]) => {
    assertEquals([first.total_lines, first.truncated, first.next_offset], [2_500, true, 501]);
    assertEquals(first.content.split("\n").length, 500);
    assertEquals(first.content.split("\n").at(-1), "500|line 500");
    assertEquals([last.content.split("\n")[0], last.content.split("\n").at(-1), last.truncated], [
      "2400|line 2400",
      "2500|line 2500",
      false,
    ]);
  }, { "long.txt": lines });
});

Deno.test("core 33: /dev/zero, a binary file and .env are errors: no hang and no content", async () => {
  const binary = new Uint8Array(4_000).map((_, n) => n % 7 === 0 ? 65 : n % 251);
  await play([calling(read("/dev/zero"), read("data.bin"), read(".env"))], (found) => {
    assertEquals(found.map((one) => [typeof one.error, one.content]), [
      ["string", undefined],
      ["string", undefined],
      ["string", undefined],
    ]);
    assertMatch(found[2].error, /\.env/);
    assertEquals(JSON.stringify(found).includes("hunter2"), false);
  }, { "data.bin": binary, ".env": "PASSWORD=hunter2\n" });
});

Deno.test("core 34: the same read of an unchanged file says so and repeats nothing", async () => {
  await play([calling(read("a.txt")), calling(read("a.txt"))], ([first, second]) => {
    assertEquals(first.content, "1|hello");
    assertEquals([second.status, second.dedup, second.content_returned, second.content], [
      "unchanged",
      true,
      false,
      undefined,
    ]);
  }, { "a.txt": "hello\n" });
});

Deno.test("core 35: a patch with the wrong indentation is applied, re-indented, and tells the diff", async () => {
  const before = "class A:\n    def f(self):\n        if x:\n            return 1\n";
  const turns = [
    calling(read("a.py")),
    calling(replace("a.py", "if x:\n    return 1", "if y:\n    return 2")),
  ];
  await play(turns, async ([, patched], scene) => {
    assertEquals(
      await text(scene, "a.py"),
      "class A:\n    def f(self):\n        if y:\n            return 2\n",
    );
    assertEquals(patched.success, true);
    assertMatch(patched.diff, /^--- a\/\S*a\.py\n\+\+\+ b\/\S*a\.py\n/);
    assertMatch(patched.diff, /^- {8}if x:$/m);
    assertMatch(patched.diff, /^\+ {8}if y:$/m);
  }, { "a.py": before });
});

Deno.test("core 36, FC-16.2: an old text that occurs twice is an error with the count; replace_all changes both", async () => {
  const turns = [
    calling(read("a.txt")),
    calling(replace("a.txt", "same", "new")),
    calling(replace("a.txt", "same", "new", { replace_all: true })),
  ];
  await play(turns, async ([, refused, done], scene) => {
    assertMatch(refused.error, /Found 2 matches/);
    assertEquals(done.success, true);
    assertEquals(await text(scene, "a.txt"), "new\nother\nnew\n");
  }, { "a.txt": "same\nother\nsame\n" });
});

Deno.test("FC-16.2: an old text that only resembles two places is not found or ambiguous; the file stays", async () => {
  const body = (name: string) =>
    `function ${name}(a) {\n  const sum = a + 1;\n  log("${name}");\n  return sum;\n}\n`;
  const before = body("first") + body("second");
  const old = 'function third(a) {\n  const sum = a + 1;\n  log("third");\n  return sum;\n}';
  await play([calling(read("f.js")), calling(replace("f.js", old, "x"))], async ([, refused], scene) => {
    assertMatch(refused.error, /not found|Could not find|Found \d+ matches|ambiguous/i);
    assertEquals(refused.success === true, false);
    assertEquals(await text(scene, "f.js"), before);
  }, { "f.js": before });
});

Deno.test("FC-16.1, core 37: one line of a CRLF file with BOM and no final newline changes, and nothing else", async () => {
  const before = "\ufeffone\r\ntwo\r\nthree";
  await play(
    [calling(read("w.txt")), calling(replace("w.txt", "one\ntwo\n", "one\n2\n"))],
    async ([, patched], { rig }) => {
      const bytes = await Deno.readFile(`${rig.workspace}/w.txt`);
      assertEquals(
        new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes),
        "\ufeffone\r\n2\r\nthree",
      );
      const changed = (patched.diff as string).split("\n").filter((line) => /^[-+](?![-+])/.test(line));
      assertEquals(changed.map((line) => line.replace("\r", "")), ["-two", "+2"]);
    },
    { "w.txt": before },
  );
});

Deno.test("core 37: a V4A patch whose second file does not match writes nothing and lists what is wrong", async () => {
  const patch = "*** Begin Patch\n*** Update File: a.txt\n-alpha\n+ALPHA\n" +
    "*** Update File: b.txt\n-nothing like it\n+x\n*** Add File: c.txt\n+new\n*** End Patch";
  const turns = [calling(read("a.txt"), read("b.txt")), calling(call("patch", { mode: "patch", patch }))];
  await play(turns, async (found, scene) => {
    assertMatch(found.at(-1).error, /^Patch validation failed \(no files were modified\):/);
    assertMatch(found.at(-1).error, /• .*b\.txt/);
    assertEquals([await text(scene, "a.txt"), await text(scene, "b.txt")], ["alpha\n", "beta\n"]);
    assertEquals(await exists(`${scene.rig.workspace}/c.txt`), false);
  }, { "a.txt": "alpha\n", "b.txt": "beta\n" });
});

Deno.test("core 37: broken JSON is refused over a good file, which stays", async () => {
  await play([calling(read("a.json")), calling(write("a.json", '{"a": '))], async ([, refused], scene) => {
    assertMatch(refused.error, /JSON/);
    assertEquals(await text(scene, "a.json"), '{"a": 1}\n');
  }, { "a.json": '{"a": 1}\n' });
});

Deno.test("core 38: 60 matches with a limit of 50 are truncated and name the next offset", async () => {
  const search = (more = {}) => call("search_files", { pattern: "needle", limit: 50, ...more });
  await withCore({
    model: { turns: [calling(search()), calling(search({ offset: 50 })), "ok"] },
  }, async ({ rig, model, host, open }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "needle\n".repeat(60));
    const { sid } = await open();
    await host.turn(sid, "go");
    const [first, rest] = results(model.calls()[2]);
    assertMatch(first!, /"truncated":\s*true/);
    assertMatch(first!, /offset=?\D{0,3}50/);
    assertEquals(/"truncated":\s*true/.test(rest!), false);
    assertMatch(rest!, /a\.txt/);
  });
});

Deno.test("core 76: a file that was never read is not overwritten; after a read it is", async () => {
  const turns = [
    calling(write("a.txt", "mine\n")),
    calling(read("a.txt")),
    calling(write("a.txt", "mine\n")),
  ];
  await play(turns, async ([refused, , done], scene) => {
    assertMatch(refused.error, /read/i);
    assertEquals([done.error, done.bytes_written], [undefined, 5]);
    assertEquals(await text(scene, "a.txt"), "mine\n");
  }, { "a.txt": "the user's\n" });
});

Deno.test("core 76, FC-17: a file that changed since it was read is not overwritten; after a new read it is", async () => {
  await withCore({
    model: {
      turns: [
        calling(read("a.txt")),
        "read",
        calling(write("a.txt", "the model's\n")),
        calling(replace("a.txt", "old", "new")),
        "refused",
        calling(read("a.txt")),
        calling(write("a.txt", "the model's\n")),
        "written",
      ],
    },
  }, async (scene) => {
    await put(scene, "a.txt", "old\n");
    const { sid } = await scene.open();
    await scene.host.turn(sid, "read");
    await put(scene, "a.txt", "the user's newer text\n");
    await scene.host.turn(sid, "write");
    assertMatch(lastResult(scene.model.calls()[3]).error, /changed/i);
    assertEquals(await text(scene, "a.txt"), "the user's newer text\n");
    await scene.host.turn(sid, "read and write");
    assertEquals(lastResult(scene.model.calls()[7]).error, undefined);
    assertEquals(await text(scene, "a.txt"), "the model's\n");
  });
});

Deno.test("FC-17: a change made while the question about the file is open is not lost", async () => {
  await withCore({ model: { turns: [calling(write("server.pem", "mine\n")), "ok"] } }, async (scene) => {
    const { host, open } = scene;
    const { sid } = await open();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    const ask = await host.event("approval.request", sid);
    assertMatch(ask.description, /server\.pem/);
    await put(scene, "server.pem", "the user's\n");
    const answer = { session_id: sid, request_id: ask.request_id, choice: "once" };
    assertEquals(await host.request("approval.respond", answer), { resolved: 1 });
    await host.event("message.complete", sid);
    await host.idle(sid);
    assertMatch(lastResult(scene.model.calls()[1]).error, /changed|exists/i);
    assertEquals(await text(scene, "server.pem"), "the user's\n");
  });
});
