/**
 * Modes and config options of a session, kept in step (acp.md C7, C9). Built from what is known without any
 * network; a change is checked against the same list that was shown.
 */
import type { Hermes } from "@/app/mod.ts";
import { HermesError, type Session } from "@/core/contract.ts";
import { AUTH_REQUIRED, fromHermesError, INVALID_PARAMS, invalidParams } from "./errors.ts";
import type { SessionConfigOption, SessionModeState } from "./sdk.ts";

interface Mode {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Value of the option `edit_approval_policy`. */
  readonly policy: string;
}

const MODES: readonly Mode[] = [
  { id: "default", name: "Default", description: "Ask before every edit", policy: "ask" },
  {
    id: "accept_edits",
    name: "Accept Edits",
    description: "Edit inside the workspace without asking",
    policy: "workspace_session",
  },
  {
    id: "dont_ask",
    name: "Don't Ask",
    description: "Edit anywhere without asking, except sensitive files",
    policy: "session",
  },
];

/** Changes nothing at all; not an edit policy, so the option shows the policy that holds beside it. */
const PLAN = { id: "plan", name: "Plan", description: "Look and think, change nothing, present a plan" };

const MAX_MODELS_PER_PROVIDER = 200;

/** What the options are made of: a live session, or what is stored of one. */
export type Chosen = Pick<Session, "model" | "reasoningEffort" | "mode">;

interface Choice {
  readonly value: string;
  readonly name: string;
}

export function modesOf(session: Session): SessionModeState {
  return {
    currentModeId: session.mode,
    availableModes: [...MODES, PLAN].map(({ id, name, description }) => ({ id, name, description })),
  };
}

function modelChoices(session: Chosen, hermes: Hermes): { current: string; choices: Choice[] } {
  const { model } = session;
  const choices = new Map<string, Choice>();
  const perProvider = new Map<string, number>();
  for (const known of hermes.models.known(model ?? undefined)) {
    const count = (perProvider.get(known.provider) ?? 0) + 1;
    perProvider.set(known.provider, count);
    const value = `${known.provider}:${known.model}`;
    if (count <= MAX_MODELS_PER_PROVIDER) choices.set(value, { value, name: known.label || known.model });
  }
  const current = model ? `${model.provider}:${model.model}` : "";
  const name = model ? model.label || model.model : "No usable model";
  if (!choices.has(current)) choices.set(current, { value: current, name });
  return { current, choices: [...choices.values()] };
}

/**
 * The `models` field of older clients, from before models were a config option; `null` unless
 * `acp.legacy_models` is on (acp.md C9).
 */
export function legacyModels(session: Session, hermes: Hermes): Record<string, unknown> | null {
  if (!hermes.settings().acp.legacy_models) return null;
  const { current, choices } = modelChoices(session, hermes);
  return {
    currentModelId: current,
    availableModels: choices.map(({ value, name }) => ({ modelId: value, name })),
  };
}

function modelOption(session: Chosen, hermes: Hermes): SessionConfigOption {
  const { current, choices } = modelChoices(session, hermes);
  return {
    id: "model",
    name: "Model",
    category: "model",
    type: "select",
    currentValue: current,
    options: choices,
  };
}

/** `medium`, or what of the declared efforts comes nearest. */
function defaultEffort(efforts: readonly string[]): string {
  return efforts.includes("medium") ? "medium" : efforts[Math.floor((efforts.length - 1) / 2)]!;
}

function effortOption(session: Chosen): SessionConfigOption | null {
  const efforts = session.model?.reasoningEfforts ?? [];
  if (efforts.length === 0) return null;
  const chosen = session.reasoningEffort;
  return {
    id: "reasoning_effort",
    name: "Reasoning effort",
    category: "thought_level",
    type: "select",
    currentValue: chosen !== null && efforts.includes(chosen) ? chosen : defaultEffort(efforts),
    options: efforts.map((value) => ({ value, name: value })),
  };
}

