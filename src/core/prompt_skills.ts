/**
 * The index of skills in the prompt (core.md A.4, B.11): names and one line each, so that the model knows what to load.
 * Bounded: what does not fit is counted and found with `skills_list`.
 */
import { within } from "@/lib/abort.ts";
import { scanForInjection } from "@/lib/injection_scan.ts";
import type { Skills, SkillSummary, Tool } from "./ports.ts";
import { READ_BOUND_MS } from "./prompt_files.ts";
import type { Settings } from "./settings.ts";

const MAX_CHARS = 12_000;
const MAX_DESCRIPTION = 120;

const RULE =
  "# Skills\nTested instructions for kinds of work. Before you act, see whether one fits the task; when it " +
  "does, load it with skill_view(name) first and follow it. Do not work from the line below alone.";

export interface SkillsIndexQuery {
  readonly skills: Skills | null;
  readonly settings: Settings;
  readonly tools: readonly Tool[];
}

/** The block, or an empty text when there are no skills or no tool to load them. Never throws. */
export async function skillsIndex({ skills, settings, tools }: SkillsIndexQuery): Promise<string> {
  if (!skills || !tools.some((tool) => tool.name === "skill_view")) return "";
  const found = await within(skills.list({ settings, tools }), READ_BOUND_MS) ?? [];
  if (found.length === 0) return "";
  const lines: string[] = [];
  let left = MAX_CHARS, shown = 0, category: string | null = null;
  for (const skill of found) {
    const heading = skill.category === category ? "" : `${skill.category || "general"}:`;
    const line = `  ${skill.name}: ${describe(skill)}`;
    if (heading.length + line.length > left) break;
    if (heading) lines.push(heading);
    lines.push(line);
    left -= heading.length + line.length + 2;
    category = skill.category;
    shown++;
  }
  if (shown < found.length) lines.push(`… ${found.length - shown} more: see skills_list`);
  return `${RULE}\n${lines.join("\n")}`;
}

/** A description comes from a file of somebody: one that gives orders is withheld. */
function describe({ description }: SkillSummary): string {
  const line = description.replace(/\s+/g, " ").trim();
  const ids = scanForInjection(line, "context");
  if (ids.length > 0) return `(description withheld: ${ids.join(", ")})`;
  return line.length <= MAX_DESCRIPTION ? line : `${line.slice(0, MAX_DESCRIPTION - 1)}…`.toWellFormed();
}
