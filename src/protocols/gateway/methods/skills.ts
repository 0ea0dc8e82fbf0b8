/**
 * Skills for hosts (tui-gateway.md B.17, D.1): what there is, and a skill called by its name as the message that it
 * stands for. Skills are read anew each time, so a reload only tells what has changed since it was last asked.
 */
import * as z from "zod/mini";
import type { Hermes } from "@/app/mod.ts";
import type { SkillSummary } from "@/core/contract.ts";
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
      handle: (params) => manage(hermes, params),
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
        if (await gateway.live.skills.reload()) { for (const live of gateway.live.all()) live.emitInfo(); }
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

export async function listSkills(hermes: Hermes): Promise<readonly SkillSummary[]> {
  return await hermes.skills.list({ settings: hermes.settings(), tools: hermes.tools });
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

interface ManageParams {
  readonly action?: string | undefined;
  readonly query?: string | undefined;
  readonly page?: number | undefined;
  readonly page_size?: number | undefined;
}

async function manage(hermes: Hermes, params: ManageParams): Promise<Record<string, unknown>> {
  const { action = "list", query = "" } = params;
  if (action === "list") return { skills: await byCategory(hermes) };
  if (action === "search") return { results: found(await listSkills(hermes), query) };
  if (action === "browse") {
    const all = found(await listSkills(hermes), query);
    const size = Math.max(1, Math.trunc(params.page_size ?? PAGE));
    const page = Math.max(1, Math.trunc(params.page ?? 1));
    const items = all.slice((page - 1) * size, page * size);
    return { items, page, total: all.length, total_pages: Math.max(1, Math.ceil(all.length / size)) };
  }
  if (action === "inspect") {
    const info = (await listSkills(hermes)).find((skill) => skill.name === query);
    if (!info) throw new RpcError(5024, `There is no skill "${query}"`);
    return { info };
  }
  if (action === "install") {
    throw new RpcError(5024, "Skills are installed by putting them into the skills folder");
  }
  throw new RpcError(4017, `unknown action: ${action}`);
}

async function byCategory(hermes: Hermes): Promise<Record<string, string[]>> {
  const groups: Record<string, string[]> = {};
  for (const { name, category } of await listSkills(hermes)) {
    (groups[category || "general"] ??= []).push(name);
  }
  return groups;
}

function found(skills: readonly SkillSummary[], query: string): { name: string; description: string }[] {
  const wanted = query.trim().toLowerCase();
  return skills
    .filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted))
    .map(({ name, description }) => ({ name, description }));
}
