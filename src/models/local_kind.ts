/** Tells Ollama and LM Studio from other servers of the user's own, without asking them (core.md F.8). */
import { isConfigured } from "./credentials.ts";
import { hostOf, isLocalEndpoint } from "./endpoints.ts";
import type { ResolveContext, Target } from "./resolve_types.ts";
import type { LocalKind } from "./runtime.ts";

const OLLAMA_PORT = "11434";
const LM_STUDIO_PORT = "1234";

export function localKindOf(target: Target, context: ResolveContext): LocalKind | null {
  const { baseUrl, row } = target;
  if (!isLocalEndpoint(baseUrl)) return null;
  const { port } = new URL(baseUrl);
  if (row?.id === "lmstudio" || port === LM_STUDIO_PORT) return "lmstudio";
  return isOllama(target, port, context) ? "ollama" : null;
}

function isOllama(target: Target, port: string, context: ResolveContext): boolean {
  const { settings, env } = context;
  if (port === OLLAMA_PORT || hostOf(target.baseUrl).includes("ollama")) return true;
  if (target.user?.name.includes("ollama")) return true;
  const isNamed = settings.model.provider.trim().toLowerCase() === "ollama";
  if (isNamed && isConfigured(target, context)) return true;
  const host = env("OLLAMA_HOST");
  return host !== undefined && port !== "" && new RegExp(`:${port}(/|$)`).test(host.trim());
}
