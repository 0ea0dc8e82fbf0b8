/**
 * Puts together what a turn needs from its session: model, prompt, tools, scope. A model that cannot be used is an
 * ending of the turn with the documented advice, after the user's message was stored.
 */
import { isYes } from "@/lib/yes.ts";
import { abortable, isAbort, within } from "@/lib/abort.ts";
import { localDay } from "./budgets.ts";
import { rootOf, settingsOf } from "./delegation.ts";
import type { ChildCall } from "./delegation_api.ts";
import { decideDeferral, isDeferrable, shownSpecs, TOOL_CALL } from "./deferred_tools.ts";
import { configuredEffort } from "./efforts.ts";
import { createEyes } from "./eyes.ts";
import { Guardrails } from "./guardrails.ts";
import { HermesError } from "./errors.ts";
import { FailedEdits } from "./failed_edits.ts";
import { fallbackEntries, withEffort } from "./fallbacks.ts";
import type { TurnResult } from "./events.ts";
import { showsInterim, withoutInterim } from "./interim.ts";
import { promptTokens, textOf, type Usage } from "./messages.ts";
import { PLAN_MODE } from "./plan_mode.ts";
import type { GuardContext, ModelChoice, ModelClient, ResolvedModel, Tool } from "./ports.ts";
import { readPrefill } from "./prefill.ts";
import { personalityText } from "./prompt_personality.ts";
import { withCallersText } from "./prompt_layers.ts";
import { redactValues } from "./redact_values.ts";
import type { Settings } from "./settings.ts";

import { usableTools } from "./offered_tools.ts";
import type { LiveSession } from "./session.ts";
import type { SubmitOptions, UserInput } from "./session_api.ts";
import { compactSession } from "./session_compaction.ts";
import { withCommandHome } from "./command_home.ts";
import { askHuman } from "./turn_asks.ts";
import { catchUp } from "./turn_begin.ts";
import type { TurnInput } from "./turn_input.ts";
import { systemPromptOf } from "./turn_prompt.ts";
import { cancelledResult, failureOf } from "./turn_results.ts";
import { createSampler } from "./sampler.ts";
import { Refusals, type TurnScope } from "./turn_scope.ts";

const SMALLEST_WINDOW = 64_000;

/** How long the end of a cancelled turn may wait for its rows. */
const CANCEL_SAVE_MS = 100;

interface PendingTurn {
  readonly id: string;
  readonly input: UserInput;
  readonly options: SubmitOptions;
  readonly controller: AbortController;
}

export async function prepareTurn(session: LiveSession, turn: PendingTurn): Promise<TurnInput | HermesError> {
  const { services } = session;
  const settings = settingsOf(session);
  const asking = services.models.settling?.(turn.options.model ?? session.modelChoice, turn.controller);
  if (asking) await asking;
  const model = resolveModel(session, turn.options.model);
  if (model instanceof HermesError) return model;
  const tooSmall = refusedWindow(model);
  if (tooSmall) return tooSmall;
  const settling = session.outside.settling(turn.controller.signal);
  if (settling) await settling;
  const usable = offered(session, turn.options, model);
  const deferral = usable.some(isDeferrable)
    ? await decideDeferral(usable, { model, settings, last: session.deferral })
    : null;
  session.deferral = deferral;
  const tools = [...usable, ...deferral?.bridge ?? []];
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
    patience: session.patience,
    fallbacks: fallbackEntries(settings).map(({ choice, reasoningEffort }) => () =>
      withEffort(
        services.models.client(services.models.resolve(choice)),
        reasoningEffort ?? ownEffort(turn, session) ?? configuredEffort(settings, () => choice.model ?? null),
      )
    ),
    toolSpecs: [
      ...shownSpecs(usable, deferral).map(({ name, description, parameters }) => ({
        name,
        description,
        parameters,
      })),
      ...theirs,
    ],
    ...(theirs.length === 0 ? {} : { clientTools: new Set(theirs.map((tool) => tool.name)) }),
    systemPrompt: [
      withCallersText(systemPrompt, contextText(turn.options, settings)),
      agent.ephemeral_system_prompt,
    ].filter(Boolean).join("\n\n"),
    ...await prefillOf(session),
    history: turn.options.history ?? null,
    reasoningEffort: ownEffort(turn, session) ?? configuredEffort(settings, () => model.model),
    ...(turn.options.fast ?? session.wantsFast ? { fast: true } : {}),
    maxTokens: modelSettings.max_tokens,
    maxSteps: turn.options.maxSteps ?? agent.max_turns,
    backpressure: () => session.hub.takeBackpressure(),
    onShown: (text, reasoning) => session.setInflight(scope.hidesInterim ? "" : text, reasoning),
    ...(services.redactStream ? { redactStream: () => services.redactStream!() } : {}),
    takeNotices: () => session.takeNotices(),
    putBackNotices: (notices) => session.scope.putBack(notices),
    catchUp: () => catchUp(session),
    dumpsRequests: isYes(services.env?.("HERMES_DUMP_REQUESTS")),
    contextTokens: () => session.tally.contextTokens(),
    estimateCost: (usage, model) => services.models.estimateCost(usage, model),
    usageTotals: () => usageTotals(session),
    compact: (client, cause) => compactInTurn(session, turn, client, cause),
  };
}

