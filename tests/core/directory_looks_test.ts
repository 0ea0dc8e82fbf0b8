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
