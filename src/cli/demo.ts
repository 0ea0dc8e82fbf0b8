/**
 * `hermes demo`: the three servers as real processes of this program, one turn with an edit and its approval
 * through each, then a session that goes on in another door. Exit 0 only if all of that happened.
 */
import { VERSION } from "@/app/version.ts";
import type { Platform } from "@/platform/mod.ts";
import { parseCommandLine, UsageError } from "./args.ts";
import { runAcpDoor } from "./demo/acp_door.ts";
import { runApiDoor } from "./demo/api_door.ts";
import type { DoorReport } from "./demo/door.ts";
import { resumeInGateway, runGatewayDoor } from "./demo/gateway_door.ts";
import { Scene } from "./demo/scene.ts";
import type { ServerProcess } from "./demo/server_process.ts";
import { GREETING_FILE, openStage, type Stage } from "./demo/stage.ts";
import { EXIT } from "./exit_codes.ts";
import { DEMO_COMMAND } from "./specs.ts";
import { sourceEntry, type Terminal, withTerminal } from "./terminal.ts";
import { table, wrap, wrapIndented } from "./text_layout.ts";

export function run(args: readonly string[], platform: Platform): Promise<number> {
  const parsed = parseCommandLine(DEMO_COMMAND, args);
  if (parsed.positionals.length > 0) throw new UsageError("demo takes options only");
  return withTerminal(platform, async (terminal) => {
    const stage = await openStage(platform);
    const servers: ServerProcess[] = [];
    let interrupted = false;
    const stopListening = terminal.onInterrupt(() => {
      interrupted = true;
      for (const server of servers) server.kill();
    });
    try {
      intro(terminal, sourceEntry(platform) !== null);
      const reports = await playAll(stage, terminal, (server) => servers.push(server));
      outro(stage, terminal, reports);
      return EXIT.done;
    } catch (error) {
      if (interrupted) return EXIT.interrupted;
      tellFailure(terminal, error, servers);
      return EXIT.failed;
    } finally {
      stopListening();
      for (const server of servers) server.kill();
      await cleanUp(stage, terminal, parsed.has("keep"));
    }
  });
}

interface Played {
  readonly doors: readonly DoorReport[];
  readonly resumedMs: number;
}

async function playAll(
  stage: Stage,
  terminal: Terminal,
  track: (server: ServerProcess) => void,
): Promise<Played> {
  const acpScene = new Scene(terminal);
  acpScene.title(1, "hermes acp", "what your editor speaks");
  const acp = await runAcpDoor(stage, acpScene, track);

  const gatewayScene = new Scene(terminal);
  gatewayScene.title(2, "hermes gateway", "for interfaces of your own");
  const { report, client } = await runGatewayDoor(stage, gatewayScene, track);

  const apiScene = new Scene(terminal);
  apiScene.title(3, "hermes serve", "what OpenAI clients speak");
  const api = await runApiDoor(stage, apiScene, track);

  gatewayScene.title(4, "one core", "the editor's session goes on in the gateway");
  const resumed = await resumeInGateway(
    client,
    acp.sessionId,
    GREETING_FILE,
    "Bonjour, world!",
    gatewayScene,
  );
  return { doors: [acp, { ...report, exit: resumed.exit }, api], resumedMs: resumed.ms };
}

function paragraphs(terminal: Terminal, text: string): void {
  for (const line of wrap(text, Math.min(terminal.columns, 80) - 2)) terminal.line(` ${line}`);
}

function intro(terminal: Terminal, fromSource: boolean): void {
  const { paint } = terminal;
  terminal.line();
  terminal.line(` ${paint.bold(paint.cyan("hermes"))} ${VERSION}  ${paint.bold("one agent, three doors")}`);
  terminal.line();
  paragraphs(
    terminal,
    "All of this is real: three servers of this program, started as processes in a throw-away folder, and what " +
      "they send. Only the model is a built-in demo, a few rules that answer plain requests: no key, no network.",
  );
  terminal.line();
  if (fromSource) {
    paragraphs(
      terminal,
      "Started from source: at the first time every server also compiles itself.",
    );
    terminal.line();
  }
  terminal.line(paint.dim(" left: the conversation    right: milliseconds since its start, and the frames"));
}

function outro(stage: Stage, terminal: Terminal, played: Played): void {
  const { paint } = terminal;
  const ms = (value: number) => `${Math.round(value)} ms`;
  const width = Math.min(terminal.columns, 80);
  const rows = [
    ["door", "first answer", "turn with approval", "frames", "exit"],
    ...played.doors.map((door) => [
      door.command,
      ms(door.firstAnswerMs),
      ms(door.turnMs),
      String(door.frames),
      door.exit,
    ]),
  ];
  terminal.line();
  // The last column is what a narrow screen has no room for.
  const shown = width < 72 ? rows.map((row) => row.slice(0, -1)) : rows;
  table(shown, width - 2, 3).forEach((line, i) => terminal.line(` ${i === 0 ? paint.bold(line) : line}`));
  terminal.line();
  const seconds = (stage.elapsed() / 1000).toFixed(1);
  const done = `three turns, three approvals, one session in two doors, in ${seconds} s`;
  terminal.line(wrapIndented(` ${paint.green("✓")} ${done}`, width, 2));
  terminal.line();
  terminal.line(` ${paint.bold("Try next")}`);
  const next: readonly (readonly [string, string])[] = [
    ["hermes chat --demo", "talk to the demo model yourself"],
    ["hermes setup", "choose a real model: a provider's key or a local server"],
    ["hermes acp --help", "let your editor start it: command hermes, argument acp"],
    ["hermes serve --demo", "open its console in a browser, or point any OpenAI client at it"],
  ];
  for (const [command, meaning] of next) {
    terminal.line(wrapIndented(`   ${paint.cyan(command.padEnd(20))} ${meaning}`, width, 21));
  }
  if (sourceEntry(stage.platform) !== null) {
    const task = "`deno task hermes` or `npx -y deno@2.8.3 task hermes`";
    terminal.line(wrapIndented(`   From source, ${task} is \`hermes\`.`, width));
  }
}

function tellFailure(terminal: Terminal, error: unknown, servers: readonly ServerProcess[]): void {
  const message = error instanceof Error ? error.message : String(error);
  terminal.line();
  terminal.line(` ${terminal.paint.red("✗")} the demo stopped: ${message}`);
  const log = servers.at(-1)?.stderrTail() ?? [];
  for (const line of log) terminal.note(`   ${line}`);
}

async function cleanUp(stage: Stage, terminal: Terminal, keep: boolean): Promise<void> {
  if (keep) {
    terminal.line();
    terminal.line(` kept: ${stage.base}`);
    return;
  }
  try {
    await stage.remove();
  } catch {
    terminal.note(`hermes: ${stage.base} could not be removed`);
  }
}
