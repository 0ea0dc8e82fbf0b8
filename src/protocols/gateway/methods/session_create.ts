/** `session.create` (tui-gateway.md B.1): what a new session starts with, and where. */
import { resolve } from "node:path";
import type { CreateOptions, Message } from "@/core/contract.ts";
import * as s from "@/lib/shape.ts";
import { RpcError } from "../errors.ts";
import { renderLazyInfo } from "../info.ts";
import { launchModel } from "../launch.ts";
import type { LiveSession } from "../live.ts";
import type { Client } from "../peer.ts";
import { Reply } from "../peer.ts";
import { renderSlowly } from "../projection.ts";
import type { Gateway } from "../server.ts";
import { isTruthy } from "../truthy.ts";
import type { DefinedMethod } from "./define.ts";
import { runnable } from "./runner.ts";

export const EFFORTS: readonly string[] = [
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
  "ultra",
];

const text = s.optional(s.text);

export const createParams = s.object({
  cols: s.optional(s.number),
  cwd: text,
  title: text,
  messages: s.optional(s.list(s.anything)),
  parent_session_id: text,
  model: text,
  provider: text,
  reasoning_effort: text,
  fast: s.anything,
  source: text,
  close_on_disconnect: s.anything,
});

type Present<T> = { readonly [K in keyof T]?: Exclude<T[K], null> };
type CreateParams = Present<s.TypeOf<typeof createParams>>;

/** The first method of most conversations: checked without the schema library, which would take longer than it. */
export function createMethod(gateway: Gateway): DefinedMethod {
  return {
    ...runnable<CreateParams>({
      name: "session.create",
      kind: "inline",
      failCode: 5000,
      read: readCreateParams,
      handle: (params, { client }) => createSession(gateway, params, client),
    }),
    params: createParams,
  };
}

/** `null` counts as absent. Throws -32602. */
function readCreateParams(params: Readonly<Record<string, unknown>>): CreateParams {
  const issue = s.findIssues(createParams, params)[0];
  if (issue) throw new RpcError(-32602, `invalid params: ${issue.path} ${issue.message}`);
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null));
}

/** `session.create`: a live session; nothing is stored before its first prompt or title. */
async function createSession(gateway: Gateway, params: CreateParams, client: Client): Promise<Reply> {
  const { hermes } = gateway;
  const live = await openNew(gateway, params, client);
  const messages = await renderSlowly(hermes, live.session.history(), live.session.cwd);
  const result = {
    session_id: live.sid,
    stored_session_id: live.session.headId,
    message_count: messages.length,
    messages,
    info: renderLazyInfo(hermes, live.session),
  };
  return new Reply(result, () => announce(live));
}

/** A new live session for this client. Throws 4007, 4017, 4090. */
export async function openNew(
  gateway: Gateway,
  params: CreateParams,
  client: Client,
): Promise<LiveSession> {
  const { hermes, live: sessions } = gateway;
  const cwd = params.cwd === undefined ? await fallbackCwd(gateway) : await usableCwd(gateway, params.cwd);
  checkParent(gateway, params.parent_session_id);
  return await sessions.withPlace(async () => {
    const session = await hermes.sessions.create(createOptions(gateway, params, cwd));
    return sessions.attach(session, {
      client,
      cols: params.cols ?? 80,
      closeOnDisconnect: isTruthy(params.close_on_disconnect),
      ...(params.title?.trim() ? { title: params.title } : {}),
    });
  });
}

/**
 * The first events of a session: what it can do, or why it cannot do anything yet. What background work has left for
 * it comes behind them.
 */
export function announce(live: LiveSession): void {
  const { modelError } = live.session;
  if (modelError) {
    live.emit("error", { message: `agent init failed: ${modelError.message}` });
    live.build().catch((error) => live.onFault("build", error));
    return live.later.offer();
  }
  live.emitFirstInfo().then(() => live.session.closed ? undefined : live.later.offer())
    .catch((error) => live.onFault("session.info", error));
}

function createOptions(gateway: Gateway, params: CreateParams, cwd: string): CreateOptions {
  const { model, provider, reasoning_effort: effort } = params;
  const launched = model || provider ? null : launchModel(gateway.hermes);
  const history = seedHistory(params.messages ?? []);
  return {
    source: params.source?.trim() || gateway.source,
    surface: "tui",
    editPolicy: null,
    cwd,
    ...(model || provider
      ? { model: { ...(model ? { model } : {}), ...(provider ? { provider } : {}) } }
      : launched
      ? { model: launched }
      : {}),
    ...(effort && EFFORTS.includes(effort) ? { reasoningEffort: effort } : {}),
    ...(params.fast === undefined ? {} : { fast: isTruthy(params.fast) }),
    ...(params.parent_session_id === undefined ? {} : { parentId: params.parent_session_id }),
    ...(history.length === 0 ? {} : { history }),
  };
}

function checkParent(gateway: Gateway, parent: string | undefined): void {
  if (parent === undefined || gateway.hermes.store().getSession(parent)) return;
  throw new RpcError(4007, `Parent session "${parent}" does not exist`);
}

/** Rows that are no messages are skipped, as the contract says. */
function seedHistory(rows: readonly unknown[]): Message[] {
  return rows.flatMap((row): Message[] => {
    if (typeof row !== "object" || row === null) return [];
    const { role, content, text, display_kind } = row as Record<string, unknown>;
    const said = typeof content === "string" ? content : text;
    if (typeof said !== "string") return [];
    const hidden = display_kind === "hidden" ? { displayKind: "hidden" } : {};
    if (role === "user" || role === "assistant") return [{ role, content: said, ...hidden }];
    if (role !== "system") return [];
    return [{
      role: "user",
      content: `[System: ${said}]`,
      displayText: said,
      displayKind: "system",
      ...hidden,
    }];
  });
}

/** Absolute path of an existing directory. Throws 4017. */
export async function usableCwd(gateway: Gateway, cwd: string): Promise<string> {
  const { platform } = gateway.hermes;
  const path = resolve(platform.cwd(), cwd);
  const stat = cwd.trim() === "" ? null : await platform.files.stat(path).catch(() => null);
  if (!stat?.isDirectory) {
    throw new RpcError(4017, `Cannot use "${cwd}" as working directory: not a directory`);
  }
  return path;
}

async function fallbackCwd(gateway: Gateway): Promise<string> {
  const { hermes } = gateway;
  const candidates = [hermes.settings().terminal.cwd, hermes.config.env("TERMINAL_CWD")];
  for (const candidate of candidates) {
    if (!candidate || candidate === ".") continue;
    const usable = await usableCwd(gateway, candidate).catch(() => null);
    if (usable !== null) return usable;
  }
  return hermes.platform.cwd();
}
