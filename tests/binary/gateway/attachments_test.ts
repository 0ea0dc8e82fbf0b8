/** Images, drops, pastes and path completion against the real program (tui-gateway.md B.16, B.17). */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { type Json, startGateway } from "../../support/gateway_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig } from "../../support/program.ts";
import { withGateway } from "./scene.ts";
import { withWsGateway } from "./ws_scene.ts";

/** One red pixel. */
const PNG = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="),
  (c) => c.charCodeAt(0),
);
/** The name of a model that sees. */
const SEEING = { model: "llava-test", provider: "custom" };

Deno.test("image.attach queues an image that the next prompt consumes", async () => {
  await withGateway({ model: { turns: ["red", "none"] } }, async ({ host, model, rig }) => {
    const path = `${rig.workspace}/a pixel.png`;
    await Deno.writeFile(path, PNG);
    const { sid } = await host.session(SEEING);
    const attach = (line: string) => host.request("image.attach", { session_id: sid, path: line });
    assertEquals(await attach(`"${path}" what colour?`), {
      attached: true,
      path,
      count: 1,
      remainder: "what colour?",
      text: "what colour?",
      name: "a pixel.png",
      width: 1,
      height: 1,
      token_estimate: 85,
    });
    assertEquals((await attach("a\\ pixel.png")).text, "[User attached image: a pixel.png]");
    assertEquals((await attach(`file://${encodeURI(path)}`)).count, 3);
    assertEquals((await attach(path)).count, 4);
    const ended = await host.turn(sid, "");
    assertEquals([ended.status, ended.text], ["complete", "red"]);
    const parts = model.calls()[0]!.body.messages.at(-1).content;
    assertEquals(parts.map((part: Json) => part.type), ["image_url", "image_url", "image_url", "image_url"]);
    assert(parts[0].image_url.url.startsWith("data:image/png;base64,iVBORw0KGgo"));
    await host.turn(sid, "and now?");
    assertEquals(model.calls()[1]!.body.messages.at(-1).content, "and now?");
    const shown = (await host.request("session.history", { session_id: sid })).messages[0].text;
    assertEquals(shown, Array(4).fill("[image: a pixel.png]").join("\n"));
  });
});

Deno.test("image.attach says what it cannot attach", async () => {
  await withGateway({}, async ({ host, rig }) => {
    await Deno.writeTextFile(`${rig.workspace}/notes.txt`, "x");
    const { sid } = await host.session();
    const refused = async (path: unknown) =>
      (await host.refused("image.attach", { session_id: sid, path })).code;
    assertEquals([await refused(""), await refused("nothing.png"), await refused("notes.txt")], [
      4015,
      4016,
      4016,
    ]);
    assertEquals((await host.refused("image.attach", { session_id: "x", path: "y" })).code, 4001);
    assertEquals((await host.refused("prompt.submit", { session_id: sid, text: "" })).code, 4012);
    const paste = await host.request("clipboard.paste", { session_id: sid });
    assertEquals([paste.attached, typeof paste.message], [false, "string"]);
  });
});

Deno.test("input.detect_drop tells files from words and queues images", async () => {
  await withGateway({ model: { turns: ["ok"] } }, async ({ host, model, rig }) => {
    await Deno.writeFile(`${rig.workspace}/p.png`, PNG);
    await Deno.writeTextFile(`${rig.workspace}/notes.txt`, "x");
    const { sid } = await host.session(SEEING);
    const detect = (text: string) => host.request("input.detect_drop", { session_id: sid, text });
    for (const text of ["hello", "", "/help", "p.png", `${rig.workspace}`, `${rig.workspace}/none.png`]) {
      assertEquals(await detect(text), { matched: false }, text);
    }
    const image = await detect(`${rig.workspace}/p.png look at this`);
    assertEquals([image.matched, image.is_image, image.count, image.text, image.width], [
      true,
      true,
      1,
      "look at this",
      1,
    ]);
    const path = `${rig.workspace}/notes.txt`;
    assertEquals(await detect(`'${path}' read it`), {
      matched: true,
      is_image: false,
      path,
      name: "notes.txt",
      text: `[User attached file: ${path}]\nread it`,
    });
    await host.turn(sid, image.text);
    const parts = model.calls()[0]!.body.messages.at(-1).content;
    assertEquals(parts.map((part: Json) => part.type), ["text", "image_url"]);
  });
});

