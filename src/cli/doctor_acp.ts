/**
 * `hermes doctor --acp`: what an editor would meet. Looks at the installation, then starts this very program as an
 * editor does and reads its first line: once with the environment of this shell, once with the little that a desktop
 * gives to the programs it starts.
 */
import { within } from "@/lib/abort.ts";
import type { Hermes } from "@/app/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import { checkInstallation } from "@/protocols/acp/self_check.ts";
import { selfCommand } from "@/lib/self_command.ts";
import type { Finding } from "./doctor.ts";
import { sourceEntry } from "./terminal.ts";

/** The registry's own limit for the first answer is five seconds. */
const ANSWER_MS = 5_000;
const MAX_OUTPUT = 64 * 1024;

const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: 1, clientInfo: { name: "hermes-doctor", version: "1" } },
});

export async function checkAcp(hermes: Hermes): Promise<readonly Finding[]> {
  const problems = checkInstallation(hermes);
  const installation: Finding[] = problems.length === 0
    ? [{ check: "acp", status: "ok", message: "the installation is complete (hermes acp --check)" }]
    : problems.map((message) => ({ check: "acp", status: "fail", message }));
  const { platform } = hermes;
  const here = await start(platform, { cwd: platform.tempDir(), env: platform.env() });
  const found = [...installation, ...shellFindings(here)];
  // Windows gives its programs one environment, wherever they are started.
  if (here.answer && platform.os !== "windows") found.push(...await checkDesktop(platform, here.answer));
  return [...found, commandFinding(platform)];
}

/** What to write into the editor's settings. */
function commandFinding(platform: Platform): Finding {
  const isSource = sourceEntry(platform) !== null;
  return {
    check: "acp command",
    status: "info",
    message: isSource ? "runs from source; build the program for an editor" : `${platform.execPath()} acp`,
    advice: "a desktop's editor has a shorter PATH than a terminal: give it the full path",
  };
}

function shellFindings({ answer, ms, said }: Started): Finding[] {
  if (!answer) {
    return [{
      check: "acp start",
      status: "fail",
      message: `hermes acp did not answer as an agent; it said: ${said.slice(0, 200)}`,
      advice: "what comes before the first answer is often printed by a wrapper or a shell profile",
    }];
  }
  const ways = methodsOf(answer).join(", ");
  return [
    { check: "acp start", status: "ok", message: `version ${versionOf(answer)} answered after ${ms} ms` },
    { check: "acp sign-in", status: "info", message: `an editor may sign in by: ${ways}` },
  ];
}

const DESKTOP_PATH = "/usr/local/bin:/usr/bin:/bin";
const DESKTOP_NAMES = ["HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "XDG_RUNTIME_DIR"];
/** Ways to sign in that need no provider. */
const NO_PROVIDER = ["hermes-setup", "hermes-credentials", "builtin-demo"];

/** The variables a desktop's launcher passes on; the data home is kept, so that no second one is made. */
function desktopEnvironment(platform: Platform): Record<string, string> {
  const own = platform.env();
  const names = [...DESKTOP_NAMES, "HERMES_HOME", ...(sourceEntry(platform) ? ["DENO_DIR"] : [])];
  const kept = names.flatMap((name) => own[name] === undefined ? [] : [[name, own[name]] as const]);
  return { ...Object.fromEntries(kept), PATH: DESKTOP_PATH };
}

/** The same start as from a desktop's menu: what is set in this shell alone is missing there. */
async function checkDesktop(platform: Platform, here: Answer): Promise<Finding[]> {
  const env = desktopEnvironment(platform);
  const { answer, said } = await start(platform, { cwd: "/", env });
  const check = "acp desktop";
  if (!answer) {
    return [{ check, status: "warn", message: `started as by a desktop it said: ${said.slice(0, 200)}` }];
  }
  const provider = methodsOf(here).find((id) => !NO_PROVIDER.includes(id));
  const findings: Finding[] = provider === undefined || methodsOf(answer).includes(provider)
    ? [{ check, status: "ok", message: "started as by a desktop it finds the same provider" }]
    : [{
      check,
      status: "warn",
      message: `started as by a desktop it does not find ${provider}: its key is set in this shell only`,
      advice: "put the key into the .env of the data home, or into the editor's env block",
    }];
  if (env.HERMES_HOME === undefined) return findings;
  const message = `this shell sets HERMES_HOME=${env.HERMES_HOME}`;
  return [...findings, {
    check: "acp home",
    status: "info",
    message,
    advice: "set it in the editor's env block too",
  }];
}

interface Answer {
  readonly result?: {
    readonly agentInfo?: { readonly version?: string };
    readonly authMethods?: readonly { readonly id?: string }[];
  };
}

function parse(line: string): Answer | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : null;
  } catch {
    return null; // Not a frame: reported as it is.
  }
}

function versionOf(answer: Answer): string | undefined {
  return answer.result?.agentInfo?.version;
}

function methodsOf(answer: Answer): string[] {
  return (answer.result?.authMethods ?? []).map((method) => method.id ?? "?");
}

interface Place {
  readonly cwd: string;
  readonly env: Record<string, string>;
}

interface Started {
  /** `null` when it was not that of an agent. */
  readonly answer: Answer | null;
  readonly ms: number;
  /** What came instead of an answer. */
  readonly said: string;
}

async function start(platform: Platform, place: Place): Promise<Started> {
  const began = platform.clock.monotonic();
  const { line, errors } = await firstLine(platform, place);
  const ms = Math.round(platform.clock.monotonic() - began);
  const answer = parse(line);
  const isAgent = answer !== null && versionOf(answer) !== undefined;
  return { answer: isAgent ? answer : null, ms, said: line || errors.trim().split("\n")[0] || "nothing" };
}

/** Starts the program, sends `initialize`, and ends it again; both outputs are cut to what can be shown. */
async function firstLine(platform: Platform, place: Place): Promise<{ line: string; errors: string }> {
  const [command, ...prefix] = selfCommand(platform.execPath());
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  const decoder = new TextDecoder();
  let output = "";
  let errors = "";
  const child = platform.spawn(command!, [...prefix, "acp"], {
    ...place,
    stdin: "pipe",
    onStdout: (chunk) => {
      if (output.length < MAX_OUTPUT) output += decoder.decode(chunk, { stream: true });
      if (output.includes("\n")) resolve();
    },
    onStderr: (chunk) => {
      if (errors.length < MAX_OUTPUT) errors += new TextDecoder().decode(chunk);
    },
  });
  try {
    await child.write(new TextEncoder().encode(INITIALIZE + "\n")).catch(() => {/* it ended at once */});
    await within(Promise.race([answered, child.exited]), ANSWER_MS);
  } finally {
    child.closeStdin();
    if (await within(child.exited, 2_000) === undefined) child.kill("SIGKILL");
  }
  return { line: output.split("\n")[0] ?? "", errors };
}
