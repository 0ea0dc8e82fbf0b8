/** The process that makes an image smaller (core.md B.10): what it is given, how it is bounded and ended. */
import { createFitImage, type FitImage, ImageRefusal, SENDABLE } from "@/core/mod.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import type { Child, Platform, SpawnOptions } from "@/platform/mod.ts";
import { imageSize } from "@/lib/image_head.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "../support/assert.ts";
import { jpeg, noise, png } from "../support/images.ts";
import { processesOfHome, untilHomeIsLeft } from "../support/processes.ts";
import { eventually } from "../support/program.ts";

const idle = new AbortController().signal;
const wide = png(8_000, 20, (x) => [x & 255, 7, 9, x < 4_000 ? 0 : 255]);

interface Scene {
  readonly home: string;
  readonly fit: FitImage;
  /** Environments of the children that were started. */
  readonly started: SpawnOptions[];
}

async function withFit(run: (scene: Scene) => Promise<void>, change: Partial<Platform> = {}): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "hermes-fit-" });
  const real = createDenoPlatform();
  const started: SpawnOptions[] = [];
  const platform: Platform = {
    ...real,
    spawn: (command, args, options) => {
      started.push(options);
      return real.spawn(command, args, options);
    },
    ...change,
  };
  const env = () => ({ ...real.env(), SOME_TOKEN: "hidden" });
  try {
    await run({ home, fit: createFitImage({ platform, home, env }), started });
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

async function refusal(promise: Promise<unknown>): Promise<ImageRefusal> {
  try {
    await promise;
  } catch (error) {
    assert(error instanceof ImageRefusal, String(error));
    return error;
  }
  throw new Error("Nothing was refused");
}

Deno.test("B.10: an image of 8,000 pixels comes back with 7,900, what was clear in it still clear", async () => {
  await withFit(async ({ fit, home, started }) => {
    const { bytes, from, to } = await fit(wide, SENDABLE, idle);
    assertEquals([from, to, imageSize(bytes)], [[8_000, 20], [7_900, 19], [7_900, 19]]);
    assertEquals(bytes[25], 6, "RGB with opacity");
    const [{ env }] = started as [SpawnOptions];
    assertEquals([env["SOME_TOKEN"], env["HERMES_HOME"]], [undefined, home]);
  });
});

Deno.test("B.10: bombs are refused by their header, before a process is started", async () => {
  await withFit(async ({ fit, started }) => {
    const bomb = png(10, 10);
    const view = new DataView(bomb.buffer);
    view.setUint32(16, 100_001);
    view.setUint32(20, 1_000);
    const { reason, message } = await refusal(fit(bomb, SENDABLE, idle));
    assertEquals(reason, "too_many_pixels");
    assertMatch(
      message,
      /^it has 100001×1000 pixels, more than the 100 million .* at most 7900 pixels a side$/,
    );
    assertEquals((await refusal(fit(new Uint8Array(40), SENDABLE, idle))).reason, "unreadable");
    assertEquals(started.length, 0);
  });
});

Deno.test("B.10: a damaged image is refused with what to do", async () => {
  await withFit(async ({ fit }) => {
    const half = wide.subarray(0, wide.length >> 1);
    const { reason, message } = await refusal(fit(half, SENDABLE, idle));
    assertEquals(reason, "unreadable");
    assertMatch(message, /^it is damaged .*save it again as PNG or JPEG/);
    // The next one is not held up by it.
    const photo = jpeg(90, 60, (x, y) => [noise(x, y), 0, 0, 255]);
    assertEquals((await fit(photo, { maxSide: 30, maxBytes: 1 << 20 }, idle)).to, [30, 20]);
  });
});

Deno.test("B.10: a cancel ends the process and whoever waits for his turn, and lets the next one in", async () => {
  // Much to do, quickly made: one bit a pixel.
  const vast = png(9_900, 9_900, null, { colour: 0, depth: 1 });
  await withFit(async ({ fit, home, started }) => {
    const [first, second] = [new AbortController(), new AbortController()];
    const running = fit(vast, SENDABLE, first.signal);
    const waiting = fit(vast, SENDABLE, second.signal);
    const refused = [
      assertRejects(() => running, /^AbortError/),
      assertRejects(() => waiting, /^AbortError/),
    ];
    await eventually(async () => (await processesOfHome(home)).length > 0, 5_000, "the process");
    second.abort();
    await refused[1];
    assertEquals(started.length, 1);
    first.abort();
    await refused[0];
    await untilHomeIsLeft(home);
    assertEquals((await fit(wide, SENDABLE, idle)).to, [7_900, 19]);
    await assertRejects(() => fit(wide, SENDABLE, first.signal), /^AbortError/);
  });
});

Deno.test("B.10: one process at a time, and none for an image that was made smaller before", async () => {
  const running = new Set<Promise<unknown>>();
  let most = 0;
  const real = createDenoPlatform();
  const spawn: Platform["spawn"] = (command, args, options) => {
    const child = real.spawn(command, args, options);
    running.add(child.exited);
    most = Math.max(most, running.size);
    void child.exited.then(() => running.delete(child.exited));
    count++;
    return child;
  };
  let count = 0;
  await withFit(async ({ fit }) => {
    const other = png(7_950, 3);
    const [first, again, third] = await Promise.all(
      [wide, wide.slice(), other].map((one) => fit(one, SENDABLE, idle)),
    );
    assertEquals([most, count, first!.bytes === again!.bytes, third!.to], [1, 2, true, [7_900, 2]]);
    await fit(wide, { ...SENDABLE, maxSide: 700 }, idle);
    assertEquals(count, 3);
  }, { spawn });
});

Deno.test("B.10: a process that does not end is ended, one that gives nonsense or cannot start is told", async () => {
  const ended: string[] = [];
  const endless = new Promise<never>(() => {});
  const fake = (
    exit: Promise<{ code: number; signal: null }>,
    out = new Uint8Array(),
  ): Partial<Platform> => ({
    clock: {
      ...createDenoPlatform().clock,
      delay: (ms) => ms === 60_000 && exit === endless ? Promise.resolve() : endless,
    },
    spawn: (_command, _args, options): Child => {
      options.onStdout(out);
      return {
        pid: 1,
        exited: exit,
        write: () => Promise.resolve(),
        closeStdin: () => {},
        kill: (signal) => void ended.push(signal),
        unref: () => {},
      };
    },
  });
  const reasonOf = async (change: Partial<Platform>) => {
    let reason = "";
    await withFit(
      async ({ fit }) => void (reason = (await refusal(fit(wide, SENDABLE, idle))).reason),
      change,
    );
    return reason;
  };
  assertEquals(await reasonOf(fake(endless)), "timeout");
  assertEquals(ended, ["SIGKILL"]);
  assertEquals(await reasonOf(fake(Promise.resolve({ code: 0, signal: null }), png(9_000, 1))), "failed");
  assertEquals(await reasonOf(fake(Promise.resolve({ code: 137, signal: null }))), "failed");
  const unstarted = Promise.reject(new Error("ENOENT"));
  unstarted.catch(() => {/* told when it is awaited */});
  assertEquals(await reasonOf(fake(unstarted)), "failed");
  const missing = () => {
    throw new Error("not there");
  };
  assertEquals(await reasonOf({ spawn: missing }), "failed");
});
