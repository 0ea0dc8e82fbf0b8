/**
 * Tool calls of one answer: prepare → execute → finalize (core.md A.7, A.9, A.10, C.5). Asking the human is a step
 * of "prepare", not code inside tools. A tool never throws into the loop; every call that was announced ends; each
 * result is stored as it lands.
 */
import { within } from "@/lib/abort.ts";
import { coerceArguments, parseArguments } from "./arguments.ts";
import type { AskAnswer, AskOutcome, AskPayload } from "./asks.ts";
import type { TodoItem, ToolCallView } from "./events.ts";
import type { FileEdit, ToolCall, ToolMessage } from "./messages.ts";
import { textOf } from "./messages.ts";
import type {
  EditProposal,
  PlainCall,
  Tool,
  ToolContext,
  ToolDescription,
  ToolOutcome,
  Verdict,
} from "./ports.ts";
import { collectHints, withHints } from "./prompt_hints.ts";
import { planRefusal } from "./plan_mode.ts";
import { resultLimit, spillResult } from "./result_limits.ts";
import { cutIntoSegments } from "./segments.ts";
import type { TurnScope } from "./turn_scope.ts";

type Refused = "policy" | "denied" | "timeout" | "unattended" | "cancelled";

/** One call on its way. */
interface Running {
  readonly call: ToolCall;
  readonly view: ToolCallView;
  readonly tool: Tool | null;
  readonly args: Record<string, unknown>;
  readonly paths: readonly string[];
  /** A result that was known before anything ran (unknown tool, bad arguments). */
  readonly ready: ToolOutcome | null;
  announced: boolean;
  /** Refused by policy before it started: it is never announced, only its end is told. */
  blocked: boolean;
  startedAt: number;
  /** The open question of a command, asked before the batch runs. */
  consent: Promise<Consent> | null;
}

type Consent =
  | { readonly type: "go"; readonly approved: EditProposal | null; readonly note: string | null }
  /** `refused` is null when it could not be done anyway: an ordinary error, nobody's refusal. */
  | { readonly type: "stop"; readonly refused: Refused | null; readonly content: string };

const GUARD_FAILED = "The safety check itself failed, so this was not done";
const GO: Consent = { type: "go", approved: null, note: null };
const NO_DESCRIPTION: ToolDescription = { title: "", label: "", kind: "other", locations: [], startText: "" };

/** Runs the calls of one answer and returns their results in call order. */
export async function runToolCalls(calls: readonly ToolCall[], scope: TurnScope): Promise<ToolMessage[]> {
  scope.guardrails.begin();
  const running = withoutSpoiled(calls.map((call) => prepare(call, scope)), scope);
  for (const one of running) openConsent(one, scope);
  const results = new Map<string, ToolMessage>();
  const inTurn = createLine();
  for (const segment of cutIntoSegments(running)) {
    for (const one of segment) if (one.tool && !one.tool.propose && !one.blocked) announce(one, false, scope);
    const landed = await Promise.all(segment.map((one) => runOne(one, segment.length > 1, inTurn, scope)));
    for (const message of landed) results.set(message.toolCallId, message);
  }
  return calls.map((call) => results.get(call.id)!);
}

function prepare(call: ToolCall, scope: TurnScope): Running {
  const tool = scope.tools.get(call.name) ?? null;
  const parsed = parseArguments(call.arguments);
  let ready: ToolOutcome | null = null;
  let args: Record<string, unknown> = {};
  if (!tool) ready = errorOutcome(unknownTool(call.name, scope));
  else if (parsed.type === "ok") args = coerceArguments(parsed.args, tool.parameters);
  else if (parsed.type === "not_object") {
    ready = errorOutcome({ error: "Invalid tool arguments", message: "The arguments must be a JSON object" });
  } else {
    const why = parsed.type === "invalid" ? parsed.message : "The arguments were cut off";
    ready = errorOutcome({ error: "Invalid tool arguments", message: `Invalid JSON arguments: ${why}` });
  }
  const description = tool ? describe(tool, args, scope) : { ...NO_DESCRIPTION, title: call.name };
  if (tool && scope.planning) ready ??= planRefusal(tool, description);
  if (tool) ready ??= loopBlock(call, description, scope);
  const shown = scope.redactArgs(args);
  return {
    call,
    view: { id: call.id, name: call.name, args: shown, description },
    tool: ready ? null : tool,
    args,
    paths: ready ? [] : safely(() => tool!.paths?.(args, { cwd: scope.cwd }) ?? [], []),
    ready,
    announced: false,
    blocked: false,
    startedAt: scope.platform.clock.monotonic(),
    consent: null,
  };
}

