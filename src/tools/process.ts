/** `process`: looks after the background processes of the session (core.md B.4). Other sessions' are unknown to it. */
import { within } from "@/lib/abort.ts";
import type { Tool, ToolContext, ToolOutcome } from "@/core/contract.ts";
import { type Args, cut, maybeString, readInteger, readText, ToolError } from "./args.ts";
import { process } from "./cards/work.ts";
import { type BackgroundProcess, processesOf, type ProcessTable } from "./process_table.ts";
import { dumpsEnvironment } from "./foreground_rules.ts";
import type { NoticeLimiter } from "./process_watch.ts";
import { fail, settle, succeed } from "./result.ts";

const PREVIEW_CHARS = 1_000;
const LOG_LINES = 200;
const MAX_LOG_CHARS = 90_000;
const ACTIONS = ["list", "poll", "log", "wait", "kill", "write", "submit", "close"] as const;
type Action = typeof ACTIONS[number];

/** One call that names a process. */
interface Call {
  readonly args: Args;
  readonly process: BackgroundProcess;
  readonly context: ToolContext;
  clean(text: string): string;
}

function infoOf({ process, clean }: Call): Record<string, unknown> {
  process.markSeen();
  return { ...process.info(), command: clean(process.command) };
}

function previewOf({ process, clean }: Call): string {
  return clean(process.output.text()).slice(-PREVIEW_CHARS);
}

function poll(call: Call): ToolOutcome {
  return succeed({ ...infoOf(call), output_preview: previewOf(call) });
}

function log(call: Call): ToolOutcome {
  const { args, process, clean } = call;
  const text = clean(process.output.text()).replace(/\n$/, "");
  const lines = text === "" ? [] : text.split("\n");
  const limit = readInteger(args, "limit", { or: LOG_LINES, min: 1, max: 100_000 });
  const fallback = Math.max(0, lines.length - limit);
  const offset = readInteger(args, "offset", { or: fallback, min: 0, max: Number.MAX_SAFE_INTEGER });
  let page = lines.slice(offset, offset + limit);
  let size = 0;
  const fits = page.findIndex((line) => (size += line.length + 1) > MAX_LOG_CHARS);
  if (fits > 0) page = page.slice(0, fits);
  return succeed({
    output: cut(page.join("\n"), MAX_LOG_CHARS),
    total_lines: lines.length,
    showing: page.length === 0
      ? `no lines (offset ${offset} of ${lines.length})`
      : `lines ${offset + 1}-${offset + page.length} of ${lines.length}`,
    ...(process.output.dropped > 0
      ? { hint: "Older output was dropped; only the last 200,000 characters are kept" }
      : {}),
  });
}

async function wait(call: Call): Promise<ToolOutcome> {
  const { args, process, context } = call;
  const most = Math.max(1, context.settings.terminal.timeout);
  const asked = readInteger(args, "timeout", { or: most, min: 1, max: Number.MAX_SAFE_INTEGER });
  const seconds = Math.min(asked, most);
  const aborted = Symbol();
  let onAbort = () => {};
  const interrupted = new Promise<typeof aborted>((resolve) => {
    onAbort = () => resolve(aborted);
    if (context.signal.aborted) onAbort();
    else context.signal.addEventListener("abort", onAbort, { once: true });
  });
  const ended = process.ended.then(() => "exited" as const);
  const first = await within(Promise.race([ended, interrupted]), seconds * 1_000);
  context.signal.removeEventListener("abort", onAbort);
  const status = first === "exited" ? "exited" : first === aborted ? "interrupted" : "timeout";
  const note = asked > most ? { timeout_note: `The wait was limited to ${most}s` } : {};
  return succeed({ ...infoOf(call), status, output_preview: previewOf(call), ...note });
}

async function kill(call: Call): Promise<ToolOutcome> {
  const { process } = call;
  if (!process.running) return succeed({ ...infoOf(call), status: "already_exited" });
  await process.kill("process.kill");
  if (process.running) return fail("The process did not end", { ...infoOf(call), status: "error" });
  return succeed({ session_id: process.id, status: "killed", exit_code: -15, command: infoOf(call).command });
}

async function send(call: Call, end: string): Promise<ToolOutcome> {
  const { args, process } = call;
  if (!process.running) throw new ToolError("The process has already exited");
  const data = new TextEncoder().encode((maybeString(args, "data") ?? "") + end);
  try {
    await process.child.write(data);
  } catch (error) {
    throw new ToolError(`Cannot write to the process: ${error instanceof Error ? error.message : error}`);
  }
  return succeed({ session_id: process.id, status: "ok", bytes_written: data.length });
}

function close(call: Call): ToolOutcome {
  if (!call.process.running) throw new ToolError("The process has already exited");
  call.process.child.closeStdin();
  return succeed({ session_id: call.process.id, status: "ok", bytes_written: 0 });
}

const HANDLERS: Readonly<
  Record<Exclude<Action, "list">, (call: Call) => ToolOutcome | Promise<ToolOutcome>>
> = {
  poll,
  log,
  wait,
  kill,
  write: (call) => send(call, ""),
  submit: (call) => send(call, "\n"),
  close,
};

function list(table: ProcessTable, context: ToolContext): ToolOutcome {
  const processes = table.list().map((process) => ({
    ...process.info(),
    command: context.redact(process.command, "terminal"),
  }));
  return succeed({ processes: [...processes, ...table.lost()] });
}

async function run(args: Args, context: ToolContext, limiter: NoticeLimiter): Promise<ToolOutcome> {
  const written = readText(args, "action");
  const action = ACTIONS.find((one) => one === written);
  if (!action) {
    throw new ToolError(`Argument 'action' must be one of ${ACTIONS.join(", ")}, got '${written}'`);
  }
  const table = processesOf(context.scope, context.platform, limiter);
  await table.recover(context.home);
  if (action === "list") return list(table, context);
  const id = readText(args, "session_id");
  const process = table.get(id);
  const lost = table.lost().find((one) => one.session_id === id);
  if (lost) return fail("The process was lost when the program that had started it ended", { ...lost });
  if (!process) return fail(`No process '${id}' in this session. Use action=list`, { status: "not_found" });
  const mode = dumpsEnvironment(process.command) ? "full" : "terminal";
  return await HANDLERS[action]({ args, process, context, clean: (text) => context.redact(text, mode) });
}

export function createProcess(limiter: NoticeLimiter): Tool {
  return {
    name: "process",
    toolset: "terminal",
    description:
      "For what terminal started with background=true. poll: state and last output; log: lines from offset " +
      "(default: the last); wait: for its end, timeout in seconds; write: raw stdin; submit: stdin and a " +
      "newline; close: end of stdin.",
    parameters: {
      type: "object",
      properties: {
        action: { type: "string", enum: [...ACTIONS] },
        session_id: { type: "string" },
        data: { type: "string" },
        timeout: { type: "integer" },
        offset: { type: "integer" },
        limit: { type: "integer", default: 200 },
      },
      required: ["action"],
    },
    parallel: "never",
    describe: process,
    // What goes to a shell's stdin is a command like any other.
    command: (args) => args.action === "submit" || args.action === "write" ? maybeString(args, "data") : null,
    // Only `wait` takes its time.
    limitSeconds: (args, { terminal }) => args.action === "wait" ? Math.max(1, terminal.timeout) : 0,
    execute: (args, context) => settle(() => run(args, context, limiter)),
  };
}
