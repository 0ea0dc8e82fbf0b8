/** Figures of commands and background processes (core.md B.3, B.4). */
import type { Child, Platform } from "@/platform/mod.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { refuseInForeground } from "@/tools/foreground_rules.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { eventually } from "../support/program.ts";
import { type Bench, makeBench } from "./context.ts";

/**
 * Runs with a log of signals and, from the first signal on, of the timers that were set, in their order; those go off
 * at once. The children are real.
 */
async function withSignals(test: (spawn: Platform["spawn"], log: string[]) => Promise<void>): Promise<void> {
  const real = createDenoPlatform();
  const { setTimeout: timeout } = globalThis;
  const log: string[] = [];
  const spawn: Platform["spawn"] = (command, args, options) => {
    const child: Child = real.spawn(command, args, options);
    return {
      ...child,
      kill(signal) {
        // What is sent to a group that has ended already is no step of the stop.
        if (log.at(-1) !== "SIGKILL") log.push(signal);
        child.kill(signal);
      },
    };
  };
  globalThis.setTimeout = ((run: () => void, ms = 0) => {
    if (log.length !== 1) return timeout(run, ms);
    log.push(`${ms} ms`);
    return timeout(run, 0);
  }) as typeof setTimeout;
  try {
    await test(spawn, log);
  } finally {
    globalThis.setTimeout = timeout;
  }
}

const STUBBORN = "trap '' TERM; echo on; while :; do sleep 0.05; done";

Deno.test("core B.3: a command that stays is killed 1 s after SIGTERM", async () => {
  await withSignals(async (spawn, log) => {
    await using bench = await makeBench({ platform: { spawn } });
    const controller = new AbortController();
    const running = bench.json("terminal", { command: STUBBORN }, { signal: controller.signal });
    await eventually(() => bench.progress.some((piece) => piece.includes("on")), 5_000, "the command");
    controller.abort();
    assertEquals((await running).exit_code, 130);
    assertEquals(log, ["SIGTERM", "1000 ms", "SIGKILL"]);
  });
});

function act(bench: Bench, action: string, session_id: string, more: Record<string, unknown> = {}) {
  return bench.json("process", { action, session_id, ...more });
}

async function start(bench: Bench, command: string): Promise<string> {
  return (await bench.json("terminal", { command, background: true })).session_id;
}

Deno.test("core B.3, B.4: a background process that stays is killed 1 s after SIGTERM", async () => {
  await withSignals(async (spawn, log) => {
    await using bench = await makeBench({ platform: { spawn } });
    const id = await start(bench, STUBBORN);
    const isOn = async () => (await act(bench, "poll", id)).output_preview.includes("on");
    await eventually(isOn, 5_000, "the command");
    assertEquals((await act(bench, "kill", id)).status, "killed");
    assertEquals(log, ["SIGTERM", "1000 ms", "SIGKILL"]);
  });
});

Deno.test("core B.3: servers and what detaches is refused in the foreground, help and versions are not", async () => {
  const servers = [
    ...["npm", "pnpm", "yarn", "bun"].flatMap((runner) =>
      ["dev", "start", "serve", "watch"].flatMap((
        script,
      ) => [`${runner} ${script}`, `${runner} run ${script}`])
    ),
    "docker compose up",
    "next dev",
    "vite",
    "nodemon app.js",
    "nodemon",
    "cd app && nodemon --watch src app.js",
    "uvicorn app:app",
    "gunicorn app:app",
    "python -m http.server",
    "python3 -m http.server 8000",
  ];
  for (const command of servers) assertMatch(String(refuseInForeground(command)), /starts a server/, command);
  for (const command of ["nohup a", "setsid a", "a & disown", "a &"]) {
    assertMatch(String(refuseInForeground(command)), /background=true/, command);
  }
  const free = [
    ...["--help", "-h", "--version", "-v"].flatMap((flag) => [`nodemon ${flag}`, `npm run dev ${flag}`]),
    "echo 'nodemon app.js'",
    "npm run build",
    "npm test",
    "which nodemon",
    "docker compose up -d",
    "python -m pytest",
  ];
  for (const command of free) assertEquals(refuseInForeground(command), null, command);
  await using bench = await makeBench();
  const refused = await bench.json("terminal", { command: "nodemon app.js" });
  assertMatch(JSON.stringify(refused), /'nodemon app\.js' starts a server .*background=true/);
});

Deno.test("core B.4: the log is the last 200 lines unless offset and limit say otherwise", async () => {
  await using bench = await makeBench();
  const id = await start(bench, "seq 1 450");
  assertEquals((await act(bench, "wait", id)).status, "exited");
  const page = async (more: Record<string, unknown> = {}) => {
    const { output, total_lines, showing } = await act(bench, "log", id, more);
    const lines = output.split("\n");
    return [lines.length, lines[0], lines.at(-1), total_lines, showing];
  };
  assertEquals(await page(), [200, "251", "450", 450, "lines 251-450 of 450"]);
  assertEquals(await page({ offset: 10 }), [200, "11", "210", 450, "lines 11-210 of 450"]);
  assertEquals(await page({ limit: 300 }), [300, "151", "450", 450, "lines 151-450 of 450"]);
});

Deno.test("core B.4: a finished process is known for 1,800 s, one that runs for as long as it runs", async () => {
  let now = 0;
  const { clock } = createDenoPlatform();
  await using bench = await makeBench({ platform: { clock: { ...clock, monotonic: () => now } } });
  const [finished, running] = [await start(bench, "echo done"), await start(bench, "sleep 60")];
  await act(bench, "wait", finished);
  const known = async () => {
    const { processes } = await bench.json("process", { action: "list" });
    return processes.map((one: { session_id: string }) => one.session_id);
  };
  now = 1_800_000;
  assertEquals(await known(), [finished, running]);
  assertEquals((await act(bench, "log", finished)).output, "done");
  now = 1_800_001;
  assertEquals(await known(), [running]);
  assertEquals((await act(bench, "log", finished)).status, "not_found");
});
