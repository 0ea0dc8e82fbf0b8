import { replaceFile, withFileLock } from "../../src/lib/file_lock.ts";
import { createDenoPlatform } from "../../src/platform/deno.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";

async function inTemp(test: (path: string) => Promise<void>): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "hermes-lock-" });
  try {
    await test(`${dir}/file`);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("withFileLock() lets one in at a time and leaves no lock behind, also after an error", async () => {
  await inTemp(async (path) => {
    const platform = createDenoPlatform();
    let inside = 0, most = 0;
    await Promise.all(Array.from({ length: 10 }, () =>
      withFileLock(platform, path, async () => {
        most = Math.max(most, ++inside);
        await platform.clock.delay(2);
        inside--;
      })));
    await assertRejects(() => withFileLock(platform, path, () => Promise.reject(new Error("inner"))));
    assertEquals([most, await platform.files.stat(`${path}.lock`)], [1, null]);
  });
});

Deno.test("withFileLock() passes over a holder that died", async () => {
  await inTemp(async (path) => {
    const platform = createDenoPlatform();
    await Deno.writeTextFile(`${path}.lock`, `1:dead:${platform.clock.now() - 11_000}\n`);
    assertEquals(await withFileLock(platform, path, () => Promise.resolve("in")), "in");
  });
});

Deno.test("withFileLock() passes over a dead holder from before the clock was put back", async () => {
  await inTemp(async (path) => {
    const platform = createDenoPlatform();
    await Deno.writeTextFile(`${path}.lock`, `1:dead:${platform.clock.now() + 5 * 3_600_000}\n`);
    assertEquals(await withFileLock(platform, path, () => Promise.resolve("in")), "in");
  });
});

Deno.test("replaceFile() keeps a link and sets the mode", async () => {
  await inTemp(async (path) => {
    const platform = createDenoPlatform();
    await Deno.writeTextFile(`${path}-real`, "old");
    await Deno.symlink(`${path}-real`, path);
    await replaceFile(platform, path, "new", 0o640);
    assertEquals([await Deno.readTextFile(`${path}-real`), (await Deno.lstat(path)).isSymlink], [
      "new",
      true,
    ]);
    assertEquals((await Deno.stat(path)).mode! & 0o777, 0o640);
  });
});