/**
 * One call with broken arguments, or of a tool that does not exist, and none of its answer runs: the model corrects
 * itself with nothing half done (core.md A.9, A.10).
 */
function withoutSpoiled(batch: readonly Running[], scope: TurnScope): readonly Running[] {
  const broken = batch.some((one) => scope.tools.has(one.call.name) && isBroken(one.call.arguments));
  const unknown = batch.some((one) => !scope.tools.has(one.call.name));
  if (!broken && !unknown) return batch;
  const why = broken
    ? "Invalid JSON arguments in another call of this answer; this one was skipped. Send the calls again"
    : "Skipped: another call of this answer named a tool that does not exist. Send this call again";
  return batch.map((one) => one.ready ? one : { ...one, tool: null, ready: errorOutcome({ error: why }) });
}

function isBroken(text: string): boolean {
  const { type } = parseArguments(text);
  return type === "invalid" || type === "truncated";
}

function unknownTool(name: string, scope: TurnScope): { error: string } {
  if (!name.trim()) return { error: "The tool name was empty. Call a tool by its name." };
  return { error: `Tool '${name}' does not exist. Available tools: ${[...scope.tools.keys()].join(", ")}` };
}

function describe(tool: Tool, args: Record<string, unknown>, scope: TurnScope): ToolDescription {
  const plain = safely(() => tool.describe(args, { cwd: scope.cwd }), {
    ...NO_DESCRIPTION,
    title: tool.name,
  });
  const clean = (text: string) => scope.guard.redact(text, "terminal");
  return {
    ...plain,
    title: clean(plain.title),
    label: clean(plain.label),
    startText: clean(plain.startText),
  };
}

function safely<T>(run: () => T, fallback: T): T {
  try {
    return run();
  } catch {
    return fallback;
  }
}

function announce(one: Running, waiting: boolean, scope: TurnScope, edits?: readonly FileEdit[]): void {
  if (one.announced) return;
  one.announced = true;
  one.startedAt = scope.platform.clock.monotonic();
  scope.publish({ type: "tool.start", call: one.view, waiting, ...(edits ? { edits } : {}) });
}

/** What is no edit is judged before any call of the answer runs; questions open together (decision 16). */
function openConsent(one: Running, scope: TurnScope): void {
  if (!one.tool || one.tool.propose) return;
  const command = one.tool.command && safely(() => one.tool!.command!(one.args), null);
  const context = { ...scope.guardContext(), toolName: one.call.name };
  const verdict = safely<Verdict>(
    () =>
      command
        ? scope.guard.reviewCommand(command, context)
        : scope.guard.reviewCall?.(plainCall(one), context) ?? { type: "allow" },
    { type: "block", content: JSON.stringify({ error: GUARD_FAILED }), reason: GUARD_FAILED },
  );
  if (verdict.type === "block") {
    one.blocked = true;
    one.consent = Promise.resolve({ type: "stop", refused: "policy", content: verdict.content });
  } else if (verdict.type === "ask") {
    one.consent = verdict.judgeable
      ? judgedConsent(one, verdict.payload, verdict.targets, scope)
      : askConsent(one, verdict.payload, verdict.targets, null, scope);
  } else if (verdict.note) {
    one.consent = Promise.resolve({ type: "go", approved: null, note: verdict.note });
  }
}

function plainCall(one: Running): PlainCall {
  const server = /^mcp-(.+)$/s.exec(one.tool?.toolset ?? "")?.[1] ?? null;
  return { tool: one.call.name, mcpServer: server, title: one.view.description.title, paths: one.paths };
}

