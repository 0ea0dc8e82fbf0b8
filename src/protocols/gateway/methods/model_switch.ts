/** `/model` for this wire: one function behind `config.set model`, `command.dispatch` and `slash.exec` (D.3). */
import type { SwitchResult } from "@/core/contract.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import type { Gateway } from "../server.ts";

export interface Switched extends SwitchResult {
  /** Set: nothing has changed yet; the price has to be accepted first (D.3). */
  readonly question: string | null;
}

/**
 * Switches a session's model, or, without a session, the one in the configuration. Throws 4009 while a turn runs,
 * 5001 when the choice cannot work; then nothing has changed.
 */
export async function switchModel(
  gateway: Gateway,
  live: LiveSession | undefined,
  argument: string,
  options: { readonly confirmed: boolean; readonly signal: AbortSignal },
): Promise<Switched> {
  if (live?.running) {
    throw new RpcError(4009, "session busy: the model can be changed when the turn has ended");
  }
  const wanted = normaliseDashes(argument);
  const { models, config } = gateway.hermes;
  const { confirmed, signal } = options;
  // What is looked up here is kept, so that asking first costs no second round.
  const found = await models.switchTo(wanted, live?.session.model ?? null, { signal });
  if (found.confirmRequired && !confirmed) return { ...found, question: questionFor(found) };
  if (live) return { ...await live.session.setModel(wanted, { signal }), question: null };
  await config.write(["model", "default"], found.model.model);
  await config.write(["model", "provider"], found.model.provider);
  await config.write(["model", "base_url"], found.model.baseUrl || undefined);
  return { ...found, global: true, question: null };
}

function questionFor({ model, warning }: SwitchResult): string {
  return `${warning ?? "This model is expensive."} Switch to ${model.model} all the same?`;
}

/** Editors turn `--` into one long dash; before a flag it is meant as two. */
function normaliseDashes(argument: string): string {
  return argument.replace(/(^|\s)[\u2012-\u2015](?=[a-z])/g, "$1--");
}
