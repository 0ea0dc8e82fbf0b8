/**
 * SessionInfo and Usage of tui-gateway.md B.0, built from a live session at the moment of asking. Never throws:
 * a session whose model cannot be used is described too, with the reason as a warning.
 */
import { profileOf } from "@/lib/profile.ts";
import type { Hermes } from "@/app/mod.ts";
import type { McpServerStatus, Session, Usage } from "@/core/contract.ts";
import { buildProvenance, promptTokens } from "@/core/contract.ts";
import { gitBranch } from "./git_branch.ts";
import type { SkillNames } from "./skill_index.ts";

export type WireUsage = Record<string, string | number>;

const DESKTOP_CONTRACT = 3;
/** Billionths of a dollar: sums of small prices would show their rounding errors. */
const COST_UNITS = 1e9;

/** Totals of one conversation; `context_*` is the window's fill now and left out while it is unknown. */
export function renderUsage(session: Session): WireUsage {
  const { usage, calls, contextUsed, contextMax } = session.usage();
  const wire: WireUsage = {
    ...(session.model ? { model: session.model.model } : {}),
    ...renderTokens(usage, calls),
  };
  if (calls > 0 && contextUsed > 0) {
    wire["context_used"] = contextUsed;
    if (contextMax) {
      wire["context_max"] = contextMax;
      wire["context_percent"] = Math.min(100, Math.round(contextUsed / contextMax * 100));
    }
  }
  return wire;
}

/** What the stored conversation has cost by the prices that are known; nothing when none is, or it cannot be read. */
export function renderCost(hermes: Hermes, session: Session): WireUsage {
  if (!session.stored || session.usage().calls === 0) return {};
  try {
    const { usd } = hermes.store().usageTotals(session.headId, "").session;
    return usd > 0 ? { cost_usd: Math.round(usd * COST_UNITS) / COST_UNITS, cost_status: "estimated" } : {};
  } catch (error) {
    hermes.log.debug(`cost of ${session.headId}: ${error instanceof Error ? error.message : String(error)}`);
    return {};
  }
}

/** How often the conversation was moved to a new row by a compression; 0 when that cannot be read. */
export function renderCompressions(hermes: Hermes, { id, headId }: Session): number {
  try {
    return buildProvenance(hermes.store(), { handle: id, headId }).compressionDepth;
  } catch (error) {
    hermes.log.debug(`ancestors of ${headId}: ${error instanceof Error ? error.message : String(error)}`);
    return 0;
  }
}

function renderTokens(usage: Usage, calls: number): WireUsage {
  const prompt = promptTokens(usage);
  const wire: WireUsage = {
    input: usage.input,
    output: usage.output,
    reasoning: usage.reasoning,
    prompt,
    completion: usage.output,
    total: prompt + usage.output,
    calls,
  };
  if (usage.cacheRead > 0) wire["cache_read"] = usage.cacheRead;
  if (usage.cacheWrite > 0) wire["cache_write"] = usage.cacheWrite;
  return wire;
}

/** Tool names by toolset, as the model is offered them. */
function toolsByset(hermes: Hermes, session: Session): Record<string, string[]> {
  const offered = new Set(session.toolNames());
  const sets: Record<string, string[]> = {};
  for (const tool of hermes.tools) {
    if (offered.delete(tool.name)) (sets[tool.toolset] ??= []).push(tool.name);
  }
  // What is left comes from MCP servers: `mcp__<server>__<tool>`.
  for (const name of offered) (sets[name.split("__").slice(0, 2).join("__")] ??= []).push(name);
  return sets;
}

function renderServer(server: McpServerStatus): Record<string, unknown> {
  const { name, transport, tools, connected, status, disabled } = server;
  return { name, transport, tools, connected, status, ...(disabled ? { disabled } : {}) };
}

/** What `session.create` can say before anything was looked up. */
export function renderLazyInfo(hermes: Hermes, session: Session): Record<string, unknown> {
  return {
    model: modelName(hermes, session),
    ...(session.model ? { provider: session.model.provider } : {}),
    tools: {},
    skills: {},
    cwd: session.cwd,
    branch: gitBranch(hermes.platform.files, session.cwd),
    lazy: true,
    desktop_contract: DESKTOP_CONTRACT,
    profile_name: profileOf(hermes.home),
  };
}

function modelName(hermes: Hermes, session: Session): string {
  return session.model?.model ?? hermes.settings().model.default;
}

/** What is not the session's own: whether a turn runs, and whether this process asks at all. */
export interface InfoFacts {
  readonly running: boolean;
  readonly yolo: boolean;
  readonly personality: string;
  readonly skills: SkillNames;
}

export function renderInfo(hermes: Hermes, session: Session, facts: InfoFacts): Record<string, unknown> {
  const settings = hermes.settings();
  const warnings = hermes.config.warnings();
  return {
    model: modelName(hermes, session),
    provider: session.model?.provider ?? settings.model.provider,
    reasoning_effort: session.reasoningEffort ?? settings.agent.reasoning_effort,
    service_tier: session.fast ? "priority" : "",
    fast: session.fast,
    approval_mode: settings.approvals.mode,
    yolo: facts.yolo || session.yolo || (settings.approvals.mode === "off" && !session.execAsk),
    tools: toolsByset(hermes, session),
    skills: facts.skills,
    mcp_servers: session.mcpStatus().map(renderServer),
    cwd: session.cwd,
    branch: gitBranch(hermes.platform.files, session.cwd),
    personality: facts.personality,
    title: session.title ?? "",
    profile_name: profileOf(hermes.home),
    running: facts.running,
    usage: renderUsage(session),
    version: hermes.version,
    release_date: "",
    update_behind: null,
    update_command: "",
    desktop_contract: DESKTOP_CONTRACT,
    ...(session.modelError ? { credential_warning: session.modelError.message } : {}),
    ...(warnings.length > 0 ? { config_warning: warnings.join("; ") } : {}),
  };
}
