/** Proves src/protocols/acp/content.ts: acp.md C6, rows 18 and 19. */
import { assertEquals } from "../../support/assert.ts";
import {
  attachmentName,
  buildContent,
  type ContentReader,
  MAX_RESOURCE_BYTES,
} from "../../../src/protocols/acp/content.ts";
import type { ContentBlock } from "../../../src/protocols/acp/schema.ts";

const encoder = new TextEncoder();

function readerOf(files: Record<string, Uint8Array | string[]>): ContentReader {
  return {
    host: { os: "linux", wsl: false, distro: null, mountRoot: "/mnt/" },
    files: {
      stat: (path) => {
        const file = files[path];
        if (file === undefined) return Promise.resolve(null);
        const isDirectory = Array.isArray(file);
        return Promise.resolve({
          isFile: !isDirectory,
          isDirectory,
          isSymlink: false,
          isSpecial: false,
          size: file.length,
          mtimeMs: 0,
          mode: 0,
        });
      },
      readHead: (path, limit) => {
        if (path === "/w/locked.txt") return Promise.reject(new Error("Permission denied (os error 13)"));
        return Promise.resolve((files[path] as Uint8Array).subarray(0, limit));
      },
      list: (path) =>
        Promise.resolve((files[path] as string[]).map((name) => ({
          name: name.replace(/\/$/, ""),
          isFile: !name.endsWith("/"),
          isDirectory: name.endsWith("/"),
          isSymlink: false,
        }))),
    },
  };
}

const EMPTY = readerOf({});

async function build(blocks: unknown[], reader = EMPTY) {
  return await buildContent(blocks as ContentBlock[], reader);
}

function link(uri: string, extra: Record<string, unknown> = {}): unknown {
  return { type: "resource_link", uri, name: uri.split("/").pop(), ...extra };
}

Deno.test("buildContent() joins texts with a line feed and drops empty ones", async () => {
  const built = await build([{ type: "text", text: "a" }, { type: "text", text: "" }, {
    type: "text",
    text: "b",
  }]);
  assertEquals(built, { content: "a\nb", displayText: "a\nb" });
});

Deno.test("acp 17: buildContent() gives null when there is nothing at all", async () => {
  assertEquals(await build([]), { content: null, displayText: "" });
  assertEquals(
    await build([{ type: "text", text: "" }, { type: "image", data: "", mimeType: "image/png" }]),
    {
      content: null,
      displayText: "",
    },
  );
});

Deno.test("acp 18: buildContent() makes a data URL of an image and keeps the order of parts", async () => {
  const built = await build([
    { type: "text", text: "see" },
    { type: "image", data: "QUJD", mimeType: "image/jpeg" },
  ]);
  assertEquals(built.content, [
    { type: "text", text: "see" },
    { type: "image_url", image_url: { url: "data:image/jpeg;base64,QUJD" } },
  ]);
  assertEquals(built.displayText, "see\n[Image attachment]");
});

Deno.test("buildContent() falls back to image/png, to a ready data URL, to the uri", async () => {
  const url = async (block: Record<string, unknown>) => {
    const { content } = await build([{ type: "image", ...block }]);
    return (content as unknown as { image_url: { url: string } }[])[0]!.image_url.url;
  };
  assertEquals(await url({ data: "QQ==" }), "data:image/png;base64,QQ==");
  assertEquals(await url({ data: "data:image/gif;base64,QQ==" }), "data:image/gif;base64,QQ==");
  assertEquals(await url({ data: "", uri: "https://x/y.png" }), "https://x/y.png");
});

Deno.test("buildContent() says that an audio attachment was left out", async () => {
  const built = await build([{ type: "audio", data: "QUJDRA==", mimeType: "audio/wav" }]);
  assertEquals(built.content, "[Audio attachment omitted: audio/wav, 4 bytes]");
});

