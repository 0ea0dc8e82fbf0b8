import { processesOf } from "@/tools/mod.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { eventually } from "../support/program.ts";
import { type Bench, makeBench } from "./context.ts";

async function start(bench: Bench, command: string, more: Record<string, unknown> = {}): Promise<string> {
  const result = await bench.json("terminal", { command, background: true, ...more });
  assertEquals([result.output, result.exit_code, result.error], ["Background process started", 0, null]);
  assertMatch(result.session_id, /^proc_[0-9a-f]+$/);
  assert(result.pid > 0);
  return result.session_id;
}

function act(bench: Bench, action: string, id?: string, more: Record<string, unknown> = {}) {
  return bench.json("process", { action, ...(id ? { session_id: id } : {}), ...more });
}

async function untilOutput(bench: Bench, id: string, text: string): Promise<void> {
  await eventually(async () => (await act(bench, "poll", id)).output_preview.includes(text), 5_000, text);
}

Deno.test("core 31: a background process is polled, read, written to and killed", async () => {
  await using bench = await makeBench();
  const id = await start(bench, "echo ready; while read l; do echo got:$l; done; echo eof; sleep 60");
  await untilOutput(bench, id, "ready");
  const poll = await act(bench, "poll", id);
  assertEquals([poll.session_id, poll.status, poll.exit_code], [id, "running", undefined]);
  assertEquals(await act(bench, "write", id, { data: "a" }), {
    session_id: id,
    status: "ok",
    bytes_written: 1,
  });
  assertEquals((await act(bench, "submit", id, { data: "b" })).bytes_written, 2);
  await untilOutput(bench, id, "got:ab");
  assertEquals((await act(bench, "close", id)).status, "ok");
  await untilOutput(bench, id, "eof");
  const log = await act(bench, "log", id);
  assertEquals([log.output, log.total_lines, log.showing], ["ready\ngot:ab\neof", 3, "lines 1-3 of 3"]);
  assertEquals((await act(bench, "log", id, { offset: 1, limit: 1 })).output, "got:ab");
  const list = await act(bench, "list");
  assertEquals(list.processes.map((p: { session_id: string; status: string }) => [p.session_id, p.status]), [[
    id,
    "running",
  ]]);
  const killed = await act(bench, "kill", id);
  assertEquals([killed.status, killed.exit_code], ["killed", -15]);
  const after = await act(bench, "poll", id);
  assertEquals([after.status, after.exit_code, after.completion_reason, after.termination_source], [
    "exited",
    -15,
    "killed",
    "process.kill",
  ]);
  assertEquals((await act(bench, "kill", id)).status, "already_exited");
});

Deno.test("core 31: another session neither sees nor ends the process", async () => {
  await using bench = await makeBench();
  const id = await start(bench, "sleep 60");
  const other = { session: "s2" };
  assertEquals((await bench.json("process", { action: "list" }, other)).processes, []);
  for (const action of ["poll", "log", "wait", "kill", "write", "submit", "close"]) {
    const result = await bench.json("process", { action, session_id: id, data: "x" }, other);
    assertEquals(result.status, "not_found", action);
  }
  assertEquals((await act(bench, "poll", id)).status, "running");
});

Deno.test("process wait ends with the process, with its timeout, or with the turn", async () => {
  await using bench = await makeBench();
  const quick = await act(bench, "wait", await start(bench, "echo x; exit 4"));
  assertEquals([quick.status, quick.exit_code, quick.completion_reason, quick.output_preview], [
    "exited",
    4,
    "exited",
    "x\n",
  ]);
  const id = await start(bench, "sleep 60");
  assertEquals((await act(bench, "wait", id, { timeout: 1 })).status, "timeout");
  const controller = new AbortController();
  const waiting = bench.json("process", { action: "wait", session_id: id }, { signal: controller.signal });
  controller.abort();
  assertEquals((await waiting).status, "interrupted");
  assertEquals((await act(bench, "poll", id)).status, "running");
});

Deno.test("FC-19: closing the session ends its background processes and their children", async () => {
  const bench = await makeBench();
  const pidFile = `${bench.dir}/pid`;
  await start(bench, `sleep 60 & echo $! > ${pidFile}; wait`);
  const pid = Number(
    await eventually(async () => (await bench.read("pid").catch(() => "")).trim() || false, 3_000),
  );
  await bench[Symbol.asyncDispose]();
  const gone = async () => {
    const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => null);
    return stat === null || / Z /.test(stat);
  };
  await eventually(gone, 2_000, "end of the child");
});

Deno.test("process keeps the last 200,000 characters and takes part in the shell's environment", async () => {
  await using bench = await makeBench();
  await bench.json("terminal", { command: "export A=1; mkdir d; cd d" });
  const id = await start(bench, "yes 123456789 | head -n 50000; echo $A; pwd");
  await act(bench, "wait", id);
  const log = await act(bench, "log", id, { limit: 2 });
  assertEquals(log.output, `1\n${bench.dir}/d`);
  assert(log.total_lines < 20_010, `${log.total_lines}`);
  assertMatch(log.hint, /dropped/);
});

