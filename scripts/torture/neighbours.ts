/**
 * A home that others use too, on a disk that fails: the database locked by another program, a config rewritten under
 * the program's hands, a full disk, a home that cannot be written, a damaged page, four programs at once. Each turn
 * ends in a bounded time as what it is, and afterwards the store is sound.
 */
import { DatabaseSync } from "node:sqlite";
import { makeRig, programCommand, type Rig, runProgram } from "../../tests/support/program.ts";
import { damagedForAll, fullForAll, lockedForAll, readOnlyForAll } from "./broken_homes.ts";
import { fullOwnDisk, readOnlyDisk } from "./disks.ts";
import { fourDoors, PROMPTS } from "./four_doors.ts";
import { type Judge, storedPrompts } from "./judge.ts";
import { startTortureModel, tortureConfig } from "./model.ts";
import { StdioProgram } from "./stdio_program.ts";
import { turnOn } from "./turns.ts";

interface Scene {
  readonly rig: Rig;
  readonly judge: Judge;
  readonly lockMs: number;
  say(text: string): void;
}

const TRIALS: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  "locked database": lockedDatabase,
  "config of another program": foreignConfig,
  "full disk": fullDisk,
  "full disk of its own": fullOwnDisk,
  "home that cannot be written": readOnlyHome,
  "home on a read-only disk": readOnlyDisk,
  "damaged page": damagedPage,
  "four programs": fourPrograms,
  "locked database under all doors": lockedForAll,
  "full disk under all doors": fullForAll,
  "read-only disk under all doors": readOnlyForAll,
  "damaged pages under all doors": damagedForAll,
};

/** `lockMs`: how long another program holds the write lock. `say` is told what could not be tried here. */
export async function tryNeighbours(
  judge: Judge,
  lockMs: number,
  say: (text: string) => void,
): Promise<number> {
  for (const [name, trial] of Object.entries(TRIALS)) {
    await using model = await startTortureModel(judge);
    await using rig = await makeRig({ config: tortureConfig(model.url) });
    const before = judge.findings.length;
    try {
      await trial({ rig, judge, lockMs, say });
    } catch (error) {
      judge.report(`${name}: ${error}`);
    }
    if (!name.startsWith("damaged")) judge.database(rig);
    await judge.processes(rig);
    for (const finding of judge.findings.slice(before)) {
      Object.assign(finding, { what: `${name}: ${finding.what}` });
    }
  }
  return Object.keys(TRIALS).length;
}

async function openSession(program: StdioProgram, rig: Rig): Promise<string> {
  const frame = await program.ask("new", "session.create", { cwd: rig.workspace });
  return frame?.result?.session_id;
}

/** FC-24: input is read all the while, the turns end, and all of them are stored once the lock is gone. */
async function lockedDatabase({ rig, judge, lockMs }: Scene): Promise<void> {
  const program = new StdioProgram(["gateway"], rig, judge);
  const session = await openSession(program, rig);
  await turnOn(program, session, "before hello");
  const db = new DatabaseSync(`${rig.home}/hermes.db`, { timeout: 10_000 });
  db.exec("PRAGMA busy_timeout=5000; BEGIN IMMEDIATE");
  const pause = new Promise((resolve) => setTimeout(resolve, lockMs));
  const turn = turnOn(program, session, "during hello", lockMs + 30_000);
  // The lock is held until this is answered.
  if (!(await program.ask("status", "session.status", { session_id: session }))) {
    judge.report("no answer while the database is locked: input waits for the database");
  }
  await pause;
  db.exec("ROLLBACK");
  db.close();
  const status = await turn;
  if (status !== "complete") judge.report(`the turn during a lock of ${lockMs} ms is ${status}`);
  if ((await turnOn(program, session, "after hello")) !== "complete") {
    judge.report("the turn after the lock fails");
  }
  await program.end();
  for (const text of ["before", "during", "after"]) {
    const count = storedPrompts(rig).filter((prompt) => prompt.startsWith(text)).length;
    if (count !== 1) {
      judge.report(`the prompt "${text}" is stored ${count} times after a lock of ${lockMs} ms`);
    }
  }
}

