/** `/model` for this wire: one function behind `config.set model`, `command.dispatch` and `slash.exec` (D.3). */
import type { SwitchResult } from "@/core/contract.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import type { Gateway } from "../server.ts";

/**
 * Switches a session's model, or, without a session, the one in the configuration. Throws 4009 while a turn runs,
 * 5001 when the choice cannot work; then nothing has changed.
 */
export async function switchModel(
  gateway: Gateway,
  live: LiveSession | undefined,
  argument: string,
  signal: AbortSignal,
): Promise<SwitchResult> {
  if (live?.busy) throw new RpcError(4009, "session busy: the model can be changed when the turn has ended");
  const wanted = normaliseDashes(argument);
  if (live) return await live.session.setModel(wanted, { signal });
  const { models, config } = gateway.hermes;
  const result = await models.switchTo(wanted, null, { signal });
  await config.write(["model", "default"], result.model.model);
  await config.write(["model", "provider"], result.model.provider);
  await config.write(["model", "base_url"], result.model.baseUrl || undefined);
  return { ...result, global: true };
}

/** Editors turn `--` into one long dash; before a flag it is meant as two. */
function normaliseDashes(argument: string): string {
  return argument.replace(/(^|\s)[\u2012-\u2015](?=[a-z])/g, "$1--");
}
