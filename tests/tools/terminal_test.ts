import { createDenoPlatform } from "@/platform/deno.ts";
import { textOf } from "@/core/mod.ts";
import { assert, assertEquals, assertMatch, assertRejects, assertWithin } from "../support/assert.ts";
import { ownSleep, processesWith, untilGone } from "../support/processes.ts";
import { eventually } from "../support/program.ts";
import { type Bench, makeBench, SECRET } from "./context.ts";

async function run(bench: Bench, command: string, more: Record<string, unknown> = {}) {
  return await bench.json("terminal", { command, ...more });
}

Deno.test("core 28: directory and exported environment stay from one command to the next", async () => {
  await using bench = await makeBench();
  await Deno.mkdir(`${bench.dir}/sub`);
  assertEquals(await run(bench, "cd sub && export A=1 M=$'x\\ny'; B=2"), {
    output: "",
    exit_code: 0,
    error: null,
  });
  assertEquals((await run(bench, 'pwd; echo "$A|$B|$M"')).output, `${bench.dir}/sub\n1||x\ny`);
  await run(bench, "unset A");
  assertEquals((await run(bench, "echo [$A]")).output, "[]");
  assertEquals((await run(bench, "echo $HERMES_SESSION_ID")).output, "s1");
});

Deno.test("terminal keeps state over exit, errors, set -eu and traps of the command", async () => {
  await using bench = await makeBench();
  assertEquals((await run(bench, "export A=1; exit 3")).exit_code, 3);
  assertEquals((await run(bench, "set -eu; export B=2; false; export B=3")).exit_code, 1);
  assertEquals((await run(bench, "export C=4; trap 'echo bye' EXIT; IFS=,; set -f")).output, "bye");
  assertEquals((await run(bench, "export D=5; echo $NOPE ${UNSET?gone}")).exit_code, 127);
  assertEquals((await run(bench, "exec true")).exit_code, 0);
  assertEquals((await run(bench, "echo $A $B $C $D")).output, "1 2 4 5");
  assertEquals((await run(bench, "echo 'unbalanced")).exit_code, 2);
  assertEquals(
    (await run(bench, 'echo "$# $*"; cat <<X\nhere $A\nX')).output,
    "0\nhere 1".replace("0\n", "0 \n"),
  );
});

Deno.test("terminal gives stderr in order, an empty stdin, and the exit code", async () => {
  await using bench = await makeBench();
  const result = await run(bench, "echo out; echo err >&2; cat; echo end; exit 7");
  assertEquals([result.output, result.exit_code], ["out\nerr\nend", 7]);
  assertEquals((await run(bench, "printf '\\033[31mred\\033[0m\\n'")).output, "red");
  assertEquals((await run(bench, "echo hi >&9")).exit_code, 1);
});

Deno.test("core 29: a timeout gives code 124 and the marker, soon", async () => {
  await using bench = await makeBench();
  const start = performance.now();
  const outcome = await bench.call("terminal", {
    command: "cd /; export T=1; echo begun; sleep 60",
    timeout: 1,
  });
  const result = JSON.parse(textOf(outcome.content));
  assertEquals([result.exit_code, result.output], [124, "begun\n[Command timed out after 1s]"]);
  assertEquals([outcome.isError, outcome.effect], [true, "unknown"]);
  assertWithin(performance.now() - start, 3_000);
  assertEquals((await run(bench, "pwd")).exit_code, 0);
});

Deno.test("terminal kills what ignores SIGTERM", async () => {
  await using bench = await makeBench();
  const start = performance.now();
  const result = await run(bench, "trap '' TERM; echo on; while :; do sleep 0.1; done", { timeout: 1 });
  assertEquals(result.exit_code, 124);
  assertWithin(performance.now() - start, 4_000);
});

