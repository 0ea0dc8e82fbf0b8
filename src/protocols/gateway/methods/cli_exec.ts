/**
 * `cli.exec` (tui-gateway.md B.15): runs this very program with the host's arguments and no stdin. What would wait for
 * a person or speak a protocol on its own stdout is not started.
 */
import * as z from "zod/mini";
import { selfCommand } from "@/lib/self_command.ts";
import { runChild } from "../child_run.ts";
import { RpcError } from "../errors.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, method, optional } from "./define.ts";

const DEFAULT_SECONDS = 240;
const MAX_SECONDS = 600;
const MAX_OUTPUT = 48_000;

/** By the first word that is no option; two words where only one use of a command is meant. */
const BLOCKED: Readonly<Record<string, string>> = {
  setup: "it asks questions: run `hermes setup` in a terminal",
  gateway: "it is this server",
  acp: "it speaks a protocol on its stdout",
  serve: "it is a server: start it beside this one",
  "sessions browse": "it needs a terminal: use session.list",
  "config edit": "it opens an editor: run it in a terminal",
};

export function cliMethods(gateway: Gateway): DefinedMethod[] {
  return [
    method({
      name: "cli.exec",
      kind: "worker",
      params: z.object({ argv: anything, timeout: optional(z.number()) }),
      failCode: 5017,
      handle: (params, { signal }) => execCli(gateway, readArgv(params.argv), params.timeout, signal),
    }),
  ];
}

function readArgv(value: unknown): string[] {
  if (Array.isArray(value) && value.every((word) => typeof word === "string")) return value;
  throw new RpcError(4003, "argv must be a list of strings");
}

function blockedHint(argv: readonly string[]): string | null {
  const words = argv.filter((word) => !word.startsWith("-"));
  const [first, second] = words;
  if (argv.length === 0) return 'argv is empty: say what to run, for example ["--version"]';
  if (first === undefined) return null;
  const reason = BLOCKED[first] ?? BLOCKED[`${first} ${second ?? ""}`];
  return reason === undefined ? null : `hermes ${first} is not run here: ${reason}`;
}

async function execCli(
  gateway: Gateway,
  argv: readonly string[],
  timeout: number | undefined,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const hint = blockedHint(argv);
  if (hint !== null) return { blocked: true, hint, code: -1, output: "" };
  const { hermes } = gateway;
  const { platform } = hermes;
  const seconds = Math.min(Math.max(timeout ?? DEFAULT_SECONDS, 1), MAX_SECONDS);
  const [program, ...prefix] = selfCommand(platform.execPath());
  const done = await runChild(platform, {
    program: program!,
    args: [...prefix, ...argv],
    cwd: platform.cwd(),
    env: { ...platform.env(), HERMES_HOME: hermes.home, NO_COLOR: "1" },
    timeoutMs: seconds * 1000,
    signal,
  }).catch((error) => {
    throw new RpcError(5017, `hermes could not be started: ${String(error)}`);
  });
  if (done.stopped === "timeout") {
    throw new RpcError(5016, `hermes took longer than ${seconds} s and was stopped`);
  }
  if (done.code === null) throw new RpcError(5017, "hermes was stopped");
  const output = hermes.redact(
    [done.stdout, done.stderr].filter((text) => text !== "").join("\n"),
    "terminal",
  );
  return { blocked: false, code: done.code, output: output.slice(-MAX_OUTPUT).trimEnd() || "(no output)" };
}
