/**
 * `HERMES_DUMP_REQUESTS`: a request that has failed for good is written down for whoever looks for the reason
 * (`sessions/request_dump_*.json` in the data home, core.md D.1). Secrets are out; it costs the turn nothing.
 */
import { join } from "node:path";
import type { ModelFailure } from "./errors.ts";
import type { ModelRequest } from "./ports.ts";
import type { TurnScope } from "./turn_scope.ts";

/** Never rejects. */
export async function dumpRequest(
  request: ModelRequest,
  failure: ModelFailure,
  { platform, home, guard, sessionId, publish }: TurnScope,
): Promise<void> {
  const directory = join(home, "sessions");
  const stamp = new Date(platform.clock.now()).toISOString().replace(/[:.]/g, "-");
  const name = `request_dump_${sessionId.replace(/[^A-Za-z0-9_-]/g, "_")}_${stamp}.json`;
  const text = guard.redact(JSON.stringify({ failure, request }, null, 2), "full");
  try {
    await platform.files.mkdir(directory, { mode: 0o700 });
    await platform.files.write(join(directory, name), new TextEncoder().encode(text), { mode: 0o600 });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    publish({ type: "status", kind: "warn", text: `The failed request could not be written down: ${why}` });
  }
}