Deno.test("paste.collapse keeps a paste in a file of its own", async () => {
  await withGateway({}, async ({ host, rig }) => {
    const text = "one\ntwo\nthrée";
    const first = await host.request("paste.collapse", { text });
    assertMatch(first.path, /\/pastes\/paste_\d{8}_\d{6}(_\d+)?\.txt$/);
    assert(first.path.startsWith(rig.home));
    assertEquals([first.lines, first.placeholder], [3, `[Pasted text: 3 lines → ${first.path}]`]);
    assertEquals(await Deno.readTextFile(first.path), text);
    assert((await host.request("paste.collapse", { text })).path !== first.path);
    assertEquals((await host.refused("paste.collapse", { text: "" })).code, 4004);
  });
});

Deno.test("complete.path lists folders, references after @, and files of the repository by rank", async () => {
  await withGateway({}, async ({ host, rig }) => {
    for (const dir of ["src/deep", "docs", "node_modules/x"]) {
      await Deno.mkdir(`${rig.workspace}/${dir}`, { recursive: true });
    }
    for (
      const file of [
        "src/main.ts",
        "src/deep/domain.ts",
        "docs/guide.md",
        "main",
        ".hidden",
        "node_modules/x/main.ts",
      ]
    ) {
      await Deno.writeTextFile(`${rig.workspace}/${file}`, "");
    }
    const { sid } = await host.session();
    const complete = async (word: string, more: Json = {}) =>
      (await host.request("complete.path", { session_id: sid, word, ...more })).items.map((item: Json) =>
        item.text
      );
    assertEquals(await complete("@"), ["@diff", "@staged", "@file:", "@folder:", "@url:", "@git:"]);
    assertEquals(await complete(""), ["docs/", "node_modules/", "src/", "main"]);
    assertEquals(await complete("s"), ["src/"]);
    assertEquals(await complete("src/"), ["src/deep/", "src/main.ts"]);
    assertEquals(await complete("."), [".hidden"]);
    assertEquals(await complete("none/"), []);
    assertEquals(await complete("@file:src/m"), ["@file:src/main.ts"]);
    assertEquals(await complete("@folder:"), ["@folder:docs/", "@folder:node_modules/", "@folder:src/"]);
    assertEquals(await complete("@main"), ["@file:main", "@file:src/main.ts", "@file:src/deep/domain.ts"]);
    assertEquals(await complete("@gde"), ["@file:docs/guide.md"]);
    assertEquals((await complete("@di"))[0], "@diff");
    assertEquals(await complete("gui", { cwd: `${rig.workspace}/docs` }), ["guide.md"]);
  });
});

Deno.test("complete.path: in a repository every file is found, by its real name, and as a reference that is read", async () => {
  await withGateway({ model: { turns: ["read"] } }, async ({ host, model, rig }) => {
    const git = (...args: string[]) => new Deno.Command("git", { args, cwd: rig.workspace }).output();
    await git("init", "-q");
    // A list far longer than what is kept of other programs' output.
    await Deno.mkdir(`${rig.workspace}/many`);
    const long = "x".repeat(150);
    for (let n = 0; n < 1000; n++) await Deno.writeTextFile(`${rig.workspace}/many/${n}_${long}`, "");
    await Deno.mkdir(`${rig.workspace}/a dir`);
    for (const name of ["aaa.ts", "größe.txt", "a dir/two words.md"]) {
      await Deno.writeTextFile(`${rig.workspace}/${name}`, `about ${name}\n`);
    }
    const { sid } = await host.session({ cwd: rig.workspace });
    const complete = async (word: string) =>
      (await host.request("complete.path", { session_id: sid, word })).items.map((item: Json) => item.text);
    assertEquals(await complete("@aaa"), ["@file:aaa.ts"]);
    assertEquals(await complete("@größe"), ["@file:größe.txt"]);
    assertEquals(await complete("@two w"), ['@file:"a dir/two words.md"']);
    assertEquals(await complete("@file:a d"), ['@file:"a dir/']);
    assertEquals(await complete('@file:"a dir/t'), ['@file:"a dir/two words.md"']);
    assertEquals(await complete("@folder:a"), ['@folder:"a dir/"']);
    await host.turn(sid, `read @file:größe.txt and @file:"a dir/two words.md"`);
    const sent = JSON.stringify(model.calls()[0]!.body.messages);
    for (const name of ["größe.txt", "a dir/two words.md"]) assert(sent.includes(`about ${name}`), name);
  });
});

