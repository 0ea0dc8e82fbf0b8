/**
 * `hermes acp --check` (acp.md C1): opens what serving would open and looks at it, without a client, a provider or
 * the network. Changes nothing but what a start would (the data home and its database).
 */
import type { Hermes } from "@/app/mod.ts";
import * as z from "zod/mini";
import manifest from "../../../acp_registry/agent.json" with { type: "json" };
import { listAuthMethods } from "./auth.ts";
import { NO_CAPABILITIES } from "./connection.ts";
import { initializeResult } from "./initialize.ts";

const authMethod = z.looseObject({ id: z.string(), name: z.string() });
const initializeShape = z.looseObject({
  protocolVersion: z.literal(1),
  agentInfo: z.looseObject({ name: z.string(), title: z.string(), version: z.string() }),
  agentCapabilities: z.looseObject({
    loadSession: z.literal(true),
    promptCapabilities: z.object({ image: z.boolean(), audio: z.boolean(), embeddedContext: z.boolean() }),
    mcpCapabilities: z.object({ http: z.boolean(), sse: z.boolean() }),
    sessionCapabilities: z.looseObject({}),
  }),
  authMethods: z.array(authMethod).check(z.minLength(1)),
});

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What is wrong, one line each; empty when all is in place. */
export function checkInstallation(hermes: Hermes): string[] {
  const problems = [...hermes.config.warnings()];
  try {
    const health = hermes.store().check();
    if (health !== "ok") problems.push(`the database is damaged: ${health}`);
  } catch (error) {
    problems.push(`cannot open the database: ${reasonOf(error)}`);
  }
  try {
    const result = initializeResult(hermes, listAuthMethods(hermes, NO_CAPABILITIES));
    if (!z.safeParse(initializeShape, result).success) problems.push("the initialize result is not valid");
  } catch (error) {
    problems.push(`cannot build the initialize result: ${reasonOf(error)}`);
  }
  if (manifest.version !== hermes.version) {
    problems.push(
      `the bundled registry manifest names version ${manifest.version}, this is ${hermes.version}`,
    );
  }
  return problems;
}