/** Edits are asked about one after the other: the diff must show the file as it is then. */
async function editConsent(one: Running, scope: TurnScope): Promise<Consent> {
  // An earlier question of this batch may have ended the turn.
  if (scope.signal.aborted) return GO;
  const tool = one.tool!;
  let proposal: EditProposal;
  try {
    proposal = await tool.propose!(one.args, toolContext(one, null, scope.signal, scope));
  } catch (error) {
    announce(one, false, scope);
    const reason = error instanceof Error ? error.message : String(error);
    const text = scope.editPolicy === null ? reason : `The change could not be prepared as a diff: ${reason}`;
    return { type: "stop", refused: null, content: JSON.stringify({ error: text }) };
  }
  const context = { ...scope.guardContext(), toolName: one.call.name };
  const verdict = await scope.guard.reviewEdit(proposal, context).catch((): Verdict => ({
    type: "block",
    content: JSON.stringify({ error: GUARD_FAILED }),
    reason: GUARD_FAILED,
  }));
  if (verdict.type === "allow") {
    announce(one, false, scope, proposal.edits);
    return GO;
  }
  if (verdict.type === "block") {
    one.blocked = true;
    return { type: "stop", refused: "policy", content: verdict.content };
  }
  return await askConsent(one, verdict.payload, verdict.targets, proposal, scope);
}

/**
 * The auxiliary model first (core.md C.4): its yes lets the command run, its no may be overruled once by the person,
 * everything else is the person's to answer.
 */
async function judgedConsent(
  one: Running,
  payload: AskPayload,
  targets: readonly string[],
  scope: TurnScope,
): Promise<Consent> {
  if (payload.kind !== "approval" || !scope.judge || scope.knownRefusal(payload, targets)) {
    return await askConsent(one, payload, targets, null, scope);
  }
  announce(one, true, scope);
  const smart = await scope.judge(payload);
  if (scope.signal.aborted) return GO; // Nothing runs any more: the caller sees the cancel.
  if (smart.verdict === "approve") {
    one.startedAt = scope.platform.clock.monotonic();
    scope.publish({ type: "tool.run", callId: one.call.id });
    const why = smart.reason === "" ? "" : `: ${smart.reason}`;
    return { type: "go", approved: null, note: `Approved by smart mode (${smart.model})${why}` };
  }
  const asked: AskPayload = smart.verdict === "deny"
    ? { ...payload, smartDenied: true, smart, choices: ["once", "deny"] }
    : { ...payload, smart };
  return await askConsent(one, asked, targets, null, scope);
}

async function askConsent(
  one: Running,
  payload: AskPayload,
  targets: readonly string[],
  proposal: EditProposal | null,
  scope: TurnScope,
): Promise<Consent> {
  const known = scope.knownRefusal(payload, targets);
  if (known) {
    announce(one, false, scope);
    return stop(payload, known, scope);
  }
  announce(one, true, scope);
  const outcome = await scope.ask(payload, one.call.id, one.view.name);
  const answer = outcome.type === "answered" ? outcome.answer : null;
  if (answer?.type === "choice" && answer.choice !== "deny") {
    return await allowed(payload, answer, proposal, one, scope);
  }
  scope.rememberRefusal(payload, targets, outcome);
  return stop(payload, outcome, scope);
}

async function allowed(
  payload: AskPayload,
  answer: AskAnswer,
  proposal: EditProposal | null,
  one: Running,
  scope: TurnScope,
): Promise<Consent> {
  try {
    await scope.guard.grant(payload, answer, scope.guardContext());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    scope.publish({ type: "status", kind: "warn", text: `The approval holds for this call only: ${why}` });
  }
  one.startedAt = scope.platform.clock.monotonic();
  scope.publish({ type: "tool.run", callId: one.call.id });
  const choice = answer.type === "choice" ? answer.choice : "once";
  const by = answer.type === "choice" ? answer.by : undefined;
  return { type: "go", approved: proposal, note: `Approved by ${by ?? "the user"} (${choice})` };
}

function stop(payload: AskPayload, outcome: AskOutcome, scope: TurnScope): Consent {
  const refused: Refused = outcome.type === "answered" ? "denied" : outcome.type;
  return { type: "stop", refused, content: scope.guard.refusal(payload, outcome) };
}

/** Runs one job after the other, also when they are handed in at once. */
type Line = <T>(job: () => Promise<T>) => Promise<T>;

function createLine(): Line {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const next = last.then(job);
    last = next.catch(() => {/* reported to whoever awaits it */});
    return next;
  };
}

