/** ClientFiles over a scripted client and a disk in memory. */
import { ClientFiles } from "../../../src/protocols/acp/client_files.ts";
import { PeerError } from "../../../src/protocols/acp/peer.ts";
import { assertEquals, assertRejects } from "../../support/assert.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

function scene(
  options: { read?: boolean; write?: boolean; links?: Record<string, string>; size?: number } = {},
) {
  const disk = new Map<string, string>();
  const buffers = new Map<string, string>();
  const asked: string[] = [];
  const files = new ClientFiles({
    disk: {
      read: (path) => Promise.resolve(encode(disk.get(path)!)),
      exists: (path) => Promise.resolve(disk.has(path)),
      write: (path, data) => Promise.resolve(void disk.set(path, decode(data))),
      remove: (path) => Promise.resolve(void disk.delete(path)),
      rename: (from, to) => {
        disk.set(to, disk.get(from)!);
        disk.delete(from);
        return Promise.resolve();
      },
    },
    files: {
      realPath: (path) => Promise.resolve(options.links?.[path] ?? path),
      mkdir: () => Promise.resolve(),
      statSync: () =>
        options.size === undefined ? null : {
          isFile: true,
          isDirectory: false,
          isSymlink: false,
          isSpecial: false,
          size: options.size,
          mtimeMs: 0,
          mode: 0,
        },
    },
    offers: () => ({ read: options.read ?? true, write: options.write ?? true }),
    roots: () => ["/space", "/link"],
    request: (method, params) => {
      const path = String(params.path);
      asked.push(`${method} ${path}${"limit" in params ? ` limit ${params.limit}` : ""}`);
      if (method === "fs/write_text_file") buffers.set(path, String(params.content));
      const content = buffers.get(path);
      return content === undefined
        ? Promise.reject(
          new PeerError({ code: -32603, message: "Internal error", data: { details: "no such file" } }),
        )
        : Promise.resolve({ content });
    },
  });
  return { files, disk, buffers, asked };
}

Deno.test("ClientFiles.read() asks the client inside the roots only, by name or by real path", async () => {
  const { files, disk, buffers, asked } = scene({ links: { "/link": "/real", "/real/b": "/real/b" } });
  for (const path of ["/space/a", "/real/b"]) buffers.set(path, `buffer of ${path}`);
  for (const path of ["/spaceship/a", "/elsewhere/c"]) disk.set(path, `disk of ${path}`);
  for (const path of ["/space/a", "/real/b", "/spaceship/a", "/elsewhere/c"]) {
    const from = path.startsWith("/space/") || path.startsWith("/real/") ? "buffer" : "disk";
    assertEquals(decode(await files.read(path)), `${from} of ${path}`);
  }
  assertEquals(asked, ["fs/read_text_file /space/a", "fs/read_text_file /real/b"]);
});

Deno.test("ClientFiles.read() gives the client's error in its own words", async () => {
  const { files, disk } = scene();
  disk.set("/space/a", "never read");
  await assertRejects(
    () => files.read("/space/a"),
    /could not read '\/space\/a': Internal error: no such file/,
  );
});

Deno.test("ClientFiles.exists() knows a buffer that was never saved", async () => {
  const { files, buffers, disk } = scene();
  buffers.set("/space/new", "text");
  disk.set("/space/old", "text");
  assertEquals(await Promise.all(["/space/new", "/space/old", "/space/none"].map((p) => files.exists(p))), [
    true,
    true,
    false,
  ]);
});

Deno.test("ClientFiles.rename() takes unsaved text along", async () => {
  const { files, disk, buffers } = scene();
  disk.set("/space/a", "saved");
  buffers.set("/space/a", "unsaved");
  await files.rename("/space/a", "/space/b");
  assertEquals(buffers.get("/space/b"), "unsaved");
  assertEquals([...disk.keys()], ["/space/b"]);
});

Deno.test("ClientFiles.write() keeps a byte order mark and refuses what is no text", async () => {
  const { files, buffers, disk } = scene();
  await files.write("/space/a", encode("\uFEFFtext"));
  assertEquals(buffers.get("/space/a"), "\uFEFFtext");
  await assertRejects(() => files.write("/space/b", new Uint8Array([0xff, 0xfe])), /not UTF-8 text/);
  assertEquals(disk.size, 0);
});

Deno.test("ClientFiles.write() for a client that cannot read goes through it, and outside the roots to the disk", async () => {
  const { files, buffers, disk } = scene({ read: false });
  await files.write("/space/a", encode("text"));
  assertEquals([buffers.get("/space/a"), disk.has("/space/a")], ["text", false]);
  await files.write("/other/a", encode("text"));
  assertEquals([buffers.has("/other/a"), disk.get("/other/a")], [false, "text"]);
});

Deno.test("ClientFiles.exists() asks for one line, read() for all of them (acp.md C8.5)", async () => {
  const { files, buffers, asked } = scene();
  buffers.set("/space/new", "one\r\ntwo\n");
  assertEquals([await files.exists("/space/new"), decode(await files.read("/space/new"))], [
    true,
    "one\r\ntwo\n",
  ]);
  assertEquals(asked, ["fs/read_text_file /space/new limit 1", "fs/read_text_file /space/new"]);
});

Deno.test("ClientFiles.read() refuses at once what no line can hold (acp.md B3)", async () => {
  const { files, asked } = scene({ size: 32 * 1024 * 1024 });
  await assertRejects(
    () => files.read("/space/a"),
    /'\/space\/a' has 33554432 bytes, more than an editor can hand over \(33554432\)/,
  );
  assertEquals(asked, []);
  const below = scene({ size: 32 * 1024 * 1024 - 1 });
  below.buffers.set("/space/a", "text");
  assertEquals(decode(await below.files.read("/space/a")), "text");
});
