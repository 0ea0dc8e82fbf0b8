/** What a server of the outside is told when the model gives it no answer (core.md G.1 `sampling`). */
import { createRedactor } from "@/lib/redact.ts";
import { AbortError } from "@/lib/abort.ts";
import type { SampleRequest } from "../../src/core/sampler.ts";
import { sampleFor } from "../../src/core/tool_sampling.ts";
import type { Running } from "../../src/core/tool_running.ts";
import type { TurnScope } from "../../src/core/turn_scope.ts";
import { assert, assertRejects } from "../support/assert.ts";

const KEY = "zz-secret-key-0123456789";
const REQUEST = { server: "box", tool: "mcp__box__sampling", title: "?" } as unknown as SampleRequest;

function failing(error: Error): Promise<unknown> {
  const guard = {
    redact: createRedactor({ knownSecrets: () => [KEY], enabled: true }),
    reviewCall: () => ({ type: "allow" }),
  };
  const scope = { guard, guardContext: () => ({}), sampler: () => Promise.reject(error) };
  return sampleFor({} as Running, REQUEST, scope as unknown as TurnScope);
}

Deno.test("sampleFor(): why the model failed is told without the keys that the provider repeats; a cancel stays one", async () => {
  const error = await failing(new Error(`Incorrect key: ${KEY}`)).catch((error: Error) => error) as Error;
  assert(error.message.startsWith("Incorrect key: ") && !error.message.includes(KEY), error.message);
  await assertRejects(() => failing(new AbortError()), /abort/i);
});