Deno.test("acp 19: buildContent() reads a small text file without its BOM", async () => {
  const bytes = new Uint8Array([0xef, 0xbb, 0xbf, ...encoder.encode("héllo\n")]);
  const built = await build([link("file:///w/a%20b.txt")], readerOf({ "/w/a b.txt": bytes }));
  assertEquals(built.content, "[Attached file: a%20b.txt]\nURI: file:///w/a%20b.txt\n\nhéllo\n");
  assertEquals(built.displayText, "[Attached file: a%20b.txt]");
});

Deno.test("buildContent() reads the file of a link that names lines of it, unless a file is named so", async () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const files = readerOf({ "/w/a b.ts": bytes("whole"), "/w/c#1.ts": bytes("sharp") });
  const bodies: [string, string][] = [
    ["file:///w/a%20b.ts#L10:20", "whole"],
    ["file:///w/a%20b.ts?symbol=x#L1", "whole"],
    ["file:///w/c#1.ts", "sharp"],
    ["file:///w/c%231.ts", "sharp"],
    ["file:///w/none.ts#L1", "[Cannot read the file: it does not exist]"],
    ["/w/a b.ts#L1", "[Cannot read the file: it does not exist]"],
  ];
  for (const [uri, body] of bodies) {
    const { content } = await build([link(uri, { name: "n" })], files);
    assertEquals(content, `[Attached file: n]\nURI: ${uri}\n\n${body}`);
  }
});

Deno.test("acp 19: buildContent() cuts a 600 KiB file at 524288 bytes and says so", async () => {
  const big = encoder.encode("x".repeat(600 * 1024));
  const { content } = await build([link("file:///w/big.txt")], readerOf({ "/w/big.txt": big }));
  const text = content as string;
  const head = `[Attached file: big.txt] (truncated to 524288 of ${
    600 * 1024
  } bytes)\nURI: file:///w/big.txt\n\n`;
  assertEquals(text.slice(0, head.length), head);
  assertEquals(text.length - head.length, MAX_RESOURCE_BYTES);
});

Deno.test("buildContent() does not break a character at the cut", async () => {
  const bytes = encoder.encode("x".repeat(MAX_RESOURCE_BYTES - 1) + "é" + "y".repeat(10));
  const { content } = await build([link("/w/u.txt")], readerOf({ "/w/u.txt": bytes }));
  assertEquals((content as string).endsWith("xx"), true);
});

Deno.test("acp 19: buildContent() notes binary, missing, special and unreadable files", async () => {
  const reader = readerOf({ "/w/b.bin": new Uint8Array([1, 0, 2]), "/w/locked.txt": encoder.encode("x") });
  const body = async (uri: string, extra = {}) =>
    ((await build([link(uri, extra)], reader)).content as string).split("\n\n")[1];
  assertEquals(await body("file:///w/b.bin"), "[Binary file omitted: 3 bytes, unknown type]");
  assertEquals(await body("file:///w/no.txt"), "[Cannot read the file: it does not exist]");
  assertEquals(await body("file:///w/locked.txt"), "[Cannot read the file: Permission denied (os error 13)]");
  assertEquals(await body("https://example.org/x"), "[Not read: only local files are read]");
  assertEquals(await body("file://nas/share/x"), "[Not read: only local files are read]");
});

Deno.test("buildContent() takes a textual mime at its word and Latin-1 where UTF-8 fails", async () => {
  const reader = readerOf({ "/w/a": new Uint8Array([0x61, 0, 0x62]), "/w/l": new Uint8Array([0xe9, 0x21]) });
  const body = async (uri: string, mimeType?: string) =>
    ((await build([link(uri, { mimeType })], reader)).content as string).split("\n\n")[1];
  assertEquals(await body("/w/a", "text/plain; charset=utf-8"), "a\0b");
  assertEquals(await body("/w/l"), "é!");
});