async function runOne(
  one: Running,
  parallel: boolean,
  inTurn: Line,
  scope: TurnScope,
): Promise<ToolMessage> {
  if (one.ready) {
    announce(one, false, scope);
    return await finish(one, one.ready, null, scope);
  }
  if (scope.signal.aborted) {
    await one.consent;
    return await finish(one, skipped(one.call.name), "cancelled", scope);
  }
  const consent = await (one.consent ?? (one.tool!.propose ? inTurn(() => editConsent(one, scope)) : GO));
  if (consent.type === "stop") {
    const outcome: ToolOutcome = { content: consent.content, isError: true, effect: "none" };
    return await finish(one, outcome, consent.refused, scope);
  }
  if (scope.signal.aborted) return await finish(one, skipped(one.call.name), "cancelled", scope);
  const outcome = await execute(one, consent.approved, parallel, scope);
  return await finish(one, withNote(outcome, consent.note), outcome.refused ?? null, scope);
}

/** The result says that it was approved (core.md C.5), when it is a JSON object. */
function withNote(outcome: ToolOutcome, note: string | null): ToolOutcome {
  if (!note || typeof outcome.content !== "string" || !outcome.content.startsWith("{")) return outcome;
  return {
    ...outcome,
    content: safely(
      () => JSON.stringify({ ...JSON.parse(outcome.content as string), approval: note }),
      outcome.content,
    ),
  };
}

async function execute(
  one: Running,
  approved: EditProposal | null,
  parallel: boolean,
  scope: TurnScope,
): Promise<ToolOutcome> {
  const deadline = new AbortController();
  const signal = parallel ? AbortSignal.any([scope.signal, deadline.signal]) : scope.signal;
  const context = toolContext(one, approved, signal, scope);
  const work = started(one, context);
  const stopped = new Promise<ToolOutcome>((resolve) => {
    const onAbort = () =>
      void within(work, 3_000).then((late) => resolve(late ?? interrupted(one.call.name)));
    if (scope.signal.aborted) onAbort();
    else scope.signal.addEventListener("abort", onAbort, { once: true });
    work.finally(() => scope.signal.removeEventListener("abort", onAbort));
  });
  if (!parallel) return await Promise.race([work, stopped]);
  const seconds = scope.parallelTimeoutSeconds;
  const inTime = await within(Promise.race([work, stopped]), seconds * 1000);
  if (!inTime) deadline.abort();
  return inTime ?? {
    content: `Error executing tool '${one.call.name}': timed out after ${seconds}s`,
    isError: true,
    effect: "unknown",
  };
}

/** What a tool throws, at once or later, is its result. */
async function started(one: Running, context: ToolContext): Promise<ToolOutcome> {
  try {
    return await one.tool!.execute(one.args, context);
  } catch (error) {
    return thrown(one.call.name, error);
  }
}

function toolContext(
  one: Running,
  approved: EditProposal | null,
  signal: AbortSignal,
  scope: TurnScope,
): ToolContext {
  let last = -Infinity;
  return {
    sessionId: scope.sessionId,
    turnId: scope.turnId,
    callId: one.call.id,
    cwd: scope.cwd,
    roots: scope.roots,
    signal,
    platform: scope.platform,
    settings: scope.settings,
    scope: scope.sessionScope,
    files: scope.files,
    childEnv: scope.childEnv,
    home: scope.home,
    approved,
    sensitiveAllowed: approved !== null,
    ...(scope.delegator ? { delegator: scope.delegator } : {}),
    ...(scope.eyes ? { eyes: scope.eyes } : {}),
    progress: (text) => {
      const now = scope.platform.clock.monotonic();
      if (now - last < 250 || signal.aborted) return;
      last = now;
      const clean = scope.guard.redact(text, "terminal");
      scope.publish({ type: "tool.progress", callId: one.call.id, name: one.call.name, text: clean });
    },
    ask: (payload) => scope.ask(payload, one.call.id, one.call.name),
    redact: (text, mode) => scope.guard.redact(text, mode),
  };
}

