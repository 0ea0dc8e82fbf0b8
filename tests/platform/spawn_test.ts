import { assert, assertEquals } from "../support/assert.ts";

const SCRIPT = new URL("../support/spawn_memory.ts", import.meta.url).pathname;

Deno.test("spawn: what a caller held is let go when its child has ended", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--v8-flags=--expose-gc", SCRIPT],
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  assertEquals(code, 0, decode(stderr));
  const grown = decode(stdout).trim().split("\n").map((line) => line.split(" "));
  assertEquals(grown.map(([stdin]) => stdin), ["null", "pipe"]);
  // Each call holds about 80 KiB; a few are the runtime's own.
  for (const [stdin, kib] of grown) assert(Number(kib) < 15, `stdin ${stdin}: ${kib} KiB for each child`);
});
