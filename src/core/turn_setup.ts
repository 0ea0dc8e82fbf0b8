/**
 * Puts together what a turn needs from its session: model, prompt, tools, scope. A model that cannot be used is an
 * ending of the turn with the documented advice, after the user's message was stored.
 */
import { abortable, isAbort } from "@/lib/abort.ts";
import { type AskOutcome, type AskPayload, sealed } from "./asks.ts";
import { localDay } from "./budgets.ts";
import { rootOf, settingsOf } from "./delegation.ts";
import type { ChildCall } from "./delegation_api.ts";
import { canLook, createEyes } from "./eyes.ts";
import { Guardrails } from "./guardrails.ts";
import { HermesError, type ModelFailure } from "./errors.ts";
import { fallbackEntries, withEffort } from "./fallbacks.ts";
import type { TurnResult } from "./events.ts";
import { promptTokens, textOf, type Usage } from "./messages.ts";
import { PLAN_MODE } from "./plan_mode.ts";
import type { GuardContext, ModelChoice, ResolvedModel, Tool } from "./ports.ts";
import type { LiveSession } from "./session.ts";
import type { SubmitOptions, UserInput } from "./session_api.ts";
import { compactSession } from "./session_compaction.ts";
import { buildSystemPrompt, memoriesOf } from "./system_prompt.ts";
import type { TurnInput } from "./turn.ts";
import { cancelledResult } from "./turn_results.ts";
import { Refusals, type TurnScope } from "./turn_scope.ts";

interface PendingTurn {
  readonly id: string;
  readonly input: UserInput;
  readonly options: SubmitOptions;
  readonly controller: AbortController;
}

export async function prepareTurn(session: LiveSession, turn: PendingTurn): Promise<TurnInput | HermesError> {
  const { services } = session;
  const settings = settingsOf(session);
  const model = resolveModel(session, turn.options.model);
  if (model instanceof HermesError) return model;
  const settling = session.outside.settling(turn.controller.signal);
  if (settling) await settling;
  const tools = offered(session, turn.options, model);
  const theirs = (turn.options.clientTools ?? []).filter((spec) =>
    !tools.some((tool) => tool.name === spec.name)
  );
  const systemPrompt = await systemPromptOf(session, model, tools, turn.controller.signal);
  const scope = createScope(session, turn, model, tools);
  const { agent, model: modelSettings } = settings;
  return {
    input: turn.input,
    scope,
    transcript: session.transcript,
    steering: session.steering,
    callIds: session.callIds,
    client: services.models.client(model),
    resting: session.resting,
    fallbacks: fallbackEntries(settings).map(({ choice, reasoningEffort }) => () =>
      withEffort(services.models.client(services.models.resolve(choice)), reasoningEffort)
    ),
    toolSpecs: [
      ...tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
      ...theirs,
    ],
    ...(theirs.length === 0 ? {} : { clientTools: new Set(theirs.map((tool) => tool.name)) }),
    systemPrompt: turn.options.systemExtra ? `${systemPrompt}\n\n${turn.options.systemExtra}` : systemPrompt,
    history: turn.options.history ?? null,
    reasoningEffort: turn.options.reasoningEffort ?? session.reasoningEffort,
    maxTokens: modelSettings.max_tokens,
    maxSteps: turn.options.maxSteps ?? agent.max_turns,
    backpressure: () => session.hub.takeBackpressure(),
    onShown: (text, reasoning) => session.setInflight(text, reasoning),
    ...(services.redactStream ? { redactStream: () => services.redactStream!() } : {}),
    contextTokens: () => session.contextTokens(),
    estimateCost: (usage, model) => services.models.estimateCost(usage, model),
    // Children draw on the limits of the session that they work for.
    usageTotals: () =>
      services.store().usageTotals(rootOf(session).headId, localDay(services.platform.clock.now())),
    compact: async (client, cause) => {
      const report = await compactSession(session, {
        cause,
        focus: null,
        signal: turn.controller.signal,
        client,
        turnId: turn.id,
      }).catch((error) => {
        if (isAbort(error)) return null;
        const why = error instanceof Error ? error.message : String(error);
        services.log.warn(`Compression failed: ${why}`);
        const text = services.guard.redact(`The conversation could not be compressed: ${why}`, "terminal");
        session.publish(turn.id, { type: "status", kind: "warn", text });
        return null;
      });
      return report !== null;
    },
  };
}