async function finish(
  one: Running,
  outcome: ToolOutcome,
  refused: Refused | null,
  scope: TurnScope,
): Promise<ToolMessage> {
  const durationMs = scope.platform.clock.monotonic() - one.startedAt;
  const content = await withSurroundings(one, outcome, await bounded(one.call.id, outcome, scope), scope);
  const edits: readonly FileEdit[] = outcome.edits ?? [];
  const warning = refused === null ? loopWarning(one, outcome, content, scope) : "";
  const message: ToolMessage = {
    role: "tool",
    toolCallId: one.call.id,
    toolName: one.call.name,
    content: warning === "" ? content : withSuffix(content, warning),
    ...(outcome.effect ? { effect: outcome.effect } : {}),
    meta: {
      isError: outcome.isError,
      durationMs: Math.round(durationMs),
      ...(edits.length ? { edits } : {}),
    },
    timestamp: scope.platform.clock.now() / 1000,
  };
  await scope.store([message]);
  if (one.announced || one.blocked) {
    scope.publish({
      type: "tool.end",
      call: one.view,
      result: textOf(message.content),
      isError: outcome.isError,
      durationMs,
      edits,
      todos: one.call.name === "todo" ? todosOf(content) : null,
      refused,
    });
  }
  return message;
}

/** A call that the guardrails do not let run once more. */
function loopBlock(call: ToolCall, description: ToolDescription, scope: TurnScope): ToolOutcome | null {
  const { name, arguments: text } = call;
  const content = scope.guardrails.block({ name, arguments: text, kind: description.kind });
  return content === null ? null : { content, isError: true, effect: "none" };
}

function withSuffix(content: ToolOutcome["content"], text: string): ToolOutcome["content"] {
  return typeof content === "string" ? content + text : [...content, { type: "text", text }];
}

/** What the guardrails say to a call that has run. */
function loopWarning(
  one: Running,
  outcome: ToolOutcome,
  content: ToolOutcome["content"],
  scope: TurnScope,
): string {
  if (one.tool === null) return "";
  const { name, arguments: text } = one.call;
  const { kind } = one.view.description;
  return scope.guardrails.after({ name, arguments: text, kind }, textOf(content), outcome.isError);
}

/** What the touched directories ask for comes with the result, once. */
async function withSurroundings(
  one: Running,
  outcome: ToolOutcome,
  content: ToolOutcome["content"],
  scope: TurnScope,
): Promise<ToolOutcome["content"]> {
  if (outcome.isError || one.tool === null) return content;
  const { platform, settings, sessionScope, cwd, roots } = scope;
  const hints = await collectHints(one.args, { platform, settings, scope: sessionScope, cwd, roots });
  return hints === "" ? content : withHints(content, scope.guard.redact(hints, "file"));
}

async function bounded(
  callId: string,
  outcome: ToolOutcome,
  scope: TurnScope,
): Promise<ToolOutcome["content"]> {
  if (typeof outcome.content !== "string") return outcome.content;
  // A text cut between the halves of a character is refused by providers.
  const text = scope.guard.redact(outcome.content, "terminal").toWellFormed();
  if (outcome.keepWhole || text.length <= resultLimit(scope.contextWindow)) return text;
  return await spillResult(scope.platform, callId, text);
}

function todosOf(content: ToolOutcome["content"]): readonly TodoItem[] | null {
  return safely(() => {
    const todos = (JSON.parse(textOf(content)) as { todos?: TodoItem[] }).todos;
    return Array.isArray(todos) ? todos : null;
  }, null);
}

function errorOutcome(body: Record<string, string>): ToolOutcome {
  return { content: JSON.stringify(body), isError: true, effect: "none" };
}

function skipped(name: string): ToolOutcome {
  return {
    content: `[Tool execution cancelled — ${name} was skipped due to user interrupt]`,
    isError: true,
    effect: "none",
  };
}

function interrupted(name: string): ToolOutcome {
  return {
    content: `[Tool execution cancelled — ${name} was interrupted while running]`,
    isError: true,
    effect: "unknown",
  };
}

function thrown(name: string, error: unknown): ToolOutcome {
  const message = (error instanceof Error ? error.message : String(error))
    .replace(/<\/?(system|user|assistant|tool)[^>]*>|<!\[CDATA\[|\]\]>|```/gi, "");
  const text = `[TOOL_ERROR] Error executing ${name}: ${message}`.slice(0, 2_000);
  return { content: JSON.stringify({ error: text }), isError: true, effect: "unknown" };
}
