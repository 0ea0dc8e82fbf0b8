/** `session.create` (tui-gateway.md B.1): what a new session starts with, and where. */
import { resolve } from "node:path";
import * as z from "zod/mini";
import type { CreateOptions, Message } from "@/core/contract.ts";
import { RpcError } from "../errors.ts";
import { renderLazyInfo } from "../info.ts";
import type { LiveSession } from "../live.ts";
import type { Client } from "../peer.ts";
import { Reply } from "../peer.ts";
import { renderTranscript } from "../projection.ts";
import type { Gateway } from "../server.ts";
import { anything, isTruthy, optional } from "./define.ts";

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

const text = optional(z.string());

export const createParams = z.object({
  cols: optional(z.number()),
  cwd: text,
  title: text,
  messages: optional(z.array(z.unknown())),
  parent_session_id: text,
  model: text,
  provider: text,
  reasoning_effort: text,
  source: text,
  close_on_disconnect: anything,
});

type CreateParams = z.output<typeof createParams>;

/** `session.create`: a live session; nothing is stored before its first prompt or title. */
export async function createSession(gateway: Gateway, params: CreateParams, client: Client): Promise<Reply> {
  const { hermes } = gateway;
  const live = await openNew(gateway, params, client);
  const messages = renderTranscript(hermes, live.session.history(), live.session.cwd);
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
  params: Partial<CreateParams>,
  client: Client,
): Promise<LiveSession> {
  const { hermes, live: sessions } = gateway;
  const cwd = params.cwd === undefined ? await fallbackCwd(gateway) : await usableCwd(gateway, params.cwd);
  checkParent(gateway, params.parent_session_id);
  return await sessions.withPlace(async () => {
    const session = await hermes.sessions.create(createOptions(params, cwd));
    return sessions.attach(session, {
      client,
      cols: params.cols ?? 80,
      closeOnDisconnect: isTruthy(params.close_on_disconnect),
      ...(params.title?.trim() ? { title: params.title } : {}),
    });
  });
}

/** The first events of a session: what it can do, or why it cannot do anything yet. */
export function announce(live: LiveSession): void {
  const { modelError } = live.session;
  if (modelError) live.emit("error", { message: `agent init failed: ${modelError.message}` });
  else live.emitInfo();
}

function createOptions(params: Partial<CreateParams>, cwd: string): CreateOptions {
  const { model, provider, reasoning_effort: effort } = params;
  const history = seedHistory(params.messages ?? []);
  return {
    source: params.source?.trim() || "tui",
    surface: "tui",
    editPolicy: null,
    cwd,
    ...(model || provider
      ? { model: { ...(model ? { model } : {}), ...(provider ? { provider } : {}) } }
      : {}),
    ...(effort && EFFORTS.includes(effort) ? { reasoningEffort: effort } : {}),
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
