/**
 * A home on a disk of its own, a small one in memory, that gets full, has room again, and is made read-only. Only who
 * may mount can try this; everybody else is told that it was left out.
 */
import type { Rig } from "../../tests/support/program.ts";
import { runProgram } from "../../tests/support/program.ts";
import { type Judge, storedPrompts } from "./judge.ts";
import { StdioProgram } from "./stdio_program.ts";
import { turnOn } from "./turns.ts";

interface Disk {
  readonly rig: Rig;
  readonly judge: Judge;
  say(text: string): void;
}

const DISK_MIB = 6;
/** Turns in which the disk must have become full. */
const TURNS = 12;

export async function mount(...args: string[]): Promise<boolean> {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return false;
  const [command, ...rest] = args as [string, ...string[]];
  return await new Deno.Command(command, { args: rest, stderr: "null" }).output().then(
    ({ success }) => success,
    () => false,
  );
}

/** Runs `trial` with the home on a disk of its own; the config is on it. */
export async function onOwnDisk(
  { rig, say }: Omit<Disk, "judge">,
  name: string,
  trial: () => Promise<void>,
): Promise<void> {
  const config = await Deno.readTextFile(`${rig.home}/config.jsonc`);
  if (!(await mount("mount", "-t", "tmpfs", "-o", `size=${DISK_MIB}m,mode=700`, "tmpfs", rig.home))) {
    return say(`  ${name}: left out, this user may not mount a disk`);
  }
  try {
    await Deno.writeTextFile(`${rig.home}/config.jsonc`, config);
    await trial();
  } finally {
    await mount("umount", "-l", rig.home);
  }
}

async function openSession(program: StdioProgram, rig: Rig): Promise<string> {
  const frame = await program.ask("new", "session.create", { cwd: rig.workspace }, 30_000);
  return frame?.result?.session_id;
}

/**
 * While the disk is full turns end in a bounded time, fail or say that saving is delayed; with room again, in the same
 * process, whatever was answered is stored, once.
 */
export async function fullOwnDisk(disk: Disk): Promise<void> {
  const { rig, judge } = disk;
  await onOwnDisk(disk, "full disk", async () => {
    const program = new StdioProgram(["gateway"], rig, judge, { knowsDamage: true });
    const session = await openSession(program, rig);
    await turnOn(program, session, "before hello");
    const filler = `${rig.home}/filler`;
    await fillDisk(filler);
    const answered = ["before hello", "after hello"];
    for (let n = 0; n < TURNS; n++) {
      const text = `${"full ".repeat(1_500)}${n} hello`;
      const status = await turnOn(program, session, text, 60_000);
      if (status === "late") judge.report("a turn on a full disk does not end");
      if (status === "complete") answered.push(text);
    }
    const ends = program.frames.filter(({ params }) => params?.type === "message.complete").slice(1);
    const silent = ends.filter(({ params: { payload } }) =>
      payload.status === "complete" && !payload.warning
    );
    if (silent.length > 0) judge.report(`${silent.length} turns on a full disk end without a word about it`);
    await Deno.remove(filler);
    const status = await turnOn(program, session, "after hello");
    if (status !== "complete") judge.report(`with room again the turn is ${status}`);
    await program.end(20_000);
    const prompts = storedPrompts(rig);
    for (const text of answered) {
      const count = prompts.filter((prompt) => prompt.includes(text)).length;
      if (count !== 1) judge.report(`an answered prompt is stored ${count} times: ${text.slice(-20)}`);
    }
    judge.database(rig);
  });
}

/** Takes all the room that is left. */
export async function fillDisk(path: string): Promise<void> {
  using file = await Deno.open(path, { write: true, create: true });
  try {
    for (const size of [65_536, 1_024]) {
      const block = new Uint8Array(size);
      for (let n = 0; n < DISK_MIB * 1_024; n++) {
        const written = await file.write(block).catch(() => 0);
        if (written < size) break;
      }
    }
  } catch {
    // Full is what it is to be.
  }
}

/** A home that turns read-only under a running program, and one that was so from the start. */
export async function readOnlyDisk(disk: Disk): Promise<void> {
  const { rig, judge } = disk;
  await onOwnDisk(disk, "read-only home", async () => {
    const program = new StdioProgram(["gateway"], rig, judge, { knowsDamage: true });
    const session = await openSession(program, rig);
    await turnOn(program, session, "before hello");
    await program.end();
    if (!(await mount("mount", "-o", "remount,ro", rig.home))) {
      return judge.report("cannot be made read-only");
    }
    const reader = new StdioProgram(["gateway"], rig, judge, { knowsDamage: true });
    const live = await openSession(reader, rig);
    const status = live === undefined ? "no session" : await turnOn(reader, live, "read-only hello", 60_000);
    if (status === "late") judge.report("a turn in a read-only home does not end");
    await reader.end(20_000);
    const { code, stdout, stderr } = await runProgram(["run", "hello"], { rig, timeoutMs: 30_000 });
    judge.text("stderr", stderr.replaceAll(/SQLITE_\w+/g, ""));
    if (code === 0 && stdout.trim() === "") judge.report("an empty answer with code 0");
    if (code !== 0 && stderr.trim() === "") judge.report(`code ${code} without a word`);
    await mount("mount", "-o", "remount,rw", rig.home);
    const after = new StdioProgram(["gateway"], rig, judge);
    const last = await turnOn(after, await openSession(after, rig), "after hello");
    if (last !== "complete") judge.report(`in a home that can be written again the turn is ${last}`);
    await after.end();
    judge.database(rig);
  });
}
