/** `skills_list` and `skill_view`: what skills there are, and one of them in full or one of its files (core.md B.11). */
import { extname, join, relative } from "node:path";
import type { Tool, ToolContext, ToolOutcome } from "@/core/contract.ts";
import { isNotFound } from "@/platform/mod.ts";
import { maybeString, readText, ToolError } from "./args.ts";
import { skillsList, skillView } from "./cards/knowledge.ts";
import { isInside, realOf } from "./paths.ts";
import { isCredentialPath } from "./read_deny.ts";
import { settle, succeed } from "./result.ts";
import { parseSkill } from "./skills_document.ts";
import { isDisabled, pathOf, type Skill, SKILL_FILE, type SkillRegistry } from "./skills_registry.ts";
import { askForValues } from "./skills_secrets.ts";
import { renderSkill } from "./skills_text.ts";
import { looksBinary } from "./text_file.ts";

/** Folders of a skill whose files it may point at. */
export const SUPPORT_FOLDERS = ["references", "templates", "scripts", "assets"];
const MAX_SUGGESTIONS = 20;
const MAX_LINKED = 200;
const MAX_FILE = 1_048_576;

export function createSkillsList(registry: SkillRegistry): Tool {
  return {
    name: "skills_list",
    toolset: "skills",
    description: "Lists the skills: instructions for kinds of work.",
    parameters: {
      type: "object",
      properties: { category: { type: "string" } },
    },
    parallel: "safe",
    describe: skillsList,
    execute(args, context) {
      return settle(async () => {
        const all = await registry.list({ settings: context.settings });
        const category = maybeString(args, "category")?.trim();
        const skills = category ? all.filter((skill) => skill.category === category) : all;
        return succeed({
          success: true,
          skills,
          categories: [...new Set(all.map((skill) => skill.category).filter(Boolean))],
          count: skills.length,
          hint: skills.length > 0
            ? "Load one with skill_view(name)"
            : `No skills${category ? ` in '${category}'` : ""}. They are kept in ${registry.root}`,
        });
      }, { success: false });
    },
  };
}

export function createSkillView(registry: SkillRegistry): Tool {
  return {
    name: "skill_view",
    toolset: "skills",
    description: "Loads a skill (name or category/name), or with file_path a file it links to.",
    parameters: {
      type: "object",
      properties: {
        name: { type: "string" },
        file_path: { type: "string" },
      },
      required: ["name"],
    },
    parallel: "safe",
    describe: skillView,
    execute(args, context) {
      return settle(async () => {
        const skill = await usableSkill(registry, readText(args, "name"), context);
        const file = maybeString(args, "file_path")?.trim();
        return file ? await viewFile(skill, file, context) : await viewSkill(registry, skill, context);
      }, { success: false });
    },
  };
}

/** The one skill of a name. Throws `ToolError` when there is none, more than one, or it cannot be used here. */
async function usableSkill(registry: SkillRegistry, name: string, context: ToolContext): Promise<Skill> {
  const skill = await oneSkill(registry, name, context);
  if (isDisabled(skill, context.settings)) {
    throw new ToolError(`Skill '${skill.name}' is disabled (skills.disabled in the config)`);
  }
  if (!skill.supported) {
    throw new ToolError(
      `Skill '${skill.name}' is for ${skill.platforms.join(", ")}, this machine is ${context.platform.os}`,
      { readiness_status: "unsupported" },
    );
  }
  return skill;
}

/** As above, whatever its state. Never guesses between two. */
export async function oneSkill(
  registry: SkillRegistry,
  name: string,
  { settings }: Pick<ToolContext, "settings">,
): Promise<Skill> {
  if (name.split(/[\\/]/).includes("..")) throw new ToolError(`'${name}' is not a name of a skill`);
  const found = await registry.find(name, settings);
  if (found.length === 1) return found[0]!;
  if (found.length > 1) {
    throw new ToolError(`There are ${found.length} skills named '${name}': give category/name`, {
      matches: found.map((skill) => ({ name: pathOf(skill), path: join(skill.dir, SKILL_FILE) })),
    });
  }
  const names = (await registry.list({ settings })).map((skill) => skill.name);
  throw new ToolError(`Skill '${name}' not found`, { available_skills: names.slice(0, MAX_SUGGESTIONS) });
}

