/**
 * Clients that behave badly, all at once: some do not read, some read slowly, some never answer, answer twice or for
 * others, leave in the middle, come back in storms, or flood. One well-behaved session streams meanwhile; what its
 * tokens wait at most is told next to a quiet run, and its text must be whole. It has a model of its own, so that a
 * model that is busy with the storm is no wait of the program.
 */
import { makeRig } from "../../tests/support/program.ts";
import { startModelServer } from "../../tests/support/model_server.ts";
import type { Judge } from "./judge.ts";
import { tortureConfig } from "./model.ts";
import type { Random } from "./random.ts";
import type { Json } from "./stdio_program.ts";
import type { StormNews, StormOrder } from "./storm_clients.ts";
import { type WsClient, WsServer } from "./ws_server.ts";

const TOKENS = 300;
const GAP_MS = 8;
const BAD_CLIENTS = 12;

/** `say` is told the p99 of the gaps between tokens, quiet and under the storm. */
export async function tryStorms(judge: Judge, random: Random, say: (text: string) => void): Promise<number> {
  const paced = Array.from({ length: TOKENS }, (_, n) => [{ text: `t${n} ` }, { delay_ms: GAP_MS }]).flat();
  await using model = await startModelServer({
    respond: ({ body }) => ({
      steps: JSON.stringify(body.messages.at(-1)).includes("paced") ? paced : [{ text: "Fine." }],
    }),
  });
  const storm = await startStorm();
  await using rig = await makeRig({
    config: {
      ...tortureConfig(storm.model),
      providers: { witness: { base_url: model.url, api_key: "none", models: ["scripted"] } },
    },
  });
  {
    await using server = await new WsServer(rig, judge).ready();
    const witness = await server.connect();
    const params = { cwd: rig.workspace, model: "scripted", provider: "witness" };
    const opened = await witness.ask("open", "session.create", params);
    const session: string = opened?.result?.session_id;
    await witness.turn(session, "hello");
    const quiet = await measure(witness, session, "quiet", judge);
    await storm.begin({
      port: server.port,
      workspace: rig.workspace,
      clients: BAD_CLIENTS,
      seed: random.seed,
    });
    const busy = await measure(witness, session, "storm", judge);
    for (const finding of await storm.end()) judge.report(finding);
    const ratio = (busy / quiet).toFixed(2);
    say(
      `  p99 of a well-behaved session: ${quiet.toFixed(1)} ms quiet, ${
        busy.toFixed(1)
      } ms in the storm, ${ratio} ×`,
    );
    const end = await witness.turn(session, "hello again");
    if (end?.status !== "complete") judge.report(`the turn after the storm: ${JSON.stringify(end)}`);
    await witness.close();
  }
  judge.database(rig);
  await judge.processes(rig);
  return BAD_CLIENTS;
}

/** The p99 of the waits between deltas of one turn, of which the text must be whole. */
async function measure(witness: WsClient, session: string, name: string, judge: Judge): Promise<number> {
  const gaps: number[] = [];
  let text = "";
  let last = performance.now();
  witness.onFrame = ({ params }: Json) => {
    if (params?.type !== "message.delta" || params.session_id !== session) return;
    gaps.push(performance.now() - last);
    last = performance.now();
    text += params.payload.text;
  };
  const end = await witness.turn(session, `${name} paced`, 60_000);
  witness.onFrame = () => {};
  const whole = Array.from({ length: TOKENS }, (_, n) => `t${n} `).join("").trim();
  if (end?.status !== "complete") judge.report(`the witness's turn in the ${name}: ${JSON.stringify(end)}`);
  if (text.trim() !== whole) {
    judge.report(`the witness's text in the ${name} is not whole: ${text.slice(-200)}`);
  }
  return gaps.slice(1).sort((a, b) => a - b)[Math.floor(gaps.length * 0.99) - 1] ?? NaN;
}

interface Storm {
  /** Address of the model that serves the bad clients. */
  readonly model: string;
  /** Resolves when every bad client has begun. */
  begin(order: StormOrder): Promise<void>;
  /** Ends them; what a patient one among them found. */
  end(): Promise<readonly string[]>;
}

/** The bad clients and their model run on a thread of their own: their work is no wait of the good one. */
async function startStorm(): Promise<Storm> {
  const worker = new Worker(new URL("./storm_clients.ts", import.meta.url), { type: "module" });
  const [made, begun, ended] = [
    Promise.withResolvers<string>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<readonly string[]>(),
  ];
  worker.onmessage = ({ data }: MessageEvent<StormNews>) => {
    if ("model" in data) made.resolve(data.model);
    else if ("raging" in data) begun.resolve();
    else {
      worker.terminate();
      ended.resolve(data.findings);
    }
  };
  return {
    model: await made.promise,
    begin: (order) => {
      worker.postMessage(order);
      return begun.promise;
    },
    end: () => {
      worker.postMessage(null);
      return ended.promise;
    },
  };
}
