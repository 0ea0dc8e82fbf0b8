/**
 * `rollback.list/diff/restore` (tui-gateway.md B.17): the turns of a session that changed files, and the way back to
 * before one of them. All or nothing: a file that somebody else has changed since stops the restore. The conversation
 * is not touched (`history_removed` is 0); a rewind with `restore_files` takes back both.
 */
import { resolve } from "node:path";
import * as z from "zod/mini";
import type { Checkpoint, FileDifference, FileRestore } from "@/core/contract.ts";
import { findCheckpoint } from "@/core/contract.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, method, optional } from "./define.ts";

const MAX_DIFF = 4_000;
const MAX_MESSAGE = 200;

const target = z.object({
  session_id: anything,
  hash: optional(z.union([z.string(), z.number()])),
  file_path: optional(z.string()),
});

type Target = z.output<typeof target>;

export function rollbackMethods(gateway: Gateway): DefinedMethod[] {
  const { live: sessions } = gateway;
  return [
    method({
      name: "rollback.list",
      kind: "inline",
      params: z.object({ session_id: anything }),
      failCode: 5020,
      handle: (params) => list(gateway, sessions.require(params.session_id)),
    }),
    method({
      name: "rollback.diff",
      kind: "inline",
      params: target,
      failCode: 5022,
      handle: (params) => diff(gateway, sessions.require(params.session_id), params),
    }),
    method({
      name: "rollback.restore",
      kind: "inline",
      params: target,
      failCode: 5021,
      handle: (params) => restore(gateway, sessions.require(params.session_id), params),
    }),
  ];
}

async function list({ hermes }: Gateway, { session }: LiveSession): Promise<Record<string, unknown>> {
  const found = await hermes.fileHistory.checkpoints(session.id);
  return {
    enabled: hermes.fileHistory.enabled,
    checkpoints: found.map(({ id, at, text, files }) => ({
      hash: id,
      timestamp: at,
      message: text.slice(0, MAX_MESSAGE).toWellFormed(),
      files,
    })),
  };
}

/** Throws 4014 without a name for it. */
async function find(
  { hermes }: Gateway,
  { session }: LiveSession,
  { hash }: Target,
): Promise<Checkpoint | null> {
  if (hash === undefined || hash === "") throw new RpcError(4014, "hash is required");
  return findCheckpoint(await hermes.fileHistory.checkpoints(session.id), String(hash));
}

function onlyPath({ session }: LiveSession, { file_path: path }: Target): { path?: string } {
  return path?.trim() ? { path: resolve(session.cwd, path) } : {};
}

async function diff(gateway: Gateway, live: LiveSession, params: Target): Promise<Record<string, unknown>> {
  const checkpoint = await find(gateway, live, params);
  if (!checkpoint) throw new RpcError(5022, `There is no checkpoint "${params.hash}"`);
  const { hermes } = gateway;
  const changed = await hermes.fileHistory.compare(live.session.id, checkpoint.at, onlyPath(live, params));
  const text = changed.map((one) => one.diff).join("");
  return { stat: statText(changed), diff: text.slice(0, MAX_DIFF).toWellFormed() };
}

function statText(changed: readonly FileDifference[]): string {
  if (changed.length === 0) return "";
  const sum = (of: (one: FileDifference) => number) => changed.reduce((total, one) => total + of(one), 0);
  const lines = changed.map(({ path, added, removed }) => ` ${path} | +${added} -${removed}`);
  const files = changed.length === 1 ? "1 file" : `${changed.length} files`;
  return [...lines, ` ${files} changed, +${sum((one) => one.added)} -${sum((one) => one.removed)}`].join(
    "\n",
  );
}

async function restore(
  gateway: Gateway,
  live: LiveSession,
  params: Target,
): Promise<Record<string, unknown>> {
  const only = onlyPath(live, params);
  const checkpoint = await find(gateway, live, params);
  if (only.path === undefined && (live.busy || live.session.running)) {
    throw new RpcError(4009, "session busy: cannot put files back while a turn runs");
  }
  if (!checkpoint) {
    return { success: false, reason: "not_found", error: `There is no checkpoint "${params.hash}"` };
  }
  const { done, files } = await gateway.hermes.fileHistory.restore(live.session.id, checkpoint.at, only);
  if (!done) return { success: false, ...refusalOf(files), files };
  if (files.length === 0) {
    return { success: false, reason: "not_found", error: "No turn since then has changed this file", files };
  }
  return { success: true, restored_to: checkpoint.id, history_removed: 0, files };
}

/** Why nothing was put back, for people and for programs. */
export function refusalOf(files: readonly FileRestore[]): { reason: "conflict" | "lost"; error: string } {
  const lost = files.filter(({ action }) => action === "lost");
  if (lost.length > 0) {
    const names = lost.map(({ path }) => path).join(", ");
    return { reason: "lost", error: `The old content is not kept any more: ${names}` };
  }
  const stopped = files.filter(({ action }) => action === "conflict");
  const names = stopped.map(({ path, why }) => why ? `${path} (${why})` : path).join(", ");
  return { reason: "conflict", error: `Nothing was changed; changed by somebody else: ${names}` };
}
