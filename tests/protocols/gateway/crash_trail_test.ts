import { assertEquals } from "../../support/assert.ts";
import type { Platform } from "../../../src/platform/mod.ts";
import { createCrashTrail } from "../../../src/protocols/gateway/crash_trail.ts";

function makeTrail(options: { size?: number; failing?: boolean } = {}) {
  const stderr: string[] = [];
  const files = new Map<string, string>();
  const renamed: string[] = [];
  const platform = {
    env: () => ({ HERMES_HOME: "/early" }),
    homeDir: () => "/user",
    stderr: (line: string) => stderr.push(line),
    clock: { now: () => 0 },
    files: {
      mkdir: () => options.failing ? Promise.reject(new Error("no room")) : Promise.resolve(),
      stat: () => Promise.resolve(options.size === undefined ? null : { size: options.size }),
      rename: (from: string, to: string) => Promise.resolve(renamed.push(`${from} ${to}`)),
      append: (path: string, bytes: Uint8Array) =>
        Promise.resolve(files.set(path, (files.get(path) ?? "") + new TextDecoder().decode(bytes))),
    },
  } as unknown as Platform;
  return { trail: createCrashTrail(platform), stderr, files, renamed };
}

Deno.test("A.1 crash trail: one line on stderr, the story in the file, secrets masked in both", async () => {
  const { trail, stderr, files } = makeTrail();
  trail.learn("/home", (text) => text.replaceAll("s3cret", "***"));
  const error = new TypeError("no s3cret here\nmore");
  trail.report("session.list", error);
  trail.report("turn", "just a word");
  await trail.flush();
  assertEquals(stderr, ["[gateway-crash] TypeError: no *** here", "[gateway-crash] string: just a word"]);
  const story = files.get("/home/logs/tui_gateway_crash.log")!;
  assertEquals(
    story.startsWith("1970-01-01T00:00:00.000Z session.list\nTypeError: no *** here\nmore\n"),
    true,
  );
  assertEquals([story.includes("s3cret"), story.endsWith("Z turn\njust a word\n\n")], [false, true]);
});

Deno.test("A.1 crash trail: before the program is loaded the home of the environment holds the file", async () => {
  const { trail, files } = makeTrail();
  trail.report("start", new Error("early"));
  await trail.flush();
  assertEquals([...files.keys()], ["/early/logs/tui_gateway_crash.log"]);
});

Deno.test("A.1 crash trail: a full file is moved aside; a folder that cannot be written is no further fault", async () => {
  const { trail, renamed } = makeTrail({ size: (1 << 20) + 1 });
  trail.report("x", new Error("y"));
  await trail.flush();
  assertEquals(renamed, ["/early/logs/tui_gateway_crash.log /early/logs/tui_gateway_crash.log.1"]);
  const failing = makeTrail({ failing: true });
  failing.trail.report("x", new Error("y"));
  await failing.trail.flush();
  assertEquals(failing.stderr, ["[gateway-crash] Error: y"]);
});
