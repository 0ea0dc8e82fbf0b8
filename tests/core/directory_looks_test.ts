/** Whether a directory answers: asked once for all who wait for it, and anew for who comes later. */
import { DirectoryLooks } from "../../src/core/directory_looks.ts";
import type { Files } from "../../src/platform/mod.ts";
import { assertEquals } from "../support/assert.ts";

function slowFiles() {
  const asked: { path: string; settle: PromiseWithResolvers<unknown> }[] = [];
  const files = {
    stat: (path: string) => {
      const settle = Promise.withResolvers<unknown>();
      asked.push({ path, settle });
      return settle.promise;
    },
  } as unknown as Files;
  return { looks: new DirectoryLooks(files), asked };
}

Deno.test("answers() looks once for all who ask at the same time, per directory", async () => {
  const { looks, asked } = slowFiles();
  const answers = [looks.answers("/a"), looks.answers("/a"), looks.answers("/b")];
  assertEquals(asked.map(({ path }) => path), ["/a", "/b"]);
  asked[0]!.settle.resolve({ isDirectory: true });
  asked[1]!.settle.reject(new Error("gone"));
  assertEquals(await Promise.all(answers), [true, true, false]);
});

Deno.test("answers() looks again when the answer has been given", async () => {
  const { looks, asked } = slowFiles();
  const first = looks.answers("/a");
  asked[0]!.settle.resolve(null);
  assertEquals(await first, false);
  const second = looks.answers("/a");
  asked[1]!.settle.resolve({ isDirectory: true });
  assertEquals([await second, asked.length], [true, 2]);
});

Deno.test("text() reads a file again when it has changed, and keeps no failure", async () => {
  let stat: { mtimeMs: number; size: number } | null = { mtimeMs: 1, size: 2 };
  const looks = new DirectoryLooks({ lookSync: () => stat } as unknown as Files);
  let reads = 0;
  const read = (text: string | null) => looks.text("/home/SOUL.md", () => (reads++, Promise.resolve(text)));
  assertEquals([await read("one"), await read("not read"), reads], ["one", "one", 1]);
  stat = { mtimeMs: 5, size: 2 };
  assertEquals([await read("two"), reads], ["two", 2]);
  stat = { mtimeMs: 5, size: 3 };
  assertEquals([await read(null), await read("three"), reads], [null, "three", 4]);
  stat = null;
  assertEquals([await read("gone"), reads], [null, 4]);
});
