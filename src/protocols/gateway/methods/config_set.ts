/**
 * `config.set` (tui-gateway.md B.14): short keys with effects. A key of a session changes that session; the file is
 * written only where the contract says so. A refused value changes nothing.
 */
import * as z from "zod/mini";
import type { Hermes } from "@/app/mod.ts";
import type { ResolvedModel } from "@/core/contract.ts";
import { HermesError } from "@/core/contract.ts";
import { customPrompt } from "../custom_prompt.ts";
import { RpcError } from "../errors.ts";
import { eventFrame } from "../frame.ts";
import { gitBranch } from "../git_branch.ts";
import type { LiveSession } from "../live.ts";
import type { Client } from "../peer.ts";
import { DEFAULT_SKIN } from "../ready.ts";
import type { Gateway } from "../server.ts";
import { isHostKey, writeHostKey } from "./config_display.ts";
import { ASKS_FIRST, fastWord } from "./config_get.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, isTruthy, method, optional } from "./define.ts";
import { switchModel } from "./model_switch.ts";
import { EFFORTS, usableCwd } from "./session_create.ts";

const setParams = z.object({
  key: optional(z.string()),
  value: z.optional(z.nullable(z.union([z.string(), z.boolean(), z.number()]))),
  session_id: anything,
  scope: optional(z.string()),
  confirm_expensive_model: anything,
});

export interface SetCall {
  readonly gateway: Gateway;
  readonly live: LiveSession | undefined;
  /** The value as text, trimmed. */
  readonly value: string;
  readonly scope: string | undefined;
  /** The price of a model was shown and accepted. */
  readonly confirmed?: boolean;
  readonly signal: AbortSignal;
}

type Write = (call: SetCall) => Promise<Record<string, unknown>>;

const WRITERS: Readonly<Record<string, Write>> = {
  model: setModel,
  busy: setBusy,
  verbose: setVerbose,
  reasoning: setReasoning,
  "approvals.mode": setApprovalMode,
  [ASKS_FIRST]: setAsksFirst,
  yolo: setYolo,
  cwd: setCwd,
  fast: setFast,
  personality: setPersonality,
  prompt: setPrompt,
};

const SAME_KEY: Readonly<Record<string, string>> = {
  approval_mode: "approvals.mode",
  "terminal.cwd": "cwd",
  workdir: "cwd",
};

export function configSetMethods(gateway: Gateway): DefinedMethod[] {
  return [
    method({
      name: "config.set",
      kind: (params) => params["key"] === "model" ? "worker" : "inline",
      params: setParams,
      failCode: 5001,
      handle: async (params, { client, signal }) => {
        const asked = params.key ?? "";
        const key = Object.hasOwn(SAME_KEY, asked) ? SAME_KEY[asked]! : asked;
        if (isHostKey(key)) return await setHostKey(gateway, client, key, String(params.value ?? "").trim());
        if (!Object.hasOwn(WRITERS, key)) {
          throw new RpcError(4002, `unknown config key: ${asked || "(none)"}`);
        }
        const live = params.session_id === undefined || params.session_id === null
          ? undefined
          : gateway.live.require(params.session_id);
        const value = String(params.value ?? "").trim();
        const confirmed = isTruthy(params.confirm_expensive_model);
        const call = { gateway, live, value, scope: params.scope, confirmed, signal };
        return { key: asked, ...await writeSetting(call, key) };
      },
    }),
  ];
}

/** The value in force under `value`, and what the key has to say beside it. `key` is one of the table. */
export function writeSetting(call: SetCall, key: string): Promise<Record<string, unknown>> {
  return WRITERS[key]!(call);
}

function badValue(key: string, value: string, allowed: readonly string[]): RpcError {
  return new RpcError(4002, `unknown value for ${key}: "${value}"; use ${allowed.join(", ")}`);
}

async function setModel(
  { gateway, live, value, confirmed, signal }: SetCall,
): Promise<Record<string, unknown>> {
  if (value === "") throw new RpcError(4002, "model is required");
  const done = await switchModel(gateway, live, value, { confirmed: confirmed ?? false, signal });
  return {
    value: done.model.model,
    provider: done.model.provider,
    scope: done.global ? "global" : "session",
    warning: done.warning ?? "",
    confirm_required: done.question !== null,
    confirm_message: done.question ?? "",
  };
}

