/**
 * Runs one call: what the tool is given, its deadline, and what an interrupt leaves of it. Whatever the tool does, the
 * end is an outcome (core.md A.7).
 */
import { within } from "@/lib/abort.ts";
import type { EditProposal, ToolContext, ToolOutcome } from "./ports.ts";
import { interrupted, thrown } from "./tool_results.ts";
import { type Running, safely } from "./tool_running.ts";
import { sampleFor } from "./tool_sampling.ts";
import type { TurnScope } from "./turn_scope.ts";

/** A call in a parallel segment has a deadline; one that is interrupted is given 3 s to say how far it came. */
export async function execute(
  one: Running,
  approved: EditProposal | null,
  parallel: boolean,
  scope: TurnScope,
): Promise<ToolOutcome> {
  const deadline = new AbortController();
  const signal = parallel ? AbortSignal.any([scope.signal, deadline.signal]) : scope.signal;
  const context = toolContext(one, approved, signal, scope);
  const release = scope.silence?.hold(ownLimit(one, parallel, scope));
  const work = started(one, context);
  if (release) work.finally(release);
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

/** Seconds that the call may be silent; 0: as long as anything else. */
function ownLimit({ tool, args }: Running, parallel: boolean, scope: TurnScope): number {
  const own = safely(() => tool?.limitSeconds?.(args, scope.settings) ?? 0, 0);
  return parallel ? Math.max(own, scope.parallelTimeoutSeconds) : own;
}

/** What a tool throws, at once or later, is its result. */
async function started(one: Running, context: ToolContext): Promise<ToolOutcome> {
  try {
    return await one.tool!.execute(one.args, context);
  } catch (error) {
    return thrown(one.call.name, error);
  }
}

/** What a tool sees of its turn. */
export function toolContext(
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
    ...(one.reviewed ? { reviewed: one.reviewed } : {}),
    ...(scope.delegator ? { delegator: scope.delegator } : {}),
    ...(scope.eyes ? { eyes: scope.eyes } : {}),
    ...(scope.fitImage ? { fitImage: scope.fitImage } : {}),
    ...(scope.hearsLater === undefined ? {} : { hearsLater: scope.hearsLater }),
    progress: (text) => {
      const now = scope.platform.clock.monotonic();
      if (now - last < 250 || signal.aborted) return;
      last = now;
      const clean = scope.guard.redact(text, "terminal");
      scope.publish({ type: "tool.progress", callId: one.call.id, name: one.call.name, text: clean });
    },
    ask: (payload) => scope.ask(payload, one.call.id, one.call.name),
    sample: (request) => sampleFor(one, request, scope),
    redact: (text, mode) => scope.guard.redact(text, mode),
  };
}
