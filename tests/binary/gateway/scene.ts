/** What most gateway tests start from: a throw-away home, a scripted model as its only provider, a running gateway. */
import type { GatewayHost } from "../../support/gateway_driver.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, type Rig } from "../../support/program.ts";

export interface Scene {
  readonly rig: Rig;
  readonly model: ModelServer;
  readonly host: GatewayHost;
}

export interface SceneOptions {
  readonly model?: ModelServerOptions;
  /** Added to the config. */
  readonly config?: Record<string, unknown>;
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  /** Before the start; what it returns is added to the environment. */
  prepare?(rig: Rig): Promise<Record<string, string>>;
}

/** Runs `test` in a fresh scene; everything is closed afterwards. */
export async function withGateway(
  options: SceneOptions,
  test: (scene: Scene) => Promise<void>,
): Promise<void> {
  await using model = await startModelServer(options.model ?? {});
  await using rig = await makeRig({ config: modelConfig(model.url, options.config) });
  const env = { ...options.env, ...await options.prepare?.(rig) };
  await using host = await startGateway({ rig, env, ...(options.args ? { args: options.args } : {}) });
  await test({ rig, model, host });
}

/** A command the guard asks about; it leaves a trace when it runs. */
export function dangerous(dir: string): string {
  return `rm -rf ${dir}`;
}

/** One model turn that calls tools, in order. */
export function toolTurn(...calls: { tool: string; args: Record<string, unknown>; id?: string }[]): {
  steps: { tool: string; args: Record<string, unknown>; id?: string }[];
} {
  return { steps: calls };
}

export function terminal(
  command: string,
  id?: string,
): { tool: string; args: { command: string }; id?: string } {
  return { tool: "terminal", args: { command }, ...(id === undefined ? {} : { id }) };
}

/** Texts of the messages that a model request carried, by role. */
// deno-lint-ignore no-explicit-any
export function sentTexts(request: any, role: string): string[] {
  // deno-lint-ignore no-explicit-any
  return request.body.messages.filter((m: any) => m.role === role).map((m: any) =>
    typeof m.content === "string" ? m.content : JSON.stringify(m.content)
  );
}

export async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch {
    return false;
  }
}
