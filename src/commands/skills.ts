/**
 * `/skills`: what there is, and more of it from folders, files and indexes (core.md B.11, H.2). The finding and
 * telling is shared with hosts that ask for it by a method of their own.
 */
import {
  HermesError,
  type SeenOffer,
  type Settings,
  type Skills,
  type SkillSummary,
  type Tool,
} from "@/core/contract.ts";
import { type Command, type CommandDeps, text } from "./command.ts";
import { decide } from "./pending.ts";

/** What skills are looked for with. */
export interface SkillDesk {
  readonly skills: Skills;
  readonly settings: Settings;
  readonly tools: readonly Tool[];
  readonly signal: AbortSignal;
}

export type SkillVerb = "search" | "browse" | "inspect" | "install";

export interface SkillRow {
  readonly name: string;
  readonly description: string;
  /** Of what is not installed: what `install` wants. */
  readonly source?: string;
}

/** Lines that a person is shown. */
const MAX_ROWS = 50;
const MAX_DESCRIPTION = 80;

export const skills: Command = {
  name: "skills",
  aliases: [],
  description:
    "List the skills, each a command of its own, find and install more, decide on changes that wait",
  argsHint:
    "[list|search|browse|inspect|install|pending|approve|reject|approval] [words, place, id, on, off]",
  category: "Tools & Skills",
  surfaces: ["gateway", "cli"],
  needsIdle: false,
  run: async (args, { host, signal }, deps) => {
    const [, verb, query = ""] = /^(search|browse|inspect|install)(?:\s+([\s\S]+))?$/.exec(args.trim()) ?? [];
    if (verb && host) return text(await host.manageSkills(verb as SkillVerb, query));
    if (verb) return text(await describeSkills(deskOf(deps, signal), verb as SkillVerb, query));
    if (args !== "" && args !== "list") return text(await decide("skill", args, deps));
    const found = host ? await host.skills() : await listSkills(deskOf(deps, signal));
    const lines = found.map(({ name, description }) => `/${name}: ${clip(description)}`);
    return text([found.length === 1 ? "1 skill:" : `${found.length} skills:`, ...lines].join("\n"));
  },
};

function deskOf({ skills, config, tools }: CommandDeps, signal: AbortSignal | undefined): SkillDesk {
  if (!skills) throw new HermesError("internal", "There are no skills here");
  return { skills, settings: config.settings(), tools, signal: signal ?? new AbortController().signal };
}

function clip(description: string): string {
  return description.length <= MAX_DESCRIPTION
    ? description
    : `${description.slice(0, MAX_DESCRIPTION - 1)}…`;
}

export async function listSkills({ skills, settings, tools }: SkillDesk): Promise<readonly SkillSummary[]> {
  return await skills.list({ settings, tools });
}

/** Words are looked for in the skills that are there; after a place (in quotes if it has spaces), in what that has. */
export async function findSkills(desk: SkillDesk, query: string): Promise<readonly SkillRow[]> {
  const [, quoted, plain = "", rest = ""] = /^(?:"([^"]+)"|(\S*))\s*([\s\S]*)$/.exec(query.trim()) ?? [];
  const offers = await desk.skills.offers(quoted ?? plain, desk);
  const wanted = (offers ? rest : query.trim()).toLowerCase();
  const all: readonly SkillRow[] = offers ?? await listSkills(desk);
  return all
    .filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted))
    .map(({ name, description, source }) => ({ name, description, ...(source ? { source } : {}) }));
}

/** By name among those that are there, else the one of a place. */
export async function inspectSkill(desk: SkillDesk, name: string): Promise<SkillSummary | SeenOffer> {
  return (await listSkills(desk)).find((skill) => skill.name === name) ?? await desk.skills.look(name, desk);
}

/** For people. Throws `invalid_argument` for a place that has none. */
export async function describeSkills(desk: SkillDesk, verb: SkillVerb, query: string): Promise<string> {
  if (verb === "install") {
    const { name, path } = await desk.skills.install(query.trim(), desk);
    return `Installed ${name} in ${path}. /${name} runs it.`;
  }
  if (verb === "inspect") return describeSkill(await inspectSkill(desk, query.trim()));
  const found = await findSkills(desk, query);
  const lines = found.slice(0, MAX_ROWS).map(({ name, description, source }) =>
    `${name}: ${description}${source ? ` (${source})` : ""}`
  );
  const rest = found.length > MAX_ROWS ? [`… ${found.length - MAX_ROWS} more`] : [];
  return found.length === 0 ? "No skill is like that." : [...lines, ...rest].join("\n");
}

function describeSkill(skill: SkillSummary | SeenOffer): string {
  const head = `${skill.name}: ${skill.description}`;
  if (!("source" in skill)) return `${head}\nCategory: ${skill.category || "general"}`;
  const { source, files, content } = skill;
  return [head, `From: ${source}`, `Files: ${files.join(", ")}`, "", content].join("\n");
}
