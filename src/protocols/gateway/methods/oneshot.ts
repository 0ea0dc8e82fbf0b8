/**
 * `llm.oneshot` (tui-gateway.md B.18): one completion for a host's own chores, outside every conversation. It is asked
 * of the session's model, or without a session of the one that `auxiliary.<task>` names; nothing is stored but its cost.
 */
import * as z from "zod/mini";
import { HermesError } from "@/core/contract.ts";
import type { ModelClient, ModelRequest, ResolvedModel, Usage } from "@/core/contract.ts";
import { auxiliaryClient, localDay, reachedBudget } from "@/core/mod.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import { fillTemplate } from "../oneshot_templates.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, method, optional } from "./define.ts";

const TASK = "title_generation";
const MAX_TOKENS = 1_024;
const TEMPERATURE = 0.3;
const PLAIN = "Answer with what is asked for and nothing else.";
const NOTHING = { modelCalls: 0, tokens: 0, usd: 0, seconds: 0 };

const text = optional(z.string());
const params = z.object({
  session_id: anything,
  /** A named one, filled with `variables`; else `instructions` and `input`, or one of them. */
  template: text,
  variables: anything,
  instructions: text,
  input: text,
  /** Section of `auxiliary` whose model is asked where no session is named. */
  task: text,
  max_tokens: optional(z.int().check(z.gt(0))),
  temperature: optional(z.number().check(z.gte(0), z.lte(2))),
});
type Params = z.output<typeof params>;

export function oneshotMethods(gateway: Gateway): DefinedMethod[] {
  return [
    method({
      name: "llm.oneshot",
      kind: "worker",
      params,
      failCode: 5030,
      handle: (given, { signal }) => ask(gateway, given, signal),
    }),
  ];
}

async function ask(gateway: Gateway, given: Params, signal: AbortSignal): Promise<Record<string, unknown>> {
  const { hermes } = gateway;
  const { system, input } = promptOf(given);
  const live = (given.session_id ?? null) === null ? null : gateway.live.require(given.session_id);
  const client = clientOf(gateway, live, given.task?.trim() || TASK);
  refuseOverBudget(gateway, live);
  const done = await complete(client, {
    system,
    messages: [{ role: "user", content: input }],
    tools: [],
    maxTokens: given.max_tokens ?? MAX_TOKENS,
    temperature: given.temperature ?? TEMPERATURE,
    sessionId: live?.session.id ?? "oneshot",
  }, signal);
  const { model, provider } = client.info;
  if (done.usage) await count(gateway, live, done.usage, client.info);
  const answer = hermes.redact(done.text, "terminal").trim();
  if (done.failure !== null) throw new RpcError(5030, hermes.redact(done.failure));
  if (answer === "") throw new RpcError(5030, `${model} gave no answer`);
  return { text: answer, model, provider };
}

/** Throws 4030, 4031, 4032. */
function promptOf({ template, variables, instructions, input }: Params): { system: string; input: string } {
  if (template?.trim()) return fillTemplate(template.trim(), variables);
  const [first = "", second = ""] = [instructions?.trim(), input?.trim()];
  if (first === "" && second === "") throw new RpcError(4030, "template, instructions or input is required");
  return first === "" || second === ""
    ? { system: PLAIN, input: first || second }
    : { system: first, input: second };
}

/** Throws 5030 where no model can be used; the text says what to do. */
function clientOf({ hermes }: Gateway, live: LiveSession | null, task: string): ModelClient {
  const { models } = hermes;
  if (live !== null) {
    const { model, modelError } = live.session;
    if (model === null) throw new RpcError(5030, modelError?.message ?? "No model can be used");
    return models.client(model);
  }
  try {
    return auxiliaryClient(models, hermes.settings(), task) ?? models.client(models.resolve());
  } catch (error) {
    throw error instanceof HermesError ? new RpcError(5030, error.message) : error;
  }
}

interface Completion {
  readonly text: string;
  readonly usage: Usage | null;
  /** For people. */
  readonly failure: string | null;
}

async function complete(
  client: ModelClient,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Completion> {
  let text = "";
  for await (const batch of client.stream(request, { signal })) {
    for (const chunk of batch) {
      if (chunk.type === "text") text += chunk.text;
      else if (chunk.type === "error") return { text, usage: null, failure: chunk.failure.message };
      else if (chunk.type === "done") {
        const failure = chunk.finish === "content_filter" ? "The provider's filter refused the answer" : null;
        return { text, usage: chunk.usage, failure };
      }
    }
  }
  return { text, usage: null, failure: "The request was stopped" };
}

// ── What it costs ───────────────────────────────────────────────────────────────────────────────────────────

/** What may not be spent on turns is not spent here either. Throws 5030. */
function refuseOverBudget({ hermes }: Gateway, live: LiveSession | null): void {
  const day = localDay(hermes.platform.clock.now());
  const reached = reachedBudget(hermes.settings().budgets, {
    prompt: NOTHING,
    kept: () => hermes.store().usageTotals(live?.session.headId ?? "", day),
  });
  if (reached) throw new RpcError(5030, reached.text);
}

async function count(
  { hermes }: Gateway,
  live: LiveSession | null,
  usage: Usage,
  model: ResolvedModel,
): Promise<void> {
  const cost = hermes.models.estimateCost(usage, model);
  const day = localDay(hermes.platform.clock.now());
  const id = live?.session.stored ? live.session.headId : null;
  try {
    await hermes.store().addUsage(id, usage, model, { ...cost, day, seconds: 0 });
  } catch (error) {
    // The answer is there: a store that is locked does not take it away.
    hermes.log.warn(`llm.oneshot: its cost was not kept: ${String(error)}`);
  }
}