async function setHostKey(
  { hermes }: Gateway,
  client: Client,
  key: string,
  value: string,
): Promise<Record<string, unknown>> {
  const inForce = await writeHostKey(hermes, key, value);
  if (key === "skin" && value !== "") {
    client.send(eventFrame({ type: "skin.changed", session_id: "", payload: DEFAULT_SKIN }));
  }
  return { key, value: inForce };
}

/** From the next turn on, in every session. An empty value reads. */
async function setPrompt({ gateway, value }: SetCall): Promise<Record<string, unknown>> {
  const { hermes } = gateway;
  if (value !== "") await hermes.config.write(["gateway", "prompt"], value === "clear" ? undefined : value);
  return { value: customPrompt(hermes) };
}

const BUSY_MODES = ["interrupt", "queue", "steer"] as const;

async function setBusy({ gateway, value }: SetCall): Promise<Record<string, unknown>> {
  const { config } = gateway.hermes;
  if (value === "" || value === "status") return { value: config.settings().display.busy_input_mode };
  if (!BUSY_MODES.some((mode) => mode === value)) throw badValue("busy", value, BUSY_MODES);
  await config.write(["display", "busy_input_mode"], value);
  return { value };
}

const PROGRESS_MODES = ["off", "new", "all", "verbose"] as const;

async function setVerbose({ gateway, live, value }: SetCall): Promise<Record<string, unknown>> {
  const { config } = gateway.hermes;
  const current = live?.toolProgress() ?? config.settings().display.tool_progress;
  const at = PROGRESS_MODES.findIndex((mode) => mode === current);
  const next = value === "" || value === "cycle" ? PROGRESS_MODES[(at + 1) % PROGRESS_MODES.length]! : value;
  if (!PROGRESS_MODES.some((mode) => mode === next)) throw badValue("verbose", value, PROGRESS_MODES);
  await config.write(["display", "tool_progress"], next);
  live?.setToolProgress(next);
  return { value: next };
}

/** How much of the model's thinking a host shows, by every word for it. */
const SHOWN: Readonly<Record<string, "show" | "hide" | "full" | "clamp">> = {
  show: "show",
  on: "show",
  hide: "hide",
  off: "hide",
  full: "full",
  all: "full",
  clamp: "clamp",
  collapse: "clamp",
  short: "clamp",
};

async function setReasoning({ gateway, live, value }: SetCall): Promise<Record<string, unknown>> {
  const { config } = gateway.hermes;
  const word = value.toLowerCase();
  const shown = Object.hasOwn(SHOWN, word) ? SHOWN[word]! : null;
  if (shown !== null) {
    await config.write(["display", "show_reasoning"], shown !== "hide");
    if (shown === "full") await writeHostKey(gateway.hermes, "thinking_mode", "full");
    if (shown === "clamp") await writeHostKey(gateway.hermes, "thinking_mode", "truncated");
    live?.emitInfo();
    return { value: shown };
  }
  if (!EFFORTS.includes(word)) {
    throw badValue("reasoning", value, [...EFFORTS, "show", "hide", "full", "clamp"]);
  }
  if (live) await live.session.setReasoningEffort(word);
  else await config.write(["agent", "reasoning_effort"], word);
  return { value: word };
}

const APPROVAL_MODES = ["manual", "smart", "off"] as const;

async function setApprovalMode({ gateway, value }: SetCall): Promise<Record<string, unknown>> {
  if (!APPROVAL_MODES.some((mode) => mode === value)) throw badValue("approvals.mode", value, APPROVAL_MODES);
  await writeApprovalMode(gateway, value);
  return { value };
}

/** Every session shows what is in force. */
async function writeApprovalMode(gateway: Gateway, mode: string): Promise<void> {
  await gateway.hermes.config.write(["approvals", "mode"], mode);
  for (const live of gateway.live.all()) live.emitInfo();
}

const YES = ["1", "true", "yes", "on"];
const NO = ["0", "false", "no", "off"];