/** The caller's words, then the personality: this turn's, or the configured one. */
function contextText({ systemExtra, personality }: SubmitOptions, settings: Settings): string {
  return [systemExtra, personalityText(settings, personality)].filter(Boolean).join("\n\n");
}

/** Children draw on the limits of the session that they work for. */
function usageTotals(session: LiveSession): ReturnType<TurnInput["usageTotals"]> {
  const { store, platform } = session.services;
  return store().usageTotals(rootOf(session).headId, localDay(platform.clock.now()));
}

/** True when the conversation is shorter now. A failure is told and is no failure of the turn. */
async function compactInTurn(
  session: LiveSession,
  { id: turnId, controller: { signal } }: PendingTurn,
  client: ModelClient,
  cause: "overflow" | "automatic",
): Promise<boolean> {
  const { guard, log } = session.services;
  try {
    return await compactSession(session, { cause, focus: null, signal, client, turnId }) !== null;
  } catch (error) {
    if (isAbort(error)) return false;
    const why = error instanceof Error ? error.message : String(error);
    log.warn(`Compression failed: ${why}`);
    const text = guard.redact(`The conversation could not be compressed: ${why}`, "terminal");
    session.publish(turnId, { type: "status", kind: "warn", text });
    return false;
  }
}

/** Prompt and tools alone would fill it (core.md A.16). */
function refusedWindow({ model, contextWindow, apiMode }: ResolvedModel): HermesError | null {
  if (contextWindow === null || contextWindow >= SMALLEST_WINDOW || apiMode === "builtin") return null;
  return new HermesError(
    "invalid_model",
    `The model "${model}" has a window of ${contextWindow} tokens, and an agent needs at least 64,000: choose a model ` +
      "with a larger window, or set model.context_length if the number is wrong (for Ollama also num_ctx)",
    { model, contextWindow },
  );
}

/** What was said for this turn, or for this session. */
function ownEffort(turn: PendingTurn, session: LiveSession): string | null {
  return turn.options.reasoningEffort ?? session.config.reasoningEffort ?? null;
}

