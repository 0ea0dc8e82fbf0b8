/** Several connections of one gateway keep files at the same time. */
import type { Hermes } from "@/app/mod.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { keepFile } from "../../../src/protocols/gateway/kept_file.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("keepFile(): of several at once under one name each keeps its own bytes; links are not written through", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const hermes = { platform: createDenoPlatform() } as unknown as Hermes;
    await Deno.symlink(`${dir}/elsewhere`, `${dir}/image.png`);
    const texts = ["a", "b", "c", "d", "e"];
    const paths = await Promise.all(
      texts.map((text) =>
        keepFile(hermes, {
          folder: dir,
          name: "image",
          ending: ".png",
          bytes: new TextEncoder().encode(text),
        })
      ),
    );
    assertEquals(await Promise.all(paths.map((path) => Deno.readTextFile(path))), texts);
    assertEquals(await Deno.lstat(`${dir}/elsewhere`).catch(() => null), null);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