function policyOption(session: Chosen): SessionConfigOption {
  const mode = MODES.find((one) => one.id === session.mode) ?? MODES[0]!;
  return {
    id: "edit_approval_policy",
    name: "Edit approval",
    category: "mode",
    type: "select",
    currentValue: mode.policy,
    options: MODES.map(({ policy, name, description }) => ({ value: policy, name, description })),
  };
}

/** The complete list, in our order of priority. */
export function configOptions(session: Chosen, hermes: Hermes): SessionConfigOption[] {
  const effort = effortOption(session);
  return [modelOption(session, hermes), ...(effort ? [effort] : []), policyOption(session)];
}

/** Throws -32602 for a mode that no session has; to be asked before one is opened for it. */
export function checkMode(modeId: string): void {
  const modes = [...MODES, PLAN].map((mode) => mode.id);
  if (modes.includes(modeId)) return;
  throw invalidParams(`Unknown mode "${modeId.slice(0, 100)}": use one of ${modes.join(", ")}`, {
    modeId,
    modes,
  });
}

/** Throws -32602 for an option or a value that there is not; changes nothing. */
export async function checkConfigOption(
  chosen: Chosen,
  hermes: Hermes,
  configId: string,
  value: string | boolean,
): Promise<void> {
  const option = configOptions(chosen, hermes).find((one) => one.id === configId);
  if (!option || typeof value !== "string") throw unknownValue(configId, value, option !== undefined);
  if (configId === "model") return await checkModel(chosen, hermes, value);
  const values = option.type === "select" ? option.options.map((one) => "value" in one ? one.value : "") : [];
  if (!values.includes(value)) throw unknownValue(configId, value, true);
}

/** Throws -32602 for a model that a session could not be switched to; changes nothing. */
export async function checkModel(chosen: Chosen, hermes: Hermes, modelId: string): Promise<void> {
  const value = modelName(modelId);
  await orUnusable(modelId, hermes.models.switchTo(value, chosen.model));
}

/** Throws -32602 (`reason: "busy"` during a turn); nothing has changed then. */
export async function setModel(session: Session, modelId: string): Promise<void> {
  refuseWhileRunning(session, "model");
  const value = modelName(modelId);
  await orUnusable(modelId, session.setModel(value));
}

/** No flags of `/model`: a client's choice is for its session alone. */
function modelName(modelId: string): string {
  const value = modelId.trim();
  if (value !== "" && !/\s/.test(value)) return value;
  throw invalidParams(`Unknown model "${modelId.slice(0, 200)}"`, { configId: "model", value: modelId });
}

/** A model that cannot be used is a wrong value here, also when its key is missing; faults of ours stay ours. */
async function orUnusable(modelId: string, work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof HermesError)) throw error;
    const mapped = fromHermesError(error);
    if (mapped.code !== INVALID_PARAMS && mapped.code !== AUTH_REQUIRED) throw mapped;
    throw invalidParams(mapped.message, { configId: "model", value: modelId, ...mapped.data });
  }
}

function refuseWhileRunning(session: Session, configId: string): void {
  if (!session.running) return;
  throw invalidParams(`Cannot change ${configId} while a turn runs`, { configId, reason: "busy" });
}

/** Returns the mode that was set, when the change was one of the mode. */
export async function setConfigOption(
  session: Session,
  hermes: Hermes,
  configId: string,
  value: string | boolean,
): Promise<{ mode: string | null }> {
  if (configId === "model" && typeof value === "string") {
    await setModel(session, value);
    return { mode: null };
  }
  await checkConfigOption(session, hermes, configId, value);
  if (configId === "reasoning_effort") {
    refuseWhileRunning(session, configId);
    await session.setReasoningEffort(String(value));
    return { mode: null };
  }
  const mode = MODES.find((one) => one.policy === value)!.id;
  await session.setMode(mode);
  return { mode };
}

function unknownValue(configId: string, value: string | boolean, known: boolean) {
  const text = known
    ? `Value ${JSON.stringify(value)} is not offered for "${configId}"`
    : `Unknown config option "${configId.slice(0, 100)}"`;
  return invalidParams(text, { configId, value, reason: known ? "unknown_value" : "unknown_option" });
}
