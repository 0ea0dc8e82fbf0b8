/**
 * Run on its own with `--v8-flags=--expose-gc`: starts children one after the other and prints how many KiB of what
 * their callers held are still there for each, for both kinds of stdin.
 */
import { createDenoPlatform } from "../../src/platform/deno.ts";

const CHILDREN = 40;
const platform = createDenoPlatform();
const { gc } = globalThis as unknown as { gc(): void };

async function oneChild(stdin: "null" | "pipe"): Promise<void> {
  const held = Array.from({ length: 10_000 }, (_, n) => n + 0.5);
  const take = (chunk: Uint8Array) => void held.push(chunk.length);
  const child = platform.spawn("/bin/sh", ["-c", "echo out; echo err >&2"], {
    cwd: "/",
    env: {},
    stdin,
    onStdout: take,
    onStderr: take,
  });
  if (stdin === "pipe") child.closeStdin();
  await child.exited;
}

async function heapUsed(): Promise<number> {
  await platform.clock.delay(50);
  gc();
  return Deno.memoryUsage().heapUsed;
}

for (const stdin of ["null", "pipe"] as const) {
  for (let n = 0; n < 10; n++) await oneChild(stdin);
  const before = await heapUsed();
  for (let n = 0; n < CHILDREN; n++) await oneChild(stdin);
  const grown = (await heapUsed() - before) / CHILDREN / 1_024;
  await Deno.stdout.write(new TextEncoder().encode(`${stdin} ${grown.toFixed(1)}\n`));
}