async function prefillOf(session: LiveSession): Promise<Pick<TurnInput, "prefill" | "warnings">> {
  const { services } = session;
  const path = services.settings().prefill_messages_file?.trim() ?? "";
  if (path === "" || session.child) return {};
  const prefill = await readPrefill(path, services.home, services.platform);
  if (prefill.type === "messages") return { prefill: prefill.messages };
  services.log.warn(prefill.why);
  return { warnings: [services.guard.redact(prefill.why, "full")] };
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
  const { platform, models } = session.services;
  const settings = session.services.settings();
  const brought = options.doorTools ?? [];
  const own = brought.length === 0
    ? session.tools()
    : session.tools().filter((tool) => !brought.some(({ name }) => name === tool.name));
  const canClarify = options.asks.clarify;
  return usableTools([...own, ...brought], { platform, models, settings, model, canClarify });
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
  const hidesInterim = !showsInterim(settings, session.surface);
  const tell: TurnScope["publish"] = (body) => {
    // Which tool it is about is known when the call is there.
    if (body.type === "tool.generating" && body.name === TOOL_CALL && session.deferral !== null) return;
    if (body.type === "usage") session.tally.notePrompt(promptTokens(body.usage));
    session.publish(turn.id, body);
    if (body.type !== "turn.start") return;
    started = true;
    if (early !== null) warn(early);
  };
  const publish = hidesInterim ? withoutInterim(tell) : tell;
  /** `turn.start` is first, also when the user's own row waits. */
  function warn(text: string): void {
    if (started) publish({ type: "status", kind: "warn", text });
    else early = text;
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
    ...(refusals.isEmpty ? {} : { isRefused: (targets) => refusals.has(targets) }),
  });
  const count = (usage: Usage, model: ResolvedModel) => {
    session.tally.countSideCall(usage, model).catch((error) =>
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
      return withCommandHome(services.childEnv(), {
        platform: services.platform,
        home: services.home,
        settings,
      });
    },
    files: session.files,
    sessionScope: session.scope,
    guard: services.guard,
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    ...(session.deferral ? { deferral: session.deferral } : {}),
    get editPolicy() {
      return session.editPolicy;
    },
    get planning() {
      return session.editPolicy !== null && session.mode === PLAN_MODE;
    },
    guardrails: new Guardrails(settings.tool_loop_guardrails),
    ...(delegator ? { delegator } : {}),
    takeChildCalls: () => childCalls.splice(0),
    // A child ends with its turn, and a session of the HTTP API need not be heard of again.
    hearsLater: session.child === null && session.surface !== "api_server",
    eyes: createEyes({ models: services.models, settings, model, sessionId: session.id, count }),
    ...(services.fitImage ? { fitImage: services.fitImage } : {}),
    sampler: createSampler({
      models: services.models,
      settings,
      model,
      sessionId: session.id,
      now: () => services.platform.clock.monotonic(),
      kept: () => usageTotals(session),
      count: (usage, of) => {
        const cost = services.models.estimateCost(usage, of);
        childCalls.push({ usage, model: of, cost });
        session.child?.counted({ usage, model: of, cost });
        const day = localDay(services.platform.clock.now());
        void session.transcript.addUsage(usage, of, { ...cost, day, seconds: 0 });
        return cost.usd;
      },
    }),
    contextWindow: model.contextWindow,
    ...(hidesInterim ? { hidesInterim } : {}),
    ...(settings.display.file_mutation_verifier === false
      ? {}
      : { failedEdits: new FailedEdits(session.cwd) }),
    ...(session.silence ? { silence: session.silence } : {}),
    parallelTimeoutSeconds: Number(services.env?.("HERMES_CONCURRENT_TOOL_TIMEOUT_S") ?? "") || 420,
    publish,
    store: async (messages) => {
      const saving = session.transcript.append(messages);
      const saved = await abortable(saving, signal).catch(async (error) => {
        if (!isAbort(error)) throw error;
        // A cancel waits for what is as good as kept, and not for a lock.
        return await within(saving.catch(() => true), CANCEL_SAVE_MS) ?? true;
      });
      const news = saved ? null : session.transcript.takeWarning();
      if (news !== null) warn(news);
    },
    guardContext,
    ask: (payload, callId, toolName) => askHuman(session, turn, { payload, callId, toolName }, publish),
    judge: async (payload) =>
      await services.guard.judge?.(payload, guardContext(), { signal, model, count }) ??
        { verdict: "escalate", reason: "", model: "" },
    knownRefusal: (payload, targets) => refusals.known(payload, targets),
    rememberRefusal: (payload, targets, outcome) => refusals.remember(payload, targets, outcome),
    redactArgs: (args) => redactValues(args, (text) => services.guard.redact(text, "terminal")),
  };
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
  session.transcript.beginTurn();
  session.transcript.endTurn();
  const refused = await session.transcript.append(input.results ?? [user]).then(
    () => null,
    (refusal: HermesError) => refusal,
  );
  const userRowId = (user as { rowId?: number }).rowId ?? null;
  session.publish(turn.id, {
    type: "turn.start",
    text: input.displayText ?? textOf(input.content),
    userRowId,
  });
  const why = refused ?? error;
  return {
    ...cancelledResult(),
    outcome: "failed",
    exitReason: why.code,
    failure: failureOf(why),
    userRowId,
  };
}
