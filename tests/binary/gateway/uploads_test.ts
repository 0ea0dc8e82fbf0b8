/** Files that a host sends along, and the lists it draws (tui-gateway.md B.18), against the real program. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import type { GatewayHost, Json } from "../../support/gateway_driver.ts";
import { toolTurn, withGateway } from "./scene.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const base64 = (text: string) => btoa(text);

async function code(host: GatewayHost, method: string, params: Json): Promise<number> {
  return (await host.refused(method, params)).code;
}

Deno.test("B.18 image.attach_bytes: what was sent goes with the next prompt, under a name of its own", async () => {
  await withGateway({ model: { turns: ["red", "none"] } }, async ({ host, model, rig }) => {
    const { sid } = await host.session();
    const attach = (content_base64: string, filename?: string) =>
      host.request("image.attach_bytes", { session_id: sid, content_base64, filename });
    const first = await attach(PNG, "../../etc/a photo.jpeg");
    assertEquals(first.path, `${rig.home}/images/a_photo.png`);
    assertEquals([first.attached, first.count, first.bytes, first.width, first.remainder], [
      true,
      1,
      atob(PNG).length,
      1,
      "",
    ]);
    assertEquals(first.text, "[User attached image: a_photo.png]");
    const second = await attach(`data:image/webp;base64,${PNG}`, "a photo.png");
    assertEquals([second.path, second.count], [`${rig.home}/images/a_photo_2.png`, 2]);
    assertMatch((await attach(PNG)).path, /\/images\/image\.png$/);
    const detach = (path: string) => host.request("image.detach", { session_id: sid, path });
    assertEquals(await detach(first.path), { detached: true, count: 2 });
    assertEquals(await detach(first.path), { detached: false, count: 2 });
    await host.turn(sid, "what colour?");
    const parts = model.calls()[0]!.body.messages.at(-1).content;
    assertEquals(parts.map((part: Json) => part.type), ["text", "image_url", "image_url"]);
    assert(parts[1].image_url.url.startsWith("data:image/png;base64,iVBORw0KGgo"));
    assertEquals((await Deno.stat(first.path)).mode! & 0o777, 0o600);
    await host.turn(sid, "and now?");
    assertEquals(model.calls()[1]!.body.messages.at(-1).content, "and now?");
  });
});

Deno.test("B.18: what is no image, no base64, empty or too large is refused and attaches nothing", async () => {
  await withGateway({}, async ({ host }) => {
    const { sid } = await host.session();
    const tries: readonly (readonly [unknown, number])[] = [
      [undefined, 4015],
      ["", 4015],
      ["%%%", 4017],
      ["data:image/png;base64,", 4017],
      ["data:image/png,plain", 4017],
      [base64("no image at all"), 4016],
      [base64("<svg xmlns='http://www.w3.org/2000/svg'/>"), 4016],
      ["A".repeat(36 << 20), 4018],
      [5, -32602],
    ];
    for (const [content_base64, wanted] of tries) {
      const got = await code(host, "image.attach_bytes", { session_id: sid, content_base64 });
      assertEquals(got, wanted, String(content_base64).slice(0, 40));
    }
    assertEquals(await code(host, "image.attach_bytes", { session_id: "x", content_base64: PNG }), 4001);
    assertEquals(await code(host, "image.detach", { session_id: sid }), 4015);
    assertEquals(await code(host, "prompt.submit", { session_id: sid, text: "" }), 4012);
  });
});

Deno.test("B.17, B.18: what cannot be kept is 5027 and 5028, and attaches nothing", async () => {
  await withGateway({}, async ({ host, rig }) => {
    const { sid } = await host.session({ cwd: rig.workspace });
    for (const path of [`${rig.home}/images`, `${rig.home}/pastes`, `${rig.workspace}/.hermes`]) {
      await Deno.writeTextFile(path, "no folder");
    }
    const on = { session_id: sid };
    assertEquals(await code(host, "image.attach_bytes", { ...on, content_base64: PNG }), 5027);
    assertEquals(await code(host, "paste.collapse", { text: "one\ntwo" }), 5027);
    assertEquals(await code(host, "file.attach", { ...on, data_url: base64("x"), name: "x" }), 5028);
    assertEquals(await code(host, "prompt.submit", { ...on, text: "" }), 4012);
  });
});

Deno.test("B.18 file.attach: bytes are kept in the workspace, and the reference to them reaches the model", async () => {
  await withGateway({ model: { turns: ["read", "read"] } }, async ({ host, model, rig }) => {
    const { sid } = await host.session({ cwd: rig.workspace });
    const attach = (params: Json) => host.request("file.attach", { session_id: sid, ...params });
    const sent = await attach({
      data_url: `data:text/plain;base64,${base64("numbers of Q3")}`,
      path: "C:\\Users\\me\\Q3 report.txt",
    });
    assertEquals([sent.uploaded, sent.name, sent.ref_text], [
      true,
      "Q3_report.txt",
      "@file:.hermes/attachments/Q3_report.txt",
    ]);
    const again = await attach({ data_url: base64("other"), name: "../../.Q3_report.txt" });
    assertEquals(again.ref_path, ".hermes/attachments/Q3_report_2.txt");
    await host.turn(sid, `${sent.ref_text} sum it up`);
    assertMatch(JSON.stringify(model.calls()[0]!.body.messages.at(-1)), /numbers of Q3/);
    assertEquals(await Deno.readTextFile(`${rig.workspace}/.hermes/attachments/.gitignore`), "*\n");

    await Deno.writeTextFile(`${rig.workspace}/own notes.txt`, "mine");
    const own = await attach({ path: `${rig.workspace}/own notes.txt` });
    assertEquals([own.uploaded, own.ref_text], [false, '@file:"own notes.txt"']);
    await host.turn(sid, own.ref_text);
    assertMatch(JSON.stringify(model.calls()[1]!.body.messages.at(-1)), /mine/);
  });
});

Deno.test("B.18 file.attach: nothing outside the workspace is read or written", async () => {
  await withGateway({}, async ({ host, rig }) => {
    const { sid } = await host.session({ cwd: rig.workspace });
    const outside = await Deno.makeTempDir();
    try {
      await Deno.writeTextFile(`${outside}/secret.txt`, "theirs");
      await Deno.symlink(`${outside}/secret.txt`, `${rig.workspace}/link.txt`);
      await Deno.writeTextFile(`${rig.workspace}/.env`, "KEY=1");
      const refused = (params: Json) => code(host, "file.attach", { session_id: sid, ...params });
      for (const path of [`${outside}/secret.txt`, "link.txt", "nowhere.txt", ".", ".env", "/etc/passwd"]) {
        assertEquals(await refused({ path }), 4016, path);
      }
      assertEquals([await refused({}), await refused({ data_url: "%%" })], [4015, 4017]);
      await Deno.symlink(outside, `${rig.workspace}/.hermes`);
      assertEquals(await refused({ data_url: base64("x"), name: "x.txt" }), 5028);
      assertEquals([...Deno.readDirSync(outside)].map(({ name }) => name), ["secret.txt"]);
    } finally {
      await Deno.remove(outside, { recursive: true });
    }
  });
});

Deno.test("B.18: toolsets, tools, processes and settings as lists; what is taken away is shown as off", async () => {
  const background = { tool: "terminal", args: { command: "sleep 30", background: true } };
  await withGateway({ model: { turns: [toolTurn(background), "started"] } }, async ({ host }) => {
    const { sid } = await host.session();
    const sets = async (params: Json = {}): Promise<Json[]> =>
      (await host.request("toolsets.list", params)).toolsets;
    const file = (await sets()).find(({ name }) => name === "file");
    assertEquals(file, {
      name: "file",
      description: "read_file, write_file, patch, search_files",
      tool_count: 4,
      enabled: true,
    });
    const offered = (await host.request("tools.list", { session_id: sid })).toolsets;
    const { tools } = await host.event("session.info", sid);
    for (const { name, enabled, tools: names } of offered) {
      assertEquals(enabled, name in tools, name);
      if (enabled) { for (const tool of tools[name]) assert(names.includes(tool), tool); }
    }
    const shown = await host.request("tools.show", { session_id: sid });
    assertEquals(shown.total, Object.values(tools).flat().length);
    assertEquals(shown.sections.map(({ name }: Json) => name).sort(), Object.keys(tools).sort());
    await host.request("tools.configure", { action: "disable", names: ["file"], session_id: sid });
    assertEquals((await sets()).find(({ name }) => name === "file").enabled, false);
    assertEquals((await sets({ session_id: sid })).find(({ name }) => name === "file").enabled, false);

    assertEquals(await host.request("agents.list"), { processes: [] });
    await host.turn(sid, "go");
    const [process] = (await host.request("agents.list")).processes;
    assertEquals([process.command, process.status, process.uptime >= 0], ["sleep 30", "running", true]);
    await host.request("process.stop", { session_id: sid });
    assertEquals(await host.request("plugins.list"), { plugins: [] });
    const { sections } = await host.request("config.show", { session_id: sid });
    assertEquals(sections.map(({ title }: Json) => title), ["Model", "Agent", "Environment"]);
    assertEquals(sections[0].rows[0], ["Model", "scripted"]);
    assertEquals(await code(host, "tools.list", { session_id: "none" }), 4001);
  });
});
