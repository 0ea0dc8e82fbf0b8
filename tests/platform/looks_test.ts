/** The same look for all who ask in one turn of the event loop, and never an old one afterwards. */
import { setImmediate } from "node:timers";
import { createDenoPlatform } from "../../src/platform/deno.ts";
import { withLooks } from "../../src/platform/looks.ts";
import { assertEquals } from "../support/assert.ts";

const nextTurn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

Deno.test("one turn of the event loop looks once at a path, the next one again", async () => {
  const asked: string[] = [];
  const { files } = createDenoPlatform();
  const { lookSync } = withLooks({
    ...files,
    statSync: (path) => {
      asked.push(path);
      return null;
    },
  }, 0);
  lookSync("/a");
  await Promise.resolve();
  lookSync("/a");
  lookSync("/b");
  assertEquals(asked, ["/a", "/b"]);
  await nextTurn();
  lookSync("/a");
  assertEquals(asked, ["/a", "/b", "/a"]);
});

Deno.test("a turn that lasts does not make a look old", () => {
  let asked = 0;
  const { files } = createDenoPlatform();
  const { lookSync } = withLooks({ ...files, statSync: () => (asked++, null) }, 0);
  lookSync("/a");
  const start = performance.now();
  while (performance.now() - start < 8) lookSync("/a");
  assertEquals(asked > 1, true);
});

Deno.test("what was written is seen at once, by whichever call it was written", async () => {
  const files = withLooks(createDenoPlatform().files, 0);
  const dir = await Deno.makeTempDir();
  const bytes = (text: string) => new TextEncoder().encode(text);
  try {
    const size = () => files.lookSync(`${dir}/x`)?.size ?? null;
    assertEquals(size(), null);
    files.writeSync(`${dir}/x`, "1");
    assertEquals(size(), 1);
    files.writeSync(`${dir}/y`, "22");
    files.renameSync(`${dir}/y`, `${dir}/x`);
    assertEquals(size(), 2);
    await files.write(`${dir}/x`, bytes("333"));
    assertEquals(size(), 3);
    await files.append(`${dir}/x`, bytes("4"));
    assertEquals(size(), 4);
    await files.write(`${dir}/y`, bytes("55555"));
    await files.rename(`${dir}/y`, `${dir}/x`);
    assertEquals(size(), 5);
    await files.remove(`${dir}/x`);
    assertEquals(size(), null);
    assertEquals(files.lookSync(`${dir}/d`), null);
    files.mkdirSync(`${dir}/d`);
    assertEquals(files.lookSync(`${dir}/d`)?.isDirectory, true);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("a program that has just started makes each look: it shares with nobody", () => {
  let asked = 0;
  const { files } = createDenoPlatform();
  const { lookSync } = withLooks({ ...files, statSync: () => (asked++, null) }, performance.now() + 60_000);
  lookSync("/a");
  lookSync("/a");
  assertEquals(asked, 2);
});
