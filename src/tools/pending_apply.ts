/**
 * The user's word on writes that wait (core.md B.7, B.11, H.2 `/memory`, `/skills`): what `pending_writes.ts` has put
 * aside is listed, made or dropped. A change that cannot be made goes on waiting, and why is said.
 */
import { join } from "node:path";
import {
  HermesError,
  memoryLimit,
  memoryPath,
  type MemoryTarget,
  type PendingWrite,
  type PendingWrites,
  type Settings,
} from "@/core/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import { type Args, maybeString, shorten, ToolError } from "./args.ts";
import { changeMemory, type MemoryOperation } from "./memory_file.ts";
import { changeSkill } from "./skills_manage.ts";
import type { SkillRegistry } from "./skills_registry.ts";

export interface PendingDeps {
  readonly platform: Platform;
  readonly home: string;
  settings(): Settings;
  readonly skills: SkillRegistry;
}

interface Stored {
  readonly id: string;
  readonly kind: "memory" | "skill";
  readonly createdAt: number;
  readonly request: Args;
}

const ID = /^(memory|skill)-[0-9a-f]{8}$/;

export function createPendingWrites(deps: PendingDeps): PendingWrites {
  const { platform, home } = deps;
  const folder = join(home, "pending");
  const pathOf = (id: string) => join(folder, `${id}.json`);

  function read(id: string): Stored | null {
    if (!ID.test(id)) return null;
    try {
      const text = platform.files.readTextSync(pathOf(id));
      const stored = text === null ? null : JSON.parse(text) as Partial<Stored> | null;
      const isWhole = stored?.id === id && id.startsWith(`${stored.kind}-`) &&
        typeof stored.request === "object" && stored.request !== null;
      return isWhole ? { createdAt: 0, ...stored } as Stored : null;
    } catch {
      return null; // cut off, or not ours
    }
  }

  async function all(): Promise<Stored[]> {
    if (await platform.files.stat(folder) === null) return [];
    const names = (await platform.files.list(folder)).map(({ name }) => name.replace(/\.json$/, ""));
    return names.flatMap((name) => read(name) ?? []).sort((a, b) => a.createdAt - b.createdAt);
  }

  return {
    list: async (kind) => (await all()).filter((stored) => stored.kind === kind).map(describe),
    approve: async (id) => {
      const stored = read(id);
      if (stored === null) {
        throw new HermesError("invalid_argument", `There is no change "${id}" that waits`, { id });
      }
      try {
        const done = await apply(stored, deps);
        await platform.files.remove(pathOf(id));
        return done;
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        throw new HermesError(
          "invalid_argument",
          `${id} cannot be done and goes on waiting: ${error.message}`,
        );
      }
    },
    reject: async (id) => {
      if (read(id) === null) return false;
      await platform.files.remove(pathOf(id));
      return true;
    },
  };
}

function describe({ id, kind, createdAt, request }: Stored): PendingWrite {
  if (kind === "skill") {
    const what = [
      maybeString(request, "action"),
      maybeString(request, "name"),
      maybeString(request, "file_path"),
    ];
    return { id, createdAt, summary: shorten(what.filter(Boolean).join(" ")) };
  }
  const operations = (Array.isArray(request.operations) ? request.operations : []) as MemoryOperation[];
  const texts = operations.map(({ action, content, oldText }) => `${action} ${content || oldText}`);
  return { id, createdAt, summary: shorten(`${maybeString(request, "target")}: ${texts.join("; ")}`) };
}

async function apply({ kind, request }: Stored, { platform, home, settings: read, skills }: PendingDeps) {
  const settings = read();
  if (kind === "skill") {
    await changeSkill(request, { platform, settings }, skills);
    return "The skill is changed.";
  }
  const target: MemoryTarget = request.target === "user" ? "user" : "memory";
  const operations = request.operations as readonly MemoryOperation[];
  const path = memoryPath(home, target);
  const { usage } = await changeMemory(platform, path, memoryLimit(settings, target), operations);
  return `Saved (${usage}). Sessions that begin from now on see it.`;
}
