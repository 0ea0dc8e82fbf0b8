/** `config.get` (tui-gateway.md B.14): short keys, read-only; secrets are masked by the configuration itself. */
import * as z from "zod/mini";
import type { Hermes } from "@/app/mod.ts";
import { isFastTier } from "@/core/contract.ts";
import { RpcError } from "../errors.ts";
import { customPrompt } from "../custom_prompt.ts";
import { gitBranch } from "../git_branch.ts";
import type { LiveSession } from "../live.ts";
import type { Gateway } from "../server.ts";
import { isHostKey, readHostKey } from "./config_display.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, isTruthy, method, optional } from "./define.ts";

const getParams = z.object({ key: optional(z.string()), session_id: anything, cwd: optional(z.string()) });

/** Whether a front end asks before it sends a command that `commands.catalog` calls destructive. */
export const ASKS_FIRST = "approvals.destructive_slash_confirm";

type Read = (
  hermes: Hermes,
  live: LiveSession | undefined,
  cwd: string | undefined,
) => Record<string, unknown>;

const READERS: Readonly<Record<string, Read>> = {
  full: (hermes) => ({ config: hermes.config.shown() }),
  mtime: (hermes) => ({ mtime: (hermes.platform.files.statSync(hermes.config.path)?.mtimeMs ?? 0) / 1000 }),
  provider: readProvider,
  profile: (hermes) => ({ home: hermes.home, display: shortHome(hermes) }),
  project: (hermes, live, cwd) => {
    const path = cwd ?? live?.session.cwd ?? hermes.platform.cwd();
    return { cwd: path, branch: gitBranch(hermes.platform.files, path) };
  },
  prompt: (hermes) => ({ prompt: customPrompt(hermes) }),
  personality: (hermes, live) => ({
    value: (live ? live.personality : hermes.settings().display.personality) || "none",
  }),
  reasoning: (hermes, live) => ({
    value: (live?.session.reasoningEffort ?? hermes.settings().agent.reasoning_effort) || "medium",
    display: hermes.settings().display.show_reasoning ? "show" : "hide",
  }),
  fast: (hermes, live) => ({ value: fastWord(hermes, live) }),
  busy: (hermes) => ({ value: hermes.settings().display.busy_input_mode }),
  verbose: (hermes, live) => ({ value: live?.toolProgress() ?? hermes.settings().display.tool_progress }),
  "approvals.mode": (hermes) => ({ value: hermes.settings().approvals.mode }),
  approval_mode: (hermes) => ({ value: hermes.settings().approvals.mode }),
  [ASKS_FIRST]: (hermes) => ({ value: hermes.config.get(ASKS_FIRST) === false ? "off" : "on" }),
  yolo: (hermes, live) => ({ value: isYolo(hermes, live) ? "1" : "0" }),
  model: (hermes, live) => ({ value: live?.session.model?.model ?? hermes.settings().model.default }),
  cwd: (hermes, live) => ({ value: live?.session.cwd ?? hermes.platform.cwd() }),
};

/** Whether questions are left out, in a session or by the configuration. */
function isYolo(hermes: Hermes, live: LiveSession | undefined): boolean {
  if (live) return Boolean(live.info()["yolo"]);
  return hermes.settings().approvals.mode === "off" && !isTruthy(hermes.config.env("HERMES_EXEC_ASK"));
}

export function configGetMethods(gateway: Gateway): DefinedMethod[] {
  const { hermes, live } = gateway;
  return [
    method({
      name: "config.get",
      kind: "inline",
      params: getParams,
      failCode: 5001,
      handle: (params) => {
        const key = params.key ?? "";
        const session = params.session_id === undefined || params.session_id === null
          ? undefined
          : live.require(params.session_id);
        if (isHostKey(key)) return { value: readHostKey(hermes, key) };
        if (!Object.hasOwn(READERS, key)) throw new RpcError(4002, `unknown config key: ${key || "(none)"}`);
        return READERS[key]!(hermes, session, params.cwd);
      },
    }),
  ];
}

/** Of the session, else what new ones wish for. */
export function fastWord(hermes: Hermes, live: LiveSession | undefined): "fast" | "normal" {
  const isFast = live ? live.session.fast : isFastTier(hermes.settings().agent.service_tier ?? "");
  return isFast ? "fast" : "normal";
}

function readProvider(hermes: Hermes, live: LiveSession | undefined): Record<string, unknown> {
  const current = live?.session.model ?? null;
  const known = hermes.models.known(current ?? undefined);
  return {
    model: current?.model ?? hermes.settings().model.default,
    provider: current?.provider ?? hermes.settings().model.provider,
    providers: [...new Set(known.map((entry) => entry.provider))],
  };
}

function shortHome(hermes: Hermes): string {
  const user = hermes.platform.homeDir();
  return hermes.home.startsWith(`${user}/`) ? `~${hermes.home.slice(user.length)}` : hermes.home;
}