async function viewSkill(registry: SkillRegistry, skill: Skill, context: ToolContext): Promise<ToolOutcome> {
  const { platform } = context;
  const path = join(skill.dir, SKILL_FILE);
  const document = await parseSkill(new TextDecoder().decode(await platform.files.read(path)));
  const content = await renderSkill(document.body, skill.dir, context);
  const linked = await linkedFiles(skill.dir, context);
  const { env, secrets } = registry.deps;
  const isMissing = ({ name }: { name: string }) => !env(name);
  registry.declare(skill.environment.map(({ name }) => name));
  const wanted = skill.environment.filter(isMissing);
  const captured = secrets && wanted.length > 0
    ? await askForValues(skill.name, wanted, context, secrets)
    : {};
  const missing = wanted.filter(isMissing).map(({ name }) => name);
  const missingFiles = await absent(skill.credentialFiles, registry, context);
  const setupNeeded = missing.length > 0 || missingFiles.length > 0;
  return succeed({
    success: true,
    name: skill.name,
    description: skill.description,
    tags: skill.tags,
    related_skills: skill.relatedSkills,
    content: content.trim(),
    path,
    skill_dir: skill.dir,
    linked_files: Object.keys(linked).length > 0 ? linked : null,
    usage_hint: Object.keys(linked).length > 0
      ? "Load a linked file with skill_view(name, file_path) when the instructions point to it"
      : "These are the whole instructions",
    required_environment_variables: skill.environment,
    missing_required_environment_variables: missing,
    ...(Object.keys(captured).length > 0 ? { captured_environment_variables: captured } : {}),
    ...(missingFiles.length > 0 ? { missing_credential_files: missingFiles } : {}),
    setup_needed: setupNeeded,
    readiness_status: setupNeeded ? "setup_needed" : "available",
    ...(setupNeeded ? { setup_note: "Tell the user what is missing before you start" } : {}),
    ...(document.problem ? { warning: `SKILL.md: ${document.problem}` } : {}),
  });
}

async function absent(
  paths: readonly string[],
  registry: SkillRegistry,
  context: ToolContext,
): Promise<string[]> {
  const looks = await Promise.all(
    paths.map((path) => context.platform.files.stat(join(registry.deps.home, path)).catch(() => null)),
  );
  return paths.filter((_, at) => !looks[at]);
}

async function viewFile(skill: Skill, file: string, context: ToolContext): Promise<ToolOutcome> {
  const { platform, home } = context;
  const path = join(skill.dir, file);
  const root = await realOf(skill.dir, platform);
  const real = await realOf(path, platform);
  if (!isInside(path, skill.dir) || !isInside(real, root) || isCredentialPath(real, home)) {
    throw new ToolError(`Access denied: '${file}' is not a file of the skill '${skill.name}'`);
  }
  const stat = await platform.files.stat(path);
  if (!stat?.isFile) {
    const linked = await linkedFiles(skill.dir, context);
    throw new ToolError(`Skill '${skill.name}' has no file '${file}'`, { available_files: linked });
  }
  if (stat.size > MAX_FILE) {
    throw new ToolError(`'${file}' is too large (${stat.size} bytes, at most ${MAX_FILE})`);
  }
  const text = await readOrMissing(path, context);
  if (looksBinary(text)) {
    return succeed({
      success: true,
      name: skill.name,
      file,
      content: `[binary file, ${stat.size} bytes: ${path}]`,
      file_type: extname(file),
    });
  }
  const content = await renderSkill(text, skill.dir, {
    ...context,
    settings: { ...context.settings, skills: { ...context.settings.skills, inline_shell: false } },
  });
  return succeed({ success: true, name: skill.name, file, content, file_type: extname(file) });
}

async function readOrMissing(path: string, context: ToolContext): Promise<string> {
  try {
    return new TextDecoder().decode(await context.platform.files.read(path));
  } catch (error) {
    if (isNotFound(error)) throw new ToolError(`'${path}' has just been removed`);
    throw error;
  }
}

/** Files of the support folders, by folder, as paths from the skill's own. */
export async function linkedFiles(
  dir: string,
  { platform }: Pick<ToolContext, "platform">,
): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  let left = MAX_LINKED;
  async function walk(folder: string, into: string[], depth: number): Promise<void> {
    const entries = await platform.files.list(folder).catch(() => []);
    for (const entry of entries.sort((a, b) => a.name < b.name ? -1 : 1)) {
      if (left <= 0 || entry.name.startsWith(".")) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory && depth < 4) await walk(path, into, depth + 1);
      else if (!entry.isDirectory && left-- > 0) into.push(relative(dir, path));
    }
  }
  for (const name of SUPPORT_FOLDERS) {
    const files: string[] = [];
    await walk(join(dir, name), files, 0);
    if (files.length > 0) found[name] = files;
  }
  return found;
}