Deno.test("FC-06: cancel leaves no process of the command and no late effect", async () => {
  await using bench = await makeBench();
  const controller = new AbortController();
  const [sleep, late] = [ownSleep(60), ownSleep(61)];
  const command = `sh -c '${sleep} & (${late}; echo LATE > late.txt)'`;
  const started = run1(bench, command, controller.signal);
  await eventually(async () => (await processesWith(late)).length >= 1, 10_000);
  const stop = performance.now();
  controller.abort();
  const outcome = await started;
  assertWithin(performance.now() - stop, 3_000);
  const result = JSON.parse(textOf(outcome.content));
  assertEquals([result.exit_code, result.output, outcome.effect], [130, "[Command interrupted]", "unknown"]);
  for (const text of [sleep, late]) await untilGone(text);
  assertEquals(await bench.platform.files.stat(`${bench.dir}/late.txt`), null);
});

function run1(bench: Bench, command: string, signal: AbortSignal) {
  return bench.call("terminal", { command }, { signal });
}

Deno.test("FC-06: a call that is cancelled before it starts runs nothing", async () => {
  await using bench = await makeBench();
  const outcome = await run1(bench, "touch made", AbortSignal.abort());
  assertEquals(JSON.parse(textOf(outcome.content)).exit_code, 130);
  assertEquals(await bench.platform.files.stat(`${bench.dir}/made`), null);
  const write = bench.call("write_file", { path: "made", content: "x" }, { signal: AbortSignal.abort() });
  await assertRejects(() => write, /abort/);
  assertEquals(await bench.platform.files.stat(`${bench.dir}/made`), null);
});

Deno.test("FC-19: a foreground command's leftovers end with it", async () => {
  await using bench = await makeBench();
  const sleeps = [ownSleep(60), ownSleep(61)];
  const result = await run(bench, `${sleeps[0]} & ${sleeps[1]} >/dev/null 2>&1 & echo started`);
  assertEquals(result.output, "started");
  for (const sleep of sleeps) await untilGone(sleep);
});

Deno.test("terminal waits for a process substitution that still writes", async () => {
  await using bench = await makeBench();
  await run(bench, "echo text > >(sleep 0.1; cat > out.txt)");
  assertEquals(await bench.read("out.txt"), "text\n");
});

