/** The folder of the code cache is one that other users may write to. */
import { codeCacheWritten } from "../../src/platform/code_cache.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("codeCacheWritten() leaves a file alone that a link in the place of the cache leads to", async () => {
  const dir = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${dir}/mine`, "x");
    await Deno.utime(`${dir}/mine`, 1_700_000_000, 1_700_000_000);
    await Deno.symlink(`${dir}/mine`, `${dir}/deno-compile-hermes.cache`);
    await codeCacheWritten(`${dir}/deno-compile-hermes.cache`);
    assertEquals((await Deno.stat(`${dir}/mine`)).mtime!.getTime(), 1_700_000_000_000);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