/** A desktop's clipboard program, for tests: prints the file that it is told. */
async function fakeClipboard(home: string, script: string): Promise<Record<string, string>> {
  const bin = `${home}/fake-bin`;
  await Deno.mkdir(bin);
  await Deno.writeTextFile(`${bin}/wl-paste`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { WAYLAND_DISPLAY: "wayland-0", PATH: `${bin}:${Deno.env.get("PATH")}` };
}

Deno.test("gateway B.11: an attached image that has vanished refuses one prompt, is detached, and the others stay", async () => {
  await withGateway({ model: { turns: ["red"] } }, async ({ host, model, rig }) => {
    const { sid } = await host.session(SEEING);
    for (const name of ["gone.png", "here.png"]) {
      await Deno.writeFile(`${rig.workspace}/${name}`, PNG);
      await host.request("image.attach", { session_id: sid, path: `${rig.workspace}/${name}` });
    }
    await Deno.remove(`${rig.workspace}/gone.png`);
    const { code, message } = await host.refused("prompt.submit", { session_id: sid, text: "look" });
    assertEquals(code, 5027);
    assertMatch(message, /it is detached now: .*gone\.png/);
    assertEquals(model.calls().length, 0);
    assertEquals((await host.turn(sid, "look")).text, "red");
    const { content } = model.calls()[0]!.body.messages.at(-1);
    assertEquals(content.map((part: Json) => part.type), ["text", "image_url"]);
  });
});

Deno.test("gateway B.11: prompts of two clients at once send an attached image once; a refused rewind keeps it", async () => {
  await withWsGateway({ model: { respond: () => "seen" } }, async ({ connect, model, rig }) => {
    const [host, other] = [await connect(), await connect()];
    const { session_id: sid } = await host.request("session.create", SEEING);
    const path = `${rig.workspace}/a.png`;
    // Reading it takes longer than the other's prompt is on its way.
    const large = new Uint8Array(3_500_000);
    large.set(PNG);
    await Deno.writeFile(path, large);
    await host.request("image.attach", { session_id: sid, path });
    const rewind = { truncate_before_row_id: 99, confirm_truncate: true };
    const refused = await host.call("prompt.submit", { session_id: sid, text: "r", ...rewind });
    assertEquals(refused.error.code, 4018);
    const submit = (one: typeof host, text: string) =>
      one.request("prompt.submit", { session_id: sid, text, queued: true });
    await Promise.all([submit(host, "one"), submit(other, "two")]);
    const images = () =>
      model.calls().at(-1)!.body.messages.flatMap((message: Json) =>
        Array.isArray(message.content)
          ? message.content.filter((part: Json) => part.type === "image_url")
          : []
      );
    await host.until(() => model.calls().length === 2 || undefined, "both turns");
    assertEquals(images().length, 1);
  });
});

Deno.test("clipboard.paste keeps the image under the data home and queues it for the next prompt", async () => {
  await using model = await startModelServer({ turns: ["red"] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await Deno.writeFile(`${rig.home}/shot.png`, PNG);
  const env = await fakeClipboard(
    rig.home,
    `[ "$*" = "--no-newline --type image/png" ] && cat ${rig.home}/shot.png`,
  );
  await using host = await startGateway({ rig, env });
  const { sid } = await host.session(SEEING);
  const paste = () => host.request("clipboard.paste", { session_id: sid });
  const { path, ...rest } = await paste();
  const name = path.slice(path.lastIndexOf("/") + 1);
  assertMatch(path, /\/images\/clip_\d{8}_\d{6}_1\.png$/);
  assertEquals(rest, { attached: true, count: 1, name, width: 1, height: 1, token_estimate: 85 });
  assertEquals(await Deno.readFile(path), PNG);
  assertEquals((await paste()).count, 2);
  await host.turn(sid, "what is this?");
  const parts = model.calls()[0]!.body.messages.at(-1).content;
  assertEquals(parts.map((part: Json) => part.type), ["text", "image_url", "image_url"]);
  assertEquals((await host.refused("clipboard.paste", { session_id: "x" })).code, 4001);
});

Deno.test("clipboard.paste says so when there is no image, and takes nothing that is none", async () => {
  for (
    const [script, message] of [
      ["echo 'No suitable type of content copied' >&2; exit 1", /no image in the clipboard/],
      ["echo text", /no image in the clipboard/],
    ] as const
  ) {
    await using rig = await makeRig();
    await using host = await startGateway({
      rig,
      args: ["--demo"],
      env: await fakeClipboard(rig.home, script),
    });
    const { sid } = await host.session();
    const paste = await host.request("clipboard.paste", { session_id: sid });
    assertEquals(paste.attached, false);
    assertMatch(paste.message, message);
  }
});
