/**
 * `hermes doctor --acp`: what an editor would meet. Looks at the installation, then starts this very program as an
 * editor does, in another directory than this one, and reads its first line.
 */
import { within } from "@/lib/abort.ts";
import type { Hermes } from "@/app/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import { checkInstallation } from "@/protocols/acp/self_check.ts";
import { selfCommand } from "./demo/server_process.ts";
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
  return [...installation, ...await checkHandshake(hermes.platform), commandFinding(hermes.platform)];
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

async function checkHandshake(platform: Platform): Promise<Finding[]> {
  const start = platform.clock.monotonic();
  const { line, errors } = await firstLine(platform);
  const ms = Math.round(platform.clock.monotonic() - start);
  const answer = parse(line);
  const version = answer?.result?.agentInfo?.version;
  if (version === undefined) {
    const said = line || errors.trim().split("\n")[0] || "nothing";
    return [{
      check: "acp start",
      status: "fail",
      message: `hermes acp did not answer as an agent; it said: ${said.slice(0, 200)}`,
      advice: "what comes before the first answer is often printed by a wrapper or a shell profile",
    }];
  }
  const ways = (answer?.result?.authMethods ?? []).map((method) => method.id ?? "?").join(", ");
  return [
    { check: "acp start", status: "ok", message: `version ${version} answered after ${ms} ms` },
    { check: "acp sign-in", status: "info", message: `an editor may sign in by: ${ways}` },
  ];
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

/** Starts the program, sends `initialize`, and ends it again; both outputs are cut to what can be shown. */
async function firstLine(platform: Platform): Promise<{ line: string; errors: string }> {
  const [command, ...prefix] = selfCommand(platform);
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  const decoder = new TextDecoder();
  let output = "";
  let errors = "";
  const child = platform.spawn(command!, [...prefix, "acp"], {
    cwd: platform.tempDir(),
    env: platform.env(),
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