async function foreignConfig({ rig, judge }: Scene): Promise<void> {
  const path = `${rig.home}/config.jsonc`;
  const good = await Deno.readTextFile(path);
  const program = new StdioProgram(["gateway"], rig, judge);
  const session = await openSession(program, rig);
  const texts = [
    good.replace("{", '{ // by another program\n "verbose": 1,'),
    "{ broken",
    "[]",
    "\0\0",
    "",
    " \n",
    good,
  ];
  for (const [n, text] of texts.entries()) {
    const before = turnOn(program, session, `config${n} work`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await Deno.writeTextFile(path, text);
    const during = await before;
    const status = during === "complete" ? await turnOn(program, session, `config${n} hello`) : during;
    if (status !== "complete") {
      judge.report(`the turn with ${JSON.stringify(text.slice(0, 20))} is ${status}`);
    }
    if (
      text !== good && (await program.ask(`set${n}`, "config.set", { key: "busy", value: "queue" }))?.error
    ) {
      const kept = await Deno.readTextFile(path);
      if (kept !== text) judge.report(`a refused change has rewritten ${JSON.stringify(text)}`);
    }
  }
  await program.end();
}

/** A limit on the size of files stands for a disk that is full: the write fails, and the signal is ignored. */
async function fullDisk({ rig, judge }: Scene): Promise<void> {
  const first = new StdioProgram(["gateway"], rig, judge);
  await turnOn(first, await openSession(first, rig), "before hello");
  await first.end();
  const { size } = await Deno.stat(`${rig.home}/hermes.db`);
  const blocks = Math.ceil(size / 512) + 16;
  const limited = [
    "-c",
    `trap '' XFSZ; ulimit -f ${blocks}; exec "$@"`,
    "sh",
    ...programCommand(),
    "gateway",
  ];
  const program = StdioProgram.of("/bin/sh", limited, rig, judge);
  const session = await openSession(program, rig);
  let failed = 0;
  for (let n = 0; n < 12; n++) {
    const status = await turnOn(program, session, `${"full ".repeat(4_000)}${n} hello`, 90_000);
    if (status === "late") judge.report("a turn on a full disk does not end");
    if (status !== "complete") failed++;
  }
  await program.end(20_000);
  const after = new StdioProgram(["gateway"], rig, judge);
  const status = await turnOn(after, await openSession(after, rig), "after hello");
  if (status !== "complete") {
    judge.report(`with room again (${failed} turns had failed) the turn is ${status}`);
  }
  await after.end();
}

async function readOnlyHome({ rig, judge }: Scene): Promise<void> {
  // Nothing stops root from writing; a file where a folder should be does.
  const env = Deno.uid() === 0 ? { HERMES_HOME: "/dev/null/home" } : {};
  if (Deno.uid() !== 0) await Deno.chmod(rig.home, 0o500);
  const { code, stdout, stderr } = await runProgram(["run", "hello"], { rig, env, timeoutMs: 30_000 });
  if (Deno.uid() !== 0) await Deno.chmod(rig.home, 0o700);
  judge.text("stderr", stderr);
  if (code === 0 && stdout.trim() === "") judge.report("an empty answer with code 0");
  if (code !== 0 && stderr.trim() === "") judge.report(`code ${code} without a word`);
}

async function damagedPage({ rig, judge }: Scene): Promise<void> {
  const first = new StdioProgram(["gateway"], rig, judge);
  const session = await openSession(first, rig);
  for (let n = 0; n < 3; n++) await turnOn(first, session, `before${n} hello`);
  await first.end();
  const path = `${rig.home}/hermes.db`;
  for (const from of [4_096 * 3, 4_096 * 12, 100]) {
    const file = await Deno.open(path, { write: true });
    await file.seek(from, Deno.SeekMode.Start);
    await file.write(crypto.getRandomValues(new Uint8Array(2_048)));
    file.close();
    const program = new StdioProgram(["gateway"], rig, judge, { knowsDamage: true });
    const opened = await program.ask("new", "session.create", { cwd: rig.workspace }, 30_000);
    if (opened === null) judge.report(`no answer to session.create with bytes at ${from} damaged`);
    const live = opened?.result?.session_id;
    if (live !== undefined && (await turnOn(program, live, "damaged hello", 90_000)) === "late") {
      judge.report(`a turn does not end with bytes at ${from} damaged`);
    }
    if (!(await program.ask("list", "session.list", {}, 30_000))) judge.report("no answer to session.list");
    await program.end(20_000);
  }
}

async function fourPrograms({ rig, judge }: Scene): Promise<void> {
  await fourDoors(rig, judge);
  const prompts = storedPrompts(rig);
  if (prompts.length !== PROMPTS) judge.report(`${prompts.length} of ${PROMPTS} prompts are stored`);
}
