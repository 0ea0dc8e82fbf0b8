/**
 * A model call that a server of the outside wants (core.md G.1 `sampling`): by the model that its entry, then
 * `auxiliary.mcp`, then the session names; bounded; counted for prompt, session and day, and not made when one of
 * their limits is reached. Nothing of the session goes along. Whether it may be made is decided elsewhere.
 */
import { abortable, AbortError } from "@/lib/abort.ts";
import { auxiliaryClient } from "./auxiliary_client.ts";
import { type ReachedBudget, reachedBudget, type Spent } from "./budgets.ts";
import type { Message, Usage } from "./messages.ts";
import type { FinishReason, ModelChoice, ModelClient, Models, ResolvedModel } from "./ports_models.ts";
import type { UsageTotals } from "./ports.ts";
import type { Settings } from "./settings.ts";

export interface SampleRequest {
  /** Name of the server. */
  readonly server: string;
  /** The tool name under which rules of `policy.rules` meet it. */
  readonly tool: string;
  /** For people who are asked: what it wants, secrets still in. */
  readonly title: string;
  /** `null`: whichever model the settings name for it. */
  readonly model: ModelChoice | null;
  readonly system: string;
  readonly messages: readonly Message[];
  readonly maxTokens: number;
  readonly temperature: number | null;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface SampleAnswer {
  readonly text: string;
  readonly model: string;
  readonly finish: FinishReason;
}

/** Rejects with `AbortError` when the signal fires, else with an `Error` whose text says why there is no answer. */
export type Sampler = (request: SampleRequest) => Promise<SampleAnswer>;

export interface SamplerDeps {
  readonly models: Models;
  readonly settings: Settings;
  /** The session's model. */
  readonly model: ResolvedModel;
  readonly sessionId: string;
  readonly now: () => number;
  /** What session and day have used. */
  kept(): ReturnType<Spent["kept"]>;
  /** Called with what a call has used; gives its price in US dollars, `null` when it is unknown. */
  count(usage: Usage, model: ResolvedModel): number | null;
}

const TASK = "mcp";

/** Of one turn: its calls are added up, so that no server passes the limit of a prompt inside one tool call. */
export function createSampler(deps: SamplerDeps): Sampler {
  const { models, settings, model } = deps;
  const startedAt = deps.now();
  const used = { modelCalls: 0, tokens: 0, usd: 0 };
  const totals = (): UsageTotals => ({ ...used, seconds: (deps.now() - startedAt) / 1000 });
  const reached = (): ReachedBudget | null =>
    reachedBudget(settings.budgets, { prompt: totals(), kept: () => deps.kept() });
  return async (request) => {
    const limit = reached();
    if (limit) throw new Error(limit.text);
    const client = request.model
      ? models.client(models.resolve(request.model))
      : auxiliaryClient(models, settings, TASK) ?? models.client(model);
    used.modelCalls++;
    return await bounded(client, request, deps, (usage, of) => {
      used.tokens += usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
      used.usd += deps.count(usage, of) ?? 0;
    });
  };
}

type Count = (usage: Usage, model: ResolvedModel) => void;

async function bounded(
  client: ModelClient,
  request: SampleRequest,
  { sessionId }: SamplerDeps,
  count: Count,
): Promise<SampleAnswer> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), request.timeoutMs);
  const signal = AbortSignal.any([request.signal, limit.signal]);
  try {
    return await abortable(read(client, { ...request, signal }, sessionId, count), signal);
  } catch (error) {
    if (request.signal.aborted) throw new AbortError();
    if (limit.signal.aborted) throw new Error(`the model did not answer in ${request.timeoutMs / 1000} s`);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function read(
  client: ModelClient,
  { system, messages, maxTokens, temperature, signal }: SampleRequest,
  sessionId: string,
  count: Count,
): Promise<SampleAnswer> {
  const wish = temperature === null ? {} : { temperature };
  const request = { system, messages, tools: [], maxTokens, sessionId, ...wish };
  let text = "";
  let finish: FinishReason = "stop";
  for await (const batch of client.stream(request, { signal })) {
    for (const chunk of batch) {
      if (chunk.type === "text") text += chunk.text;
      else if (chunk.type === "error") throw new Error(chunk.failure.message);
      else if (chunk.type === "done") {
        finish = chunk.finish;
        if (chunk.usage) count(chunk.usage, client.info);
      }
    }
  }
  if (signal.aborted) throw new AbortError();
  return { text, model: client.info.model, finish };
}