Deno.test("acp 19: buildContent() shows a png file as an image, a big one as a note", async () => {
  const reader = readerOf({
    "/w/p.png": new Uint8Array([1, 2, 3]),
    "/w/big.png": new Uint8Array(MAX_RESOURCE_BYTES + 1),
  });
  const small = await build([link("file:///w/p.png")], reader);
  assertEquals(small.content, [
    { type: "text", text: "[Attached image: p.png]\nURI: file:///w/p.png" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AQID" } },
  ]);
  const big = await build([link("file:///w/big.png")], reader);
  assertEquals(
    (big.content as string).split("\n\n")[1],
    `[Image omitted: ${MAX_RESOURCE_BYTES + 1} bytes, the limit is ${MAX_RESOURCE_BYTES} bytes]`,
  );
});

Deno.test("acp 19: buildContent() lists a directory, 200 entries at most", async () => {
  const names = Array.from({ length: 205 }, (_, i) => `f${String(i).padStart(3, "0")}`);
  const reader = readerOf({ "/w/d": ["b.txt", "a/"], "/w/many": names });
  assertEquals(
    (await build([link("file:///w/d")], reader)).content,
    "[Attached file: d] (directory, 2 entries)\nURI: file:///w/d\n\na/\nb.txt",
  );
  const many = (await build([link("file:///w/many")], reader)).content as string;
  assertEquals(many.startsWith("[Attached file: many] (directory, first 200 of 205 entries)"), true);
  assertEquals(many.endsWith("f199"), true);
});

Deno.test("acp 18: buildContent() inlines a text resource and notes a binary blob", async () => {
  const built = await build([
    { type: "resource", resource: { uri: "file:///w/x.ts", mimeType: "text/typescript", text: "let a;" } },
    { type: "resource", resource: { uri: "mem://b", blob: btoa("\0\x01") } },
  ]);
  assertEquals(
    built.content,
    "[Attached file: x.ts]\nURI: file:///w/x.ts\n\nlet a;\n" +
      "[Attached file: b]\nURI: mem://b\n\n[Binary file omitted: 2 bytes, unknown type]",
  );
});

Deno.test("buildContent() takes a blob that is not base64 as the text itself, an image blob as an image", async () => {
  const text = await build([{ type: "resource", resource: { uri: "mem://n", blob: "not base64!" } }]);
  assertEquals(text.content, "[Attached file: n]\nURI: mem://n\n\nnot base64!");
  const image = await build([{
    type: "resource",
    resource: { uri: "mem://i", mimeType: "image/png", blob: "QUJD" },
  }]);
  assertEquals((image.content as unknown[])[1], {
    type: "image_url",
    image_url: { url: "data:image/png;base64,QUJD" },
  });
});

Deno.test("attachmentName() prefers title (name), then what there is, then the URI", () => {
  assertEquals(attachmentName("file:///a/b.txt", "b", "B"), "B (b)");
  assertEquals(attachmentName("file:///a/b.txt", "b", "b"), "b");
  assertEquals(attachmentName("file:///a/my%20file.txt"), "my file.txt");
  assertEquals(attachmentName(""), "resource");
});

Deno.test("buildContent() gives names and URIs a line of their own, and cuts the text of a data URI", async () => {
  const data = `data:text/plain;base64,${"QUJD".repeat(1_000)}`;
  const built = await build([
    { type: "resource_link", uri: "https://x/a\r\nb", name: "a\nb\u0000c", title: "d\u0007e" },
    { type: "resource_link", uri: data, name: "n".repeat(301) },
  ]);
  assertEquals(String(built.content).split("\n"), [
    "[Attached file: d e (a b c)]",
    "URI: https://x/a b",
    "",
    "[Not read: only local files are read]",
    `[Attached file: ${"n".repeat(300)}…]`,
    `URI: ${data.slice(0, 2_000)}…`,
    "",
    "[Not read: only local files are read]",
  ]);
  assertEquals(built.displayText, `[Attached file: d e (a b c)]\n[Attached file: ${"n".repeat(300)}…]`);
});
