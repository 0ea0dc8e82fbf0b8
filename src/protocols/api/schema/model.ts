/** The body fields that choose a model for one request (api-server.md D3), the same on every turn-starting route. */
import { isFastTier } from "@/core/contract.ts";
import { isObject, type JsonObject, readBool, readId } from "../body.ts";

export interface ModelFields {
  /** As sent; empty when absent or unusable. */
  readonly model: string;
  readonly provider: string;
  readonly reasoningEffort?: string;
  /** The fast mode, wished for or not; absent: as the session has it. */
  readonly fast?: boolean;
  /** The options that ask for it, which have no effect on a model without one. */
  readonly fastOptions: readonly string[];
}

const EFFORTS = new Set(["none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"]);
const MAX_MODEL_ID = 200;
const MAX_PROVIDER_ID = 80;

export function readModelFields(body: JsonObject): ModelFields {
  const options = isObject(body.model_options) ? body.model_options : {};
  const effort = readEffort(options) ?? knownEffort(body.reasoning_effort);
  const tier = typeof options.service_tier === "string" ? options.service_tier : null;
  const isFast = readBool(options.fast, false);
  const fastOptions: string[] = [];
  if (tier !== null) fastOptions.push("model_options.service_tier");
  if (isFast) fastOptions.push("model_options.fast");
  return {
    model: readId(body.model, MAX_MODEL_ID),
    provider: readId(body.provider, MAX_PROVIDER_ID),
    ...(effort === undefined ? {} : { reasoningEffort: effort }),
    ...(fastOptions.length === 0 ? {} : { fast: isFast || isFastTier(tier ?? "") }),
    fastOptions,
  };
}

function readEffort(options: JsonObject): string | undefined {
  const direct = knownEffort(options.reasoning_effort);
  if (direct !== undefined) return direct;
  if (!isObject(options.reasoning)) return undefined;
  if (!readBool(options.reasoning.enabled, true)) return "none";
  return knownEffort(options.reasoning.effort);
}

function knownEffort(value: unknown): string | undefined {
  const effort = typeof value === "string" ? value.trim().toLowerCase() : "";
  return EFFORTS.has(effort) ? effort : undefined;
}