/** What a host writes when its user wants to be asked no more. An empty value reads. */
async function setAsksFirst({ gateway, value }: SetCall): Promise<Record<string, unknown>> {
  const { config } = gateway.hermes;
  const word = value.toLowerCase();
  if (word === "") return { value: config.get(ASKS_FIRST) === false ? "off" : "on" };
  const on = YES.includes(word);
  if (!on && !NO.includes(word)) throw badValue(ASKS_FIRST, value, ["on", "off"]);
  await config.write(ASKS_FIRST.split("."), on);
  return { value: on ? "on" : "off" };
}

async function setYolo({ gateway, live, value, scope }: SetCall): Promise<Record<string, unknown>> {
  const global = scope === "global";
  if (scope !== undefined && scope !== "session" && !global) {
    throw badValue("scope", scope, ["session", "global"]);
  }
  if (!global && !live) throw new RpcError(4001, "session not found: yolo of a session needs its session_id");
  const word = value.toLowerCase();
  const current = global ? gateway.hermes.settings().approvals.mode === "off" : live!.session.yolo;
  const on = YES.includes(word) ? true : NO.includes(word) ? false : !current;
  if (global) await writeApprovalMode(gateway, on ? "off" : "manual");
  else live!.session.setYolo(on);
  const inForce = (on && !gateway.execAsk) || gateway.yolo;
  return { value: inForce ? "1" : "0", scope: global ? "global" : "session" };
}

async function setCwd({ gateway, live, value }: SetCall): Promise<Record<string, unknown>> {
  if (value === "") throw new RpcError(4016, "cwd is required");
  const path = await usableCwd(gateway, value);
  if (live?.running) {
    throw new RpcError(4009, "session busy: the directory can be changed when the turn has ended");
  }
  if (live) await live.session.setCwd(path);
  else await gateway.hermes.config.write(["terminal", "cwd"], path);
  return {
    key: "terminal.cwd",
    value: path,
    cwd: path,
    branch: gitBranch(gateway.hermes.platform.files, path),
  };
}

/** A session's own; without one, the configuration's. An empty value reads. */
async function setPersonality({ gateway, live, value }: SetCall): Promise<Record<string, unknown>> {
  const { config } = gateway.hermes;
  const inForce = () => (live ? live.personality : config.settings().display.personality) || "none";
  if (value === "") return { value: inForce(), history_reset: false };
  const { findPersonality, personalityNames } = await import("@/core/mod.ts");
  const name = findPersonality(value, config.settings());
  if (name === null) {
    const known = ["none", ...personalityNames(config.settings())].join(", ");
    throw new RpcError(5001, `unknown personality "${value}"; known: ${known}`);
  }
  if (live?.running) {
    throw new RpcError(4009, "session busy: the personality can be changed when the turn has ended");
  }
  const kept = name === "none" ? "" : name;
  if (!live) await config.write(["display", "personality"], kept);
  else live.setPersonality(kept);
  return { value: inForce(), history_reset: false, ...(live ? { info: live.info() } : {}) };
}

const FAST_WORDS: Readonly<Record<string, boolean>> = { fast: true, on: true, normal: false, off: false };

/** A session's own; without one, what new sessions wish for. Throws 4002 where the model has no fast mode. */
async function setFast({ gateway, live, value }: SetCall): Promise<Record<string, unknown>> {
  const { hermes } = gateway;
  const word = value.toLowerCase();
  const current = fastWord(hermes, live);
  if (word === "status") return { value: current };
  const toggles = word === "" || word === "toggle";
  if (!toggles && !Object.hasOwn(FAST_WORDS, word)) {
    throw badValue("fast", value, [...Object.keys(FAST_WORDS), "toggle", "status"]);
  }
  const on = toggles ? current === "normal" : FAST_WORDS[word]!;
  const model = live ? live.session.model : defaultModel(hermes);
  if (on && model?.fastFactor === undefined) {
    throw new RpcError(4002, `the model ${model?.model ?? "(none)"} has no fast mode`);
  }
  if (live) await live.session.setFast(on);
  else await hermes.config.write(["agent", "service_tier"], on ? "priority" : undefined);
  return { value: fastWord(hermes, live) };
}

function defaultModel({ models }: Hermes): ResolvedModel | null {
  try {
    return models.resolve();
  } catch (error) {
    if (error instanceof HermesError) return null;
    throw error;
  }
}
