/**
 * SIGKILL aimed at the writes that must be whole or not at all: a compression, a rewind, an approval that is being
 * asked or answered, the journal of a run. After each: the store is sound, no message is lost or there twice where it
 * must not, and the session takes a further turn that a strict model accepts.
 */
import { patient } from "../../tests/support/patience.ts";
import { startApi } from "../../tests/support/api_driver.ts";
import { makeRig, type Rig } from "../../tests/support/program.ts";
import { type Judge, openDatabase } from "./judge.ts";
import { startTortureModel, tortureConfig } from "./model.ts";
import type { Random } from "./random.ts";
import { type Json, StdioProgram } from "./stdio_program.ts";
import { turnOn } from "./turns.ts";

const PROMPTS = 4;
const LONGEST_MS = 60;

interface Scene {
  readonly rig: Rig;
  readonly judge: Judge;
  readonly random: Random;
}

export async function tryAimedKills(kills: number, judge: Judge, random: Random): Promise<number> {
  await using model = await startTortureModel(judge);
  await using rig = await makeRig({ config: tortureConfig(model.url) });
  const scene: Scene = { rig, judge, random };
  const aims = [compression, rewind, approval, journal];
  for (let n = 0; n < kills; n++) {
    await aims[n % aims.length]!(n, scene);
    judge.database(rig);
  }
  await judge.processes(rig);
  return kills;
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A program with a session of some turns; the ids of the session here and in the store. */
async function withTurns(n: number, { rig, judge }: Scene) {
  const program = new StdioProgram(["gateway"], rig, judge);
  const opened = await program.ask("new", "session.create", { cwd: rig.workspace });
  const { session_id: live, stored_session_id: stored } = opened?.result ?? {};
  for (let i = 0; i < PROMPTS; i++) await turnOn(program, live, prompt(n, i));
  return { program, live: live as string, stored: stored as string };
}

function prompt(n: number, i: number): string {
  return `prompt-${n}-${i} hello`;
}

/** Starts a request and kills the program some moment after it. */
async function askAndKill(
  program: StdioProgram,
  method: string,
  params: unknown,
  random: Random,
): Promise<void> {
  await program.write(`${JSON.stringify({ jsonrpc: "2.0", id: "last", method, params })}\n`);
  await sleep(random.below(LONGEST_MS));
  await program.kill();
}

/** Opens the stored session again and gives what a front end would show of the user. */
async function reopened(what: string, stored: string, { rig, judge }: Scene): Promise<string[]> {
  const program = new StdioProgram(["gateway"], rig, judge);
  const opened = await program.ask("load", "session.resume", { session_id: stored });
  const live = opened?.result?.session_id;
  if (live === undefined) {
    judge.report(`${what}: cannot be opened again: ${JSON.stringify(opened)}`);
    await program.end();
    return [];
  }
  const shown: string[] = (opened.result.messages ?? []).flatMap((message: Json) =>
    message.role === "user" ? [String(message.text ?? message.content)] : []
  );
  const status = await turnOn(program, live, "after the kill: hello");
  if (status !== "complete") judge.report(`${what}: the turn after it is ${status}`);
  await program.end();
  return shown;
}

async function compression(n: number, scene: Scene): Promise<void> {
  const { program, live, stored } = await withTurns(n, scene);
  await askAndKill(program, "session.compress", { session_id: live }, scene.random);
  const db = openDatabase(scene.rig);
  const texts = db?.prepare("SELECT content FROM messages WHERE role = 'user'").all() ?? [];
  db?.close();
  for (let i = 0; i < PROMPTS; i++) {
    if (!texts.some((row) => String(row["content"]).includes(prompt(n, i)))) {
      scene.judge.report(`kill in a compression: "${prompt(n, i)}" is lost`);
    }
  }
  await reopened("kill in a compression", stored, scene);
}

async function rewind(n: number, scene: Scene): Promise<void> {
  const { program, live, stored } = await withTurns(n, scene);
  const params = {
    session_id: live,
    text: `prompt-${n}-again hello`,
    truncate_before_user_ordinal: 2,
    confirm_truncate: true,
  };
  await askAndKill(program, "prompt.submit", params, scene.random);
  const shown = (await reopened("kill in a rewind", stored, scene)).map((text) => text.split(" ")[0]);
  const mark = (i: number | string) => `prompt-${n}-${i}`;
  const [whole, cut] = [[0, 1, 2, 3].map(mark), [0, 1].map(mark)];
  const fits = [whole, cut, [...cut, mark("again")]].some((known) => known.join() === shown.join());
  if (!fits && shown.length > 0) {
    scene.judge.report(`kill in a rewind: neither before nor after it: ${shown.join()}`);
  }
}

/** Killed while a question is open, or right behind its answer. */
async function approval(n: number, scene: Scene): Promise<void> {
  const { program, live, stored } = await withTurns(n, scene);
  const asked = Promise.withResolvers<Json>();
  program.onFrame = ({ params }: Json) => {
    if (params?.type === "approval.request") asked.resolve(params.payload);
  };
  const text = `prompt-${n}-risky work`;
  await program.ask("risky", "prompt.submit", { session_id: live, text });
  const timer = setTimeout(() => asked.resolve(null), patient(10_000));
  const question = await asked.promise;
  clearTimeout(timer);
  if (question === null) scene.judge.report("no question came for a risky command");
  if (question !== null && scene.random.chance(0.6)) {
    const params = {
      session_id: live,
      request_id: question.request_id,
      choice: scene.random.pick(["once", "deny"]),
    };
    await askAndKill(program, "approval.respond", params, scene.random);
  } else await program.kill();
  await reopened("kill in an approval", stored, scene);
}

async function journal(n: number, { rig, judge, random }: Scene): Promise<void> {
  const config = JSON.parse(await Deno.readTextFile(`${rig.home}/config.jsonc`));
  const first = await startApi({ rig, config });
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) {
    const response = await first.call("/v1/runs", {
      body: { input: `prompt-${n}-${i} ${i === 0 ? "work" : "hello"}` },
    });
    ids.push((await response.json()).run_id);
  }
  await sleep(random.below(4 * LONGEST_MS));
  await first.stop("SIGKILL");
  const second = await startApi({ rig, config });
  for (const id of ids) {
    const run = await (await second.call(`/v1/runs/${id}`)).json();
    if (!["completed", "failed", "cancelled", "interrupted"].includes(run.status)) {
      judge.report(`kill in a run's journal: the run is ${JSON.stringify(run).slice(0, 300)}`);
    }
    const events = await (await second.call(`/v1/runs/${id}/events`)).text();
    const ends = events.match(
      /event: run\.(?:completed|failed|cancelled|interrupted)|"event": ?"run\.(?:completed|failed|cancelled|interrupted)"/g,
    );
    if ((ends?.length ?? 0) === 0) {
      judge.report(`kill in a run's journal: its events have no end: ${events.slice(-300)}`);
    }
  }
  const status = await second.stop();
  if (status.code !== 0) {
    judge.report(`ended with ${status.signal ?? status.code}: ${second.stderr().slice(-600)}`);
  }
}
