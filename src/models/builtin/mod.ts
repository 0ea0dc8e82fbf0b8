/** The two built-in models (spec: embedded default): the demo and the scripted one. */
import type { ModelClient } from "@/core/contract.ts";
import { DemoClient } from "./demo_client.ts";
import { ScriptClient, type ScriptClientOptions } from "./script_client.ts";

export function createBuiltin(options: ScriptClientOptions): ModelClient {
  return options.info.isDemo ? new DemoClient(options.info, options.platform) : new ScriptClient(options);
}
