/** Whether a directory answers: asked once for all who wait for it, and anew for who comes later. */
import { doesAnswer } from "../../src/core/prompt_files.ts";
import type { Files } from "../../src/platform/mod.ts";
import { assertEquals } from "../support/assert.ts";

function slowFiles() {
  const looks: { path: string; settle: PromiseWithResolvers<unknown> }[] = [];
  const files = {
    stat: (path: string) => {
      const settle = Promise.withResolvers<unknown>();
      looks.push({ path, settle });
      return settle.promise;
    },
  } as unknown as Files;
  return { files, looks };
}

Deno.test("doesAnswer() looks once for all who ask at the same time, per directory", async () => {
  const { files, looks } = slowFiles();
  const asked = [doesAnswer(files, "/a"), doesAnswer(files, "/a"), doesAnswer(files, "/b")];
  assertEquals(looks.map(({ path }) => path), ["/a", "/b"]);
  looks[0]!.settle.resolve({ isDirectory: true });
  looks[1]!.settle.reject(new Error("gone"));
  assertEquals(await Promise.all(asked), [true, true, false]);
});

Deno.test("doesAnswer() looks again when the answer has been given", async () => {
  const { files, looks } = slowFiles();
  const first = doesAnswer(files, "/a");
  looks[0]!.settle.resolve(null);
  assertEquals(await first, false);
  const second = doesAnswer(files, "/a");
  looks[1]!.settle.resolve({ isDirectory: true });
  assertEquals([await second, looks.length], [true, 2]);
});
