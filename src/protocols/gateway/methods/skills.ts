/**
 * Skills for hosts (tui-gateway.md B.17, D.1): what there is, and a skill called by its name as the message that it
 * stands for. Skills are read anew each time, so a reload only tells what has changed since it was last asked.
 */
import * as z from "zod/mini";
import type { Hermes } from "@/app/mod.ts";
import { describeSkills, findSkills, inspectSkill, type SkillDesk } from "@/commands/mod.ts";
import { HermesError, type SkillSummary } from "@/core/contract.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { method, NO_PARAMS, optional } from "./define.ts";

const text = optional(z.string());
const PAGE = 20;
const MAX_DESCRIPTION = 120;

export function skillMethods(gateway: Gateway): DefinedMethod[] {
  const { hermes } = gateway;
  let known: ReadonlySet<string> | null = null;
  return [
    method({
      name: "skills.manage",
      kind: "worker",
      params: z.object({
        action: text,
        query: text,
        page: optional(z.number()),
        page_size: optional(z.number()),
      }),
      failCode: 5024,
      handle: (params, { signal }) => manageSkills(gateway, params, signal),
    }),
    method({
      name: "skills.reload",
      kind: "worker",
      params: NO_PARAMS,
      failCode: 5025,
      handle: async () => {
        const now = new Set((await listSkills(hermes)).map((skill) => skill.name));
        const before = known ?? now;
        known = now;
        await tellNew(gateway);
        const result = {
          added: [...now].filter((name) => !before.has(name)),
          removed: [...before].filter((name) => !now.has(name)),
          total: now.size,
        };
        const { added, removed, total } = result;
        return { output: `${total} skills; ${added.length} added, ${removed.length} removed`, result };
      },
    }),
  ];
}

function deskOf(hermes: Hermes, signal: AbortSignal): SkillDesk {
  return { skills: hermes.skills, tools: hermes.tools, settings: hermes.settings(), signal };
}

export async function listSkills(hermes: Hermes): Promise<readonly SkillSummary[]> {
  return await hermes.skills.list({ settings: hermes.settings(), tools: hermes.tools });
}

export async function isSkill(hermes: Hermes, name: string): Promise<boolean> {
  return (await listSkills(hermes)).some((skill) => skill.name === name);
}

/** Catalogue rows: name and a short description. */
export async function skillPairs(hermes: Hermes): Promise<[string, string][]> {
  return (await listSkills(hermes)).map(({ name, description }) => [
    `/${name}`,
    description.length <= MAX_DESCRIPTION ? description : `${description.slice(0, MAX_DESCRIPTION - 1)}…`,
  ]);
}

/** The directive of D.1; `null` when no skill has that name. */
export async function invokeSkill(
  hermes: Hermes,
  live: LiveSession,
  name: string,
  args: string,
  signal: AbortSignal,
): Promise<Record<string, unknown> | null> {
  const context = { settings: hermes.settings(), sessionId: live.session.id, signal };
  const message = await hermes.skills.invocation(name, args, context);
  if (message === null) return null;
  return { type: "skill", name, message, display: args === "" ? `/${name}` : `/${name} ${args}` };
}

export interface ManageParams {
  readonly action?: string | undefined;
  readonly query?: string | undefined;
  readonly page?: number | undefined;
  readonly page_size?: number | undefined;
}

/** The actions of `skills.manage`. Whatever cannot be done is 5024, an unknown action 4017. */
export async function manageSkills(
  gateway: Gateway,
  { action = "list", query = "", page = 1, page_size = PAGE }: ManageParams,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { hermes } = gateway;
  const desk = deskOf(hermes, signal);
  return await told(async () => {
    if (action === "list") return { skills: await byCategory(hermes) };
    if (action === "search") return { results: await findSkills(desk, query) };
    if (action === "browse") return pageOf(await findSkills(desk, query), page, page_size);
    if (action === "inspect") return { info: { ...await inspectSkill(desk, query.trim()) } };
    if (action === "install") {
      const { name, path } = await hermes.skills.install(query.trim(), desk);
      await tellNew(gateway);
      return { installed: true, name, path };
    }
    throw new RpcError(4017, `unknown action: ${action}`);
  });
}

function pageOf(all: readonly unknown[], wantedPage: number, wantedSize: number): Record<string, unknown> {
  const size = Math.max(1, Math.trunc(wantedSize));
  const page = Math.max(1, Math.trunc(wantedPage));
  const items = all.slice((page - 1) * size, page * size);
  return { items, page, total: all.length, total_pages: Math.max(1, Math.ceil(all.length / size)) };
}

async function byCategory(hermes: Hermes): Promise<Record<string, string[]>> {
  const groups: Record<string, string[]> = {};
  for (const { name, category } of await listSkills(hermes)) {
    (groups[category || "general"] ??= []).push(name);
  }
  return groups;
}

/** The same for people. */
export async function describeForPeople(
  gateway: Gateway,
  action: "search" | "browse" | "inspect" | "install",
  query: string,
  signal: AbortSignal,
): Promise<string> {
  const text = await told(() => describeSkills(deskOf(gateway.hermes, signal), action, query));
  if (action === "install") await tellNew(gateway);
  return text;
}

/** Every host hears of skills that are there from now on. */
async function tellNew({ live: sessions }: Gateway): Promise<void> {
  if (await sessions.skills.reload()) { for (const live of sessions.all()) live.emitInfo(); }
}

async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HermesError) throw new RpcError(5024, error.message);
    throw error;
  }
}
