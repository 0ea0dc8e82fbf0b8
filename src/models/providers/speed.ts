/** The wish for a model's fast mode in the wires' own words (core.md F.10), and what an answer says of it. */
import type { ModelRequest, ResolvedModel, Usage } from "@/core/contract.ts";

function isWanted(request: ModelRequest, model: ResolvedModel): boolean {
  return request.fast === true && model.fastFactor !== undefined;
}

/** Of the wires of OpenAI. */
export function tierFields(request: ModelRequest, model: ResolvedModel): Record<string, unknown> {
  return isWanted(request, model) ? { service_tier: "priority" } : {};
}

/** Of the Messages wire; the sender names the beta. */
export function speedFields(request: ModelRequest, model: ResolvedModel): Record<string, unknown> {
  return isWanted(request, model) ? { speed: "fast" } : {};
}

/** `served`: `service_tier` or `speed` of the answer. */
export function withSpeed(usage: Usage, served: unknown): Usage {
  return served === "priority" || served === "fast" ? { ...usage, fast: true } : usage;
}