Deno.test("FC-18: 200 MB of lines and a line of 20 MB are bounded while they are read", async () => {
  await using bench = await makeBench();
  await run(bench, "true");
  const before = Deno.memoryUsage().rss;
  let most = 0;
  const timer = setInterval(() => most = Math.max(most, Deno.memoryUsage().rss), 50);
  const lines = await run(bench, "yes 'a short line of text' | head -c 200000000");
  const line = await run(bench, "head -c 20000000 /dev/zero | tr '\\0' x; echo; echo tail");
  clearInterval(timer);
  for (const result of [lines, line]) {
    assert(result.output.length < 51_000, `${result.output.length}`);
    assertMatch(result.output, /\n\[OUTPUT TRUNCATED - \d+ chars omitted out of \d+ total\]\n/);
    assertEquals(result.exit_code, 0);
  }
  assertMatch(
    lines.output,
    /^a short line of text\n[\s\S]*\[OUTPUT TRUNCATED - 199950000 chars omitted out of 200000000 total\]/,
  );
  assertMatch(line.output, /^x+\n\[OUT[^\n]*\nx+\ntail$/);
  assert(most - before < 150_000_000, `grew by ${Math.round((most - before) / 1e6)} MB`);
  assertEquals((await run(bench, "echo ok")).output, "ok");
});

Deno.test("core 30: servers and detaching are refused in the foreground, and nothing else", async () => {
  await using bench = await makeBench();
  for (
    const command of [
      "npm run dev",
      "cd app && npm start",
      "PORT=1 yarn dev",
      "bun run watch",
      "docker compose up",
      "next dev",
      "npx vite",
      "python3 -m http.server 8000",
      "uvicorn app:app",
      "nohup make",
      "setsid foo",
      "make & disown",
      "sleep 100 &",
    ]
  ) {
    const result = await run(bench, command);
    assertEquals([result.status, result.exit_code], ["blocked", -1], command);
    assertMatch(result.error, /background=true/);
  }
  for (
    const command of [
      "npm run dev --help || true",
      "echo 'nohup x &'",
      "echo npm start",
      "true && echo a 2>&1",
      "false || echo vite build",
      'echo "a &" # trailing &',
      "cat <<'X'\nnpm start &\nX",
    ]
  ) {
    assertEquals((await run(bench, command)).status, undefined, command);
  }
});

Deno.test("core 30, FC-26: provider keys reach no command, not even from a login file", async () => {
  await using bench = await makeBench();
  await bench.write(
    `${bench.userHome}/.bashrc`,
    "export FAKE_PROVIDER_TOKEN=k1 X_API_KEY=k2 FROM_RC=yes\nfunction f() { :; }\n",
  );
  const result = await run(bench, "env; echo [$FAKE_PROVIDER_TOKEN$X_API_KEY] $FROM_RC");
  assertMatch(result.output, /\n\[\] yes$/);
  assert(!/k1|k2/.test(result.output));
  assertEquals((await run(bench, "echo $FROM_RC; type f 2>/dev/null")).output, "yes");
});

Deno.test("terminal reads the login files once, and runs the command when they break", async () => {
  await using bench = await makeBench();
  await bench.write(
    `${bench.userHome}/.profile`,
    "export P=1; echo noise; echo noise >&2; echo x >> ~/count\n",
  );
  await bench.write(`${bench.userHome}/.bashrc`, "set -e\nalias ls=false\nexit 9\n");
  assertEquals(await run(bench, "echo first"), { output: "first", exit_code: 0, error: null });
  assertEquals((await run(bench, "echo second")).output, "second");
  assertEquals(await bench.read(`${bench.userHome}/count`), "x\n");
  await using other = await makeBench();
  await other.write(`${other.userHome}/.profile`, "export P=1; echo noise; cd /\n");
  assertEquals((await run(other, "echo $P; pwd")).output, `1\n${other.dir}`);
});

Deno.test("terminal does without login files that hang, and looks no more at them", async () => {
  await using bench = await makeBench();
  await bench.write(`${bench.userHome}/.profile`, "echo x >> ~/count; sleep 600\n");
  const first = await bench.call("terminal", { command: "echo first", timeout: 1 });
  assertEquals(JSON.parse(textOf(first.content)).output, "first");
  assertEquals((await run(bench, "echo second")).output, "second");
  assertEquals(await bench.read(`${bench.userHome}/count`), "x\n");
});

Deno.test("terminal keeps the PATH it was given when a login file sets a new one", async () => {
  await using bench = await makeBench({ env: { PATH: "/custom:/usr/bin:/bin" } });
  await bench.write(`${bench.userHome}/.profile`, "PATH=/usr/bin:/bin\nPATH=/mine:$PATH:/behind\n");
  assertEquals((await run(bench, "echo $PATH")).output, "/mine:/custom:/usr/bin:/bin:/behind");
  assertEquals((await run(bench, "echo $PATH")).output, "/mine:/custom:/usr/bin:/bin:/behind");
});

Deno.test("terminal masks secrets in what it shows", async () => {
  await using bench = await makeBench();
  assertEquals((await run(bench, `echo ${SECRET}`)).output, "***");
});

Deno.test("terminal explains exit codes that are no failures", async () => {
  await using bench = await makeBench();
  const none = await bench.call("terminal", { command: "echo a | grep b" });
  assertEquals(none.isError, false);
  assertMatch(JSON.parse(textOf(none.content)).exit_code_meaning, /No matches/);
  assertMatch((await run(bench, "no-such-command-x")).exit_code_meaning, /not found/);
  assertEquals((await run(bench, "true")).exit_code_meaning, undefined);
});

Deno.test("terminal workdir counts for one command; odd characters are refused", async () => {
  await using bench = await makeBench();
  await Deno.mkdir(`${bench.dir}/a b`);
  assertEquals((await run(bench, "pwd", { workdir: "a b" })).output, `${bench.dir}/a b`);
  assertEquals((await run(bench, "pwd")).output, bench.dir);
  assertEquals((await run(bench, "pwd", { workdir: "$(id)" })).status, "blocked");
});

Deno.test("terminal falls back to the nearest directory when its own has vanished", async () => {
  await using bench = await makeBench();
  await run(bench, "mkdir -p a/b && cd a/b");
  await Deno.remove(`${bench.dir}/a`, { recursive: true });
  const result = await run(bench, "pwd");
  assertEquals(result.output, bench.dir);
  assertMatch(result.hint, /no longer exists/);
});

Deno.test("terminal refuses a foreground timeout over the limit and a missing command", async () => {
  await using bench = await makeBench();
  assertMatch((await run(bench, "true", { timeout: 601 })).error, /background=true/);
  assertMatch((await run(bench, "true", { timeout: 0 })).error, /at least 1/);
  assertMatch((await bench.json("terminal", {})).error, /'command'/);
});

Deno.test("terminal runs a command that is longer than a command line may be", async () => {
  await using bench = await makeBench();
  const long = `cat <<'X' | wc -c\n${"y".repeat(300_000)}\nX\nexport L=1`;
  assertEquals((await run(bench, long)).output, "300001");
  assertEquals((await run(bench, "echo $L")).output, "1");
});

Deno.test("terminal shows output while a command runs", async () => {
  await using bench = await makeBench();
  const running = run(bench, "echo early; while [ ! -e go ]; do sleep 0.05; done; echo late");
  await eventually(() => bench.progress.some((text) => text.includes("early")), 3_000);
  await bench.write("go", "");
  assertEquals((await running).output, "early\nlate");
});

Deno.test("terminal sessions do not share their environment", async () => {
  await using bench = await makeBench();
  await run(bench, "export A=1; cd /");
  const other = await bench.json("terminal", { command: "echo [$A]; pwd" }, { session: "s2" });
  assertEquals(other.output, `[]\n${bench.dir}`);
});

Deno.test("core B.3: a shortage at the start is waited out 2, 4 and 8 s, then told; a missing bash is told at once", async () => {
  const real = createDenoPlatform();
  const shortage = (code: string, failures: number) => {
    const waits: number[] = [];
    let tries = 0;
    return {
      waits,
      platform: {
        clock: { ...real.clock, delay: (ms: number) => Promise.resolve(void waits.push(ms)) },
        spawn: (...args: Parameters<typeof real.spawn>) => {
          if (++tries > failures) return real.spawn(...args);
          throw Object.assign(new Error(`spawn bash ${code}`), { code });
        },
      },
    };
  };
  const twice = shortage("EAGAIN", 2);
  await using bench = await makeBench({ platform: twice.platform });
  const result = await bench.json("terminal", { command: "echo here" });
  assertEquals([result.output, result.exit_code, twice.waits], ["here", 0, [2_000, 4_000]]);

  const always = shortage("EMFILE", Infinity);
  await using stuck = await makeBench({ platform: always.platform });
  const refused = await stuck.json("terminal", { command: "echo here" });
  assertEquals([refused.status, refused.exit_code, always.waits], ["blocked", -1, [2_000, 4_000, 8_000]]);
  assertMatch(refused.error, /Cannot start the command: spawn bash EMFILE/);

  const absent = shortage("ENOENT", Infinity);
  await using bare = await makeBench({ platform: absent.platform });
  assertMatch((await bare.json("terminal", { command: "x" })).error, /bash was not found on PATH/);
  assertEquals(absent.waits, []);
});