Deno.test("process notices: completion, and watched patterns at a bounded rate", async () => {
  await using bench = await makeBench();
  const untilTold = () =>
    eventually(() => {
      const told = bench.takeTold();
      return told.length > 0 && told;
    }, 2_000);
  const done = await start(bench, "echo result; exit 2", {
    notify_on_complete: true,
    watch_patterns: ["result"],
  });
  const [notice, ...more] = await untilTold();
  assertEquals([more, notice!.kind], [[], "process_complete"]);
  assert(notice!.text.startsWith(`[IMPORTANT: Background process ${done} completed (exit code 2).`));
  assertMatch(notice!.text, /result\n\]$/);
  const watched = await start(bench, "for i in 1 2 3 4 5; do echo ERROR $i; echo fine; done", {
    watch_patterns: ["ERROR"],
  });
  await act(bench, "wait", watched);
  const [found, ...others] = await untilTold();
  assertEquals(others, []);
  assert(found!.text.startsWith(`[IMPORTANT: Background process ${watched} has written a line`));
  assertMatch(found!.text, /\nERROR 1\]$/);
});

Deno.test("process notices: an end that a call has shown is not told once more", async () => {
  await using bench = await makeBench();
  const id = await start(bench, "exit 3", { notify_on_complete: true });
  await eventually(() => bench.told() > 0, 2_000);
  assertEquals((await act(bench, "poll", id)).exit_code, 3);
  assertEquals(bench.takeTold(), []);
});

Deno.test("process notices: what a person has ended is told, and is no reason to start a turn", async () => {
  await using bench = await makeBench();
  const id = await start(bench, "sleep 60", { notify_on_complete: true });
  await processesOf(bench.scope(), bench.platform).get(id)!.kill("process.stop");
  const [notice] = await eventually(() => {
    const told = bench.takeTold();
    return told.length > 0 && told;
  }, 2_000);
  assertEquals(notice!.quiet, true);
  assertMatch(notice!.text, /completed \(exit code -15\)/);
});

Deno.test("core B.3: where nothing later is told, a background start says so", async () => {
  await using bench = await makeBench();
  const args = { command: "true", background: true, notify_on_complete: true };
  const api = await bench.json("terminal", args, { overrides: { hearsLater: false } });
  assertEquals([api.notify_on_complete, api.notify_unsupported], [true, true]);
  assertEquals((await bench.json("terminal", args)).notify_unsupported, undefined);
});

Deno.test("process refuses unknown actions and ids, and more than 64 processes", async () => {
  await using bench = await makeBench();
  assertMatch((await act(bench, "explode")).error, /'action' must be one of/);
  assertMatch((await act(bench, "poll")).error, /'session_id'/);
  assertMatch((await act(bench, "poll", "proc_0")).error, /No process/);
  for (let i = 0; i < 64; i++) await start(bench, "sleep 60");
  const refused = await bench.json("terminal", { command: "sleep 60", background: true });
  assertMatch(refused.error, /already has 64/);
});

Deno.test("background start says so when the command ends at once, and keeps its output", async () => {
  await using bench = await makeBench();
  const id = await start(bench, "echo out; echo err >&2; exit 5");
  const result = await act(bench, "wait", id);
  assertEquals([result.exit_code, result.output_preview], [5, "out\nerr\n"]);
  await assertWriteFails(bench, id);
});

async function assertWriteFails(bench: Bench, id: string): Promise<void> {
  assertMatch((await act(bench, "write", id, { data: "x" })).error, /already exited/);
}

Deno.test("process list names what was lost with a crashed program, to its own session only", async () => {
  await using bench = await makeBench();
  const entry = (id: string, owner: string, host_pid: number) => ({
    id,
    owner,
    host_pid,
    command: "sleep 1",
    cwd: "/",
    pid: 1,
    started_at: 1,
  });
  const file = `${bench.home}/processes.json`;
  const gone = 2 ** 22 + 5;
  await bench.write(
    file,
    JSON.stringify({ processes: [entry("proc_a", "s1", gone), entry("proc_b", "s2", gone), 7] }),
  );
  const { processes } = await act(bench, "list");
  assertEquals(
    processes.map((
      p: { session_id: string; completion_reason: string },
    ) => [p.session_id, p.completion_reason]),
    [
      ["proc_a", "lost"],
    ],
  );
  assertMatch((await act(bench, "poll", "proc_a")).error, /lost/);
  assertEquals((await act(bench, "poll", "proc_b")).status, "not_found");
  const id = await start(bench, "sleep 60");
  const ids = async () => JSON.parse(await bench.read(file)).processes.map((p: { id: string }) => p.id);
  assertEquals(await ids(), ["proc_b", id]);
  await act(bench, "kill", id);
  await eventually(async () => (await ids()).length === 1, 2_000);
});
