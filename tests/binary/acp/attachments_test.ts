/** What a prompt brings along (acp.md C6; rows 18 and 19), and the editor's unsaved text in it. */
import { type Json, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { eventually } from "../../support/program.ts";

const FILES = { fs: { readTextFile: true, writeTextFile: true } };
const PNG = Uint8Array.from(atob("iVBORw0KGgo="), (c) => c.charCodeAt(0));

function lastUser(request: Json): Json {
  return request.body.messages.findLast((m: Json) => m.role === "user").content;
}

function link(path: string, more: Record<string, unknown> = {}) {
  return { type: "resource_link", uri: `file://${path}`, name: path.split("/").at(-1), ...more };
}

Deno.test("acp 19: a link to a png becomes an image for a model that sees, one over the limit a note", async () => {
  await withAcp({ turns: ["seen"] }, async ({ model, rig, again }) => {
    await rig.writeConfig({
      model: {
        default: "scripted",
        provider: "custom",
        supports_vision: true,
        base_url: model.url,
        context_length: 128000,
      },
    });
    await using acp = await again();
    const sessionId = await acp.newSession(rig.workspace);
    await Deno.writeFile(`${rig.workspace}/small.png`, PNG);
    await Deno.writeFile(`${rig.workspace}/large.png`, new Uint8Array(600 * 1024));
    const blob = { uri: "mem://b.png", mimeType: "image/png", blob: "iVBORw0KGgo=" };
    await acp.prompt(sessionId, [
      link(`${rig.workspace}/small.png`),
      link(`${rig.workspace}/large.png`),
      { type: "resource", resource: blob },
    ]);
    const parts = lastUser(model.calls()[0]);
    assertEquals(parts.map((part: Json) => part.type), ["text", "image_url", "text", "text", "image_url"]);
    assertEquals(parts[0].text, `[Attached image: small.png]\nURI: file://${rig.workspace}/small.png`);
    assertEquals(parts[1].image_url.url, "data:image/png;base64,iVBORw0KGgo=");
    assertMatch(parts[2].text, /large\.png\][\s\S]*614400 bytes, the limit is 524288 bytes/);
    assertEquals(parts[4].image_url.url, "data:image/png;base64,iVBORw0KGgo=");
    await using next = await again();
    await next.request("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
    const images = next.updates(sessionId).filter((u) => u.content?.type === "image");
    assertEquals(images.map((u) => u.content.data), ["iVBORw0KGgo=", "iVBORw0KGgo="]);
  });
});

Deno.test("acp 18: audio is named as left out, an invalid blob is taken as its own bytes, titles are shown", async () => {
  await withAcp({ turns: ["ok"] }, async ({ acp, model, rig, sessionId }) => {
    await Deno.writeFile(`${rig.workspace}/latin.txt`, new Uint8Array([0x63, 0x61, 0x66, 0xe9]));
    await acp.prompt(sessionId, [
      { type: "audio", data: btoa("12345"), mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "mem://x", blob: "not base64 !" } },
      link(`${rig.workspace}/latin.txt`, { title: "The menu" }),
      { type: "resource", resource: { uri: "mem://long", text: "é".repeat(300_000) } },
    ]);
    const text = lastUser(model.calls()[0]);
    assertMatch(text, /audio\/wav, 5 bytes/);
    assertMatch(text, /URI: mem:\/\/x\n\nnot base64 !/);
    assertMatch(text, /\[Attached file: The menu \(latin\.txt\)\]\nURI: \S+\n\ncafé/);
    assertMatch(text, /\[Attached file: long\] \(truncated to 524288 of 600000 bytes\)/);
    assert(!text.includes("\ufffd"));
  });
});

Deno.test("C8.5: a linked file is what the editor holds, a folder, a binary and what is outside are the disk's", async () => {
  await withAcp({ turns: ["ok"], capabilities: FILES }, async ({ acp, model, rig, sessionId }) => {
    await Deno.writeTextFile(`${rig.workspace}/open.txt`, "saved");
    await Deno.writeFile(`${rig.workspace}/b.bin`, new Uint8Array([1, 0, 2]));
    await Deno.writeTextFile(`${rig.home}/outside.txt`, "from the disk");
    const asked: string[] = [];
    acp.onReadFile = ({ sessionId: id, path }) => {
      assertEquals(id, sessionId);
      asked.push(path);
      return { content: path.endsWith("new.txt") ? "never saved" : "not saved yet" };
    };
    await acp.prompt(sessionId, [
      link(`${rig.workspace}/open.txt`),
      link(`${rig.workspace}/new.txt`),
      link(`${rig.workspace}/b.bin`),
      link(rig.workspace),
      link(`${rig.home}/outside.txt`),
    ]);
    assertEquals(asked, [`${rig.workspace}/open.txt`, `${rig.workspace}/new.txt`]);
    const text = lastUser(model.calls()[0]);
    assertMatch(text, /open\.txt\n\nnot saved yet\n/);
    assertMatch(text, /new\.txt\n\nnever saved\n/);
    assertMatch(text, /Binary file omitted: 3 bytes/);
    assertMatch(text, /\(directory, 2 entries\)/);
    assertMatch(text, /from the disk/);
  });
});

Deno.test("C8.5: an editor's error is a note, not the disk's text; without the capability it is the disk", async () => {
  await withAcp({ turns: ["ok"], capabilities: FILES }, async ({ acp, model, rig, sessionId }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "on the disk");
    acp.onReadFile = () => ({ error: { code: -32603, message: "the buffer is locked" } });
    assertEquals(
      (await acp.prompt(sessionId, [link(`${rig.workspace}/a.txt`), link(`${rig.workspace}/gone.txt`)]))
        .stopReason,
      "end_turn",
    );
    const text = lastUser(model.calls()[0]);
    assertMatch(text, /Cannot read the file: The editor could not read .*the buffer is locked/);
    assertMatch(text, /gone\.txt\n\n\[Cannot read the file: it does not exist\]/);
    assert(!text.includes("on the disk"));
  });
  await withAcp({ turns: ["ok"] }, async ({ acp, model, rig, sessionId }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "on the disk");
    await acp.prompt(sessionId, [link(`${rig.workspace}/a.txt`)]);
    assertMatch(lastUser(model.calls()[0]), /on the disk/);
    assertEquals(acp.requests("fs/read_text_file"), []);
  });
});

Deno.test("C8.5: a silent editor delays an attachment by acp.fs_timeout_s at most, and a cancel ends the wait", async () => {
  const options = { turns: ["ok"], capabilities: FILES, config: { acp: { fs_timeout_s: 1 } } };
  await withAcp(options, async ({ acp, model, rig, sessionId }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "on the disk");
    acp.onReadFile = () => undefined;
    const prompt = [link(`${rig.workspace}/a.txt`)];
    assertEquals((await acp.prompt(sessionId, prompt)).stopReason, "end_turn");
    assertMatch(lastUser(model.calls()[0]), /did not answer fs\/read_text_file within 1 s/);
    const from = acp.frames.length;
    const sent = acp.startPrompt(sessionId, prompt);
    await eventually(() => acp.requests("fs/read_text_file", from).length === 1);
    await acp.cancel(sessionId);
    assertEquals((await sent.answer).result.stopReason, "cancelled");
    await eventually(() => acp.notifications("$/cancel_request", from).length === 1);
    assertEquals(model.calls().length, 1);
  });
});
