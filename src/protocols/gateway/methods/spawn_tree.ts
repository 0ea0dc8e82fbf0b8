/**
 * Trees of subagents that a host wants to see again (tui-gateway.md B.16): JSON files under `$HERMES_HOME/spawn-trees`,
 * one folder per session, with an index. A path from outside is read only when it truly lies in there.
 */
import { isAbsolute, resolve, sep } from "node:path";
import * as z from "zod/mini";
import type { Hermes } from "@/app/mod.ts";
import { RpcError } from "../errors.ts";
import { freePath } from "../export.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, isTruthy, method, optional } from "./define.ts";

const INDEX = "_index.jsonl";
const text = optional(z.string());

export function spawnTreeMethods(gateway: Gateway): DefinedMethod[] {
  const { hermes } = gateway;
  return [
    method({
      name: "spawn_tree.save",
      kind: "inline",
      params: z.object({
        session_id: text,
        subagents: anything,
        started_at: optional(z.number()),
        finished_at: optional(z.number()),
        label: text,
      }),
      handle: (params) => guarded(() => saveTree(hermes, params)),
    }),
    method({
      name: "spawn_tree.list",
      kind: "inline",
      params: z.object({ session_id: text, limit: optional(z.number()), cross_session: anything }),
      handle: (params) =>
        guarded(async () => {
          const all = isTruthy(params.cross_session) || params.session_id === undefined;
          const folders = all ? await foldersOf(hermes) : [folderOf(hermes, params.session_id!)];
          const entries = (await Promise.all(folders.map((folder) => readIndex(hermes, folder)))).flat();
          entries.sort((a, b) => b.finished_at - a.finished_at || (a.path < b.path ? 1 : -1));
          return { entries: entries.slice(0, Math.max(1, Math.trunc(params.limit ?? 50))) };
        }),
    }),
    method({
      name: "spawn_tree.load",
      kind: "inline",
      params: z.object({ path: text }),
      handle: (params) => guarded(() => loadTree(hermes, params.path?.trim() ?? "")),
    }),
  ];
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RpcError) throw error;
    throw new RpcError(5000, `spawn tree: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function rootOf(hermes: Hermes): string {
  return `${hermes.home}/spawn-trees`;
}

function folderOf(hermes: Hermes, sessionId: string): string {
  return `${rootOf(hermes)}/${sessionId.replace(/[^A-Za-z0-9_-]/g, "_") || "default"}`;
}

interface SaveParams {
  readonly session_id?: string | undefined;
  readonly subagents?: unknown;
  readonly started_at?: number | undefined;
  readonly finished_at?: number | undefined;
  readonly label?: string | undefined;
}

interface Entry {
  readonly path: string;
  readonly session_id: string;
  readonly started_at: number | null;
  readonly finished_at: number;
  readonly label: string;
  readonly count: number;
}

async function saveTree(hermes: Hermes, params: SaveParams): Promise<{ path: string; session_id: string }> {
  const { subagents } = params;
  if (!Array.isArray(subagents) || subagents.length === 0) throw new RpcError(4000, "subagents is required");
  const { files, clock } = hermes.platform;
  const session_id = params.session_id ?? "default";
  const facts = {
    session_id,
    started_at: params.started_at ?? null,
    finished_at: params.finished_at ?? clock.now() / 1000,
    label: params.label ?? "",
  };
  const folder = folderOf(hermes, session_id);
  await files.mkdir(folder, { mode: 0o700 });
  const stamp = new Date(clock.now()).toISOString().slice(0, 19).replace(/[-:]/g, "");
  const path = await freePath(hermes, `${folder}/${stamp}`, ".json");
  await files.write(path, encode({ ...facts, subagents }), { mode: 0o600 });
  const entry: Entry = { path, ...facts, count: subagents.length };
  await files.append(`${folder}/${INDEX}`, encode(entry), { mode: 0o600 });
  return { path, session_id };
}

function encode(value: unknown): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(value)}\n`);
}

async function foldersOf(hermes: Hermes): Promise<string[]> {
  const root = rootOf(hermes);
  if (await hermes.platform.files.stat(root) === null) return [];
  const entries = await hermes.platform.files.list(root);
  return entries.filter((entry) => entry.isDirectory).map((entry) => `${root}/${entry.name}`);
}

/** Lines that cannot be read and files that are gone are left out. */
async function readIndex(hermes: Hermes, folder: string): Promise<Entry[]> {
  const { files } = hermes.platform;
  const lines = (files.readTextSync(`${folder}/${INDEX}`) ?? "").split("\n");
  const entries = lines.flatMap((line): Entry[] => {
    try {
      const value = JSON.parse(line);
      return typeof value?.path === "string" && typeof value.finished_at === "number" ? [value] : [];
    } catch {
      return []; // cut by a crash, or empty
    }
  });
  const there = await Promise.all(entries.map((entry) => files.stat(entry.path)));
  return entries.filter((_, at) => there[at] !== null);
}

async function loadTree(hermes: Hermes, path: string): Promise<unknown> {
  if (path === "") throw new RpcError(4000, "path is required");
  const { files } = hermes.platform;
  const root = rootOf(hermes);
  const asked = isAbsolute(path) ? resolve(path) : resolve(root, path);
  const realRoot = await files.realPath(root) ?? root;
  const real = await files.realPath(asked);
  const inside = (whole: string, base: string) => whole.startsWith(base + sep);
  if (real === null ? !inside(asked, root) : !inside(real, realRoot)) {
    throw new RpcError(4030, "path is outside of the spawn trees");
  }
  if (real === null) throw new RpcError(5000, `There is no spawn tree at ${path}`);
  const tree = JSON.parse(new TextDecoder().decode(await files.read(real)));
  if (typeof tree !== "object" || tree === null || Array.isArray(tree)) {
    throw new RpcError(5000, `${path} holds no spawn tree`);
  }
  return tree;
}