function resolveModel(session: LiveSession, choice: ModelChoice | undefined): ResolvedModel | HermesError {
  try {
    return session.services.models.resolve(choice ?? session.modelChoice);
  } catch (error) {
    if (error instanceof HermesError) return error;
    throw error;
  }
}

function offered(session: LiveSession, options: SubmitOptions, model: ResolvedModel): Tool[] {
  const { services } = session;
  const settings = services.settings();
  const images = canLook(services.models, settings, model);
  const context = { platform: services.platform, settings, canClarify: options.asks.clarify, images };
  const brought = options.doorTools ?? [];
  const own = brought.length === 0
    ? session.tools()
    : session.tools().filter((tool) => !brought.some(({ name }) => name === tool.name));
  return [...own, ...brought].filter((tool) => tool.available?.(context) ?? true);
}

/** The stored prompt, byte for byte; built and stored when there is none. */
async function systemPromptOf(
  session: LiveSession,
  model: ResolvedModel,
  tools: readonly Tool[],
  signal: AbortSignal,
): Promise<string> {
  if (session.systemPrompt !== null) return session.systemPrompt;
  const { services } = session;
  const { platform, log, home } = services;
  const settings = settingsOf(session);
  const building = memoriesOf(session.scope, { platform, log, home, settings }).then((memories) =>
    buildSystemPrompt({
      platform,
      settings,
      log,
      home,
      cwd: session.cwd,
      roots: session.roots,
      surface: session.child ? "subagent" : session.surface,
      tools,
      model,
      skills: services.skills ?? null,
      childEnv: services.childEnv(),
      memories,
    })
  );
  const prompt = await abortable(building, signal).catch((error) => {
    if (isAbort(error)) return null;
    throw error;
  });
  if (prompt === null) return ""; // Nothing is sent: the first step sees the cancel.
  session.systemPrompt = prompt;
  try {
    await abortable(services.store().updateSession(session.headId, { systemPrompt: prompt }), signal);
  } catch (error) {
    services.log.warn(
      `Cannot store the system prompt: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  return prompt;
}

function timeoutMs(session: LiveSession, payload: AskPayload): number {
  const { approvals, agent } = session.services.settings();
  if (payload.kind === "clarify" && session.surface !== "acp") return agent.clarify_timeout * 1000;
  const longest = payload.kind === "sudo" ? 120 : payload.kind === "secret" ? 300 : Infinity;
  return Math.min(approvals.timeout, longest) * 1000;
}

function canAsk(payload: AskPayload, options: SubmitOptions): boolean {
  if (payload.kind === "approval") return options.asks.approval;
  if (payload.kind === "edit") return options.asks.edit;
  return payload.kind === "clarify" ? options.asks.clarify : options.asks.secret ?? false;
}

/** What the user's setting answers in place of a question; never what was judged dangerous by a model. */
function approvedOnce(payload: AskPayload): AskOutcome {
  const isApproval = payload.kind === "approval" || payload.kind === "edit";
  if (!isApproval || !payload.choices.includes("once")) return { type: "unattended" };
  if (payload.kind === "approval" && payload.smartDenied) return { type: "unattended" };
  const by = "delegation.subagent_auto_approve";
  return { type: "answered", answer: { type: "choice", choice: "once", by } };
}

function createScope(
  session: LiveSession,
  turn: PendingTurn,
  model: ResolvedModel,
  tools: readonly Tool[],
): TurnScope {
  const { services } = session;
  const settings = settingsOf(session);
  const { signal } = turn.controller;
  const childCalls: ChildCall[] = [];
  const delegator = session.delegation.delegatorOf(session, {
    id: turn.id,
    options: turn.options,
    model,
    counted: (call) => {
      childCalls.push(call);
      session.child?.counted(call);
    },
  });
  const refusals = new Refusals();
  let started = false;
  let early: string | null = null;
  const publish: TurnScope["publish"] = (body) => {
    if (body.type === "usage") session.noteUsage(promptTokens(body.usage));
    session.publish(turn.id, body);
    if (body.type !== "turn.start") return;
    started = true;
    if (early !== null) warn(early);
  };
  /** `turn.start` is first, also when the user's own row waits. */
  function warn(text: string): void {
    if (started) publish({ type: "status", kind: "warn", text });
    else early = text;
  }

  async function ask(payload: AskPayload, callId: string, toolName: string): Promise<AskOutcome> {
    if (turn.options.approveOnce) return approvedOnce(payload);
    if (!canAsk(payload, turn.options)) return { type: "unattended" };
    const asked = {
      id: services.platform.ids.hex(32),
      sessionId: session.id,
      turnId: turn.id,
      callId,
      toolName,
      payload,
      timeoutMs: timeoutMs(session, payload),
      openedAt: services.platform.clock.now(),
    };
    const outcome = await session.broker.open(asked, {
      signal,
      announce: () => publish({ type: "ask.open", ask: asked }),
    });
    publish({ type: "ask.close", ask: asked, outcome: sealed(payload, outcome) });
    return outcome;
  }

  const guardContext = (): GuardContext => ({
    scope: turn.options.scope ?? session.id,
    sessionId: session.id,
    cwd: session.cwd,
    roots: session.roots,
    editPolicy: session.editPolicy,
    yolo: session.yolo || services.yolo,
    canAsk: turn.options.asks.approval || turn.options.asks.edit || turn.options.approveOnce === true,
    settings: services.settings(),
    surface: session.surface,
  });
  const count = (usage: Usage, model: ResolvedModel) => {
    session.countSideCall(usage, model).catch((error) =>
      services.log.warn(`A call was not counted: ${error}`)
    );
  };

  return {
    sessionId: session.id,
    turnId: turn.id,
    platform: services.platform,
    settings,
    signal,
    cwd: session.cwd,
    roots: session.roots,
    home: services.home,
    get childEnv() {
      return services.childEnv();
    },
    files: session.files,
    sessionScope: session.scope,
    guard: services.guard,
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    get editPolicy() {
      return session.editPolicy;
    },
    get planning() {
      return session.editPolicy !== null && session.mode === PLAN_MODE;
    },
    guardrails: new Guardrails(settings.tool_loop_guardrails),
    ...(delegator ? { delegator } : {}),
    takeChildCalls: () => childCalls.splice(0),
    eyes: createEyes({ models: services.models, settings, model, sessionId: session.id, count }),
    contextWindow: model.contextWindow,
    parallelTimeoutSeconds: Number(services.childEnv()["HERMES_CONCURRENT_TOOL_TIMEOUT_S"] ?? "") || 420,
    publish,
    store: async (messages) => {
      const saving = session.transcript.append(messages);
      const saved = await abortable(saving, signal).catch(() => true); // A cancel does not wait for a lock.
      if (!saved) warn(session.transcript.warning ?? "Saving is delayed");
    },
    guardContext,
    ask,
    judge: async (payload) =>
      await services.guard.judge?.(payload, guardContext(), { signal, model, count }) ??
        { verdict: "escalate", reason: "", model: "" },
    knownRefusal: (payload, targets) => refusals.known(payload, targets),
    rememberRefusal: (payload, targets, outcome) => refusals.remember(payload, targets, outcome),
    redactArgs: (args) => redactValues(args, (text) => services.guard.redact(text, "terminal")),
  };
}

function redactValues(
  args: Record<string, unknown>,
  redact: (text: string) => string,
): Record<string, unknown> {
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") return redact(value);
    if (Array.isArray(value)) return value.map(walk);
    if (value !== null && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, walk(v)]));
    }
    return value;
  };
  return walk(args) as Record<string, unknown>;
}

/** The end of a turn whose model cannot be used: the user's message is stored, the reason is the outcome. */
export async function failedResult(
  session: LiveSession,
  turn: PendingTurn,
  error: HermesError,
): Promise<TurnResult> {
  const { input } = turn;
  const user = {
    role: "user" as const,
    content: input.content,
    timestamp: session.services.platform.clock.now() / 1000,
    ...(input.displayText === undefined ? {} : { displayText: input.displayText }),
    ...(input.displayKind === undefined ? {} : { displayKind: input.displayKind }),
  };
  await session.transcript.append(input.results ?? [user]);
  const userRowId = (user as { rowId?: number }).rowId ?? null;
  session.publish(turn.id, {
    type: "turn.start",
    text: input.displayText ?? textOf(input.content),
    userRowId,
  });
  const failure: ModelFailure = {
    kind: "config",
    message: error.message,
    provider: "",
    model: "",
    retryable: false,
  };
  return { ...cancelledResult(), outcome: "failed", exitReason: error.code, failure, userRowId };
}
