/**
 * `GET /health` and `/health/detailed` (api-server.md B9). The first touches nothing and never fails; the second
 * says per part whether it works, in counts and error names only: no paths, values or messages.
 */
import { HermesError } from "@/core/contract.ts";
import type { Front } from "../front.ts";
import type { ApiService } from "../service.ts";

interface Check {
  readonly status: "ok" | "degraded";
  readonly [detail: string]: unknown;
}

const DISK_FULL_PERCENT = 90;

export function getHealth(api: Front): Response {
  return Response.json({ status: "ok", platform: "hermes-agent", version: api.hermes.version });
}

export async function getDetailedHealth(api: ApiService): Promise<Response> {
  const { hermes, admission } = api;
  const state = admission.draining ? "draining" : "running";
  const platforms = { api_server: { state: "connected" } };
  const active = api.turns.size;
  const checks: Record<string, Check> = {
    state_db: probe(() => void hermes.store().getMeta("health")),
    response_store: checkKept(api.kept.trouble("responses")),
    run_store: checkKept(api.kept.trouble("runs")),
    config: checkConfig(api),
    model: probe(() => void hermes.models.resolve()),
    disk: await checkDisk(api),
    gateway: {
      status: admission.draining ? "degraded" : "ok",
      state,
      connected_platforms: 1,
      platforms,
    },
    background_queues: {
      status: "ok",
      active_api_runs: api.runs.live,
      process_completions: hermes.sessions.live().reduce((sum, session) => sum + session.notices, 0),
      active_delegations: hermes.sessions.delegation?.active().length ?? 0,
    },
  };
  const status = Object.values(checks).every((check) => check.status === "ok") ? "ok" : "degraded";
  return Response.json({
    status,
    readiness: { status, checks },
    platform: "hermes-agent",
    version: hermes.version,
    gateway_state: state,
    platforms,
    active_agents: active,
    gateway_busy: active > 0,
    gateway_drainable: !admission.draining,
    exit_reason: null,
    updated_at: hermes.platform.clock.now() / 1000,
    pid: hermes.platform.pid,
  });
}

function probe(run: () => void): Check {
  try {
    run();
    return { status: "ok" };
  } catch (error) {
    return { status: "degraded", detail: errorName(error) };
  }
}

/** `memory`: what comes is lost at a restart. */
function checkKept(trouble: string | null): Check {
  return trouble === null ? { status: "ok" } : { status: "degraded", detail: trouble };
}

function errorName(error: unknown): string {
  if (error instanceof HermesError) return error.code;
  return error instanceof Error ? error.name : "unknown";
}

function checkConfig(api: ApiService): Check {
  const count = api.hermes.config.warnings().length;
  return count === 0 ? { status: "ok" } : { status: "degraded", detail: `${count} warnings` };
}

async function checkDisk(api: ApiService): Promise<Check> {
  try {
    const disk = await api.options.disk?.(api.hermes.home);
    if (!disk) return { status: "ok", detail: "unknown" };
    return {
      status: disk.usedPercent >= DISK_FULL_PERCENT ? "degraded" : "ok",
      used_percent: disk.usedPercent,
      free_bytes: disk.freeBytes,
    };
  } catch (error) {
    return { status: "degraded", detail: errorName(error) };
  }
}
