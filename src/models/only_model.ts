/**
 * The model of an endpoint on the user's own machine or network when nobody has named one (core.md F.8): the only one
 * that it lists. Pure.
 */
import { HermesError } from "@/core/contract.ts";
import { addressOf } from "./endpoints.ts";

/** What an endpoint is known to offer. */
export interface Offered {
  readonly ids: readonly string[];
  /** Why it could not be asked, when that was tried. */
  readonly fault: string | null;
}

export const NOT_ASKED: Offered = { ids: [], fault: null };

const MAX_NAMED = 10;

/** Models that turn text into numbers answer nothing. */
function talks(id: string): boolean {
  return !/(^|[-_/:.])(embed|embedding|embeddings|rerank|reranker)($|[-_/:.])/i.test(id);
}

/** The only model; throws `invalid_model`, which names those that there are, when it cannot be told. */
export function onlyModel(provider: string, baseUrl: string, { ids, fault }: Offered): string {
  const talking = ids.filter(talks);
  const candidates = talking.length > 0 ? talking : ids;
  if (candidates.length === 1) return candidates[0]!;
  throw noModel(provider, candidates, reasonOf(addressOf(baseUrl), candidates, fault));
}

function reasonOf(address: string, ids: readonly string[], fault: string | null): string {
  if (fault !== null) return ` ${address} gave no list of its models (${fault}).`;
  if (ids.length === 0) return "";
  const rest = ids.length - MAX_NAMED;
  return ` ${address} offers ${ids.length}: ${ids.slice(0, MAX_NAMED).join(", ")}${
    rest > 0 ? ` and ${rest} more` : ""
  }.`;
}

/** The documented refusal (core.md F.2). `reason`: a sentence of its own with a blank before it, or nothing. */
export function noModel(provider: string, models: readonly string[] = [], reason = ""): HermesError {
  const advice = `set model.default, or pass --model ${provider}:<name>`;
  return new HermesError(
    "invalid_model",
    reason === ""
      ? `No model is chosen for provider "${provider}": ${advice}`
      : `No model is chosen for provider "${provider}".${reason} To choose one, ${advice}`,
    { provider, ...(models.length > 0 ? { models } : {}) },
  );
}
