/**
 * The skills on this machine (core.md B.11): found below the data home and `skills.external_dirs`, the home first. One
 * object for prompt, tools and slash commands. Folders are walked anew at each question, documents are read again only
 * when they changed; bounded in depth and number, links are followed, nothing is ever written here.
 */
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import type {
  Logger,
  SeenOffer,
  Settings,
  SkillOffer,
  SkillPlaceQuery,
  SkillQuery,
  Skills,
  SkillSummary,
} from "@/core/contract.ts";
import { withCommandHome } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import { absolutePath } from "./paths.ts";
import { parseSkill, type SkillHead } from "./skills_document.ts";
import type { SecretHost } from "./skills_secrets.ts";
import { renderSkill } from "./skills_text.ts";

export const SKILL_FILE = "SKILL.md";
const MAX_DEPTH = 6;
const MAX_SKILLS = 1_000;
const MAX_FOLDERS = 4_000;
const HEAD_BYTES = 32_768;
const SKIPPED = new Set(["node_modules", "__pycache__", "references", "templates", "scripts", "assets"]);
const NAMES: Readonly<Record<string, readonly string[]>> = {
  darwin: ["darwin", "macos", "mac", "osx"],
  linux: ["linux"],
  windows: ["windows", "win32", "win"],
};

export interface Skill extends SkillHead, SkillSummary {
  readonly name: string;
  readonly description: string;
  /** Folder with `SKILL.md`. */
  readonly dir: string;
  /** Inside the data home, so that it may be changed. */
  readonly own: boolean;
  readonly supported: boolean;
  readonly problem: string | null;
}

export interface SkillsDeps {
  readonly platform: Platform;
  /** Data home, absolute. */
  readonly home: string;
  readonly log: Pick<Logger, "warn">;
  /** Value of a variable as the program sees it (process environment, then `.env`). */
  env(name: string): string | undefined;
  /** Asking for values that are not there; absent: they are only reported as missing. */
  readonly secrets?: SecretHost;
  /** Environment of child processes, for `skills.inline_shell`. */
  childEnv(): Readonly<Record<string, string>>;
}

interface Cached {
  readonly stamp: string;
  readonly skill: Skill;
}

/** The registry of the program; holds a cache and nothing that must be closed. */
export class SkillRegistry implements Skills {
  readonly deps: SkillsDeps;
  readonly #cache = new Map<string, Cached>();
  readonly #warned = new Set<string>();

  readonly #declared = new Set<string>();

  constructor(deps: SkillsDeps) {
    this.deps = deps;
  }

  /** Names of variables that skills in use have declared: child processes get them (core.md C.12). */
  get declared(): ReadonlySet<string> {
    return this.#declared;
  }

  /** A skill is in use from now on. */
  declare(names: readonly string[]): void {
    for (const name of names) this.#declared.add(name);
  }

  /** Where own skills live. */
  get root(): string {
    return join(this.deps.home, "skills");
  }

  async list(query: SkillQuery): Promise<readonly SkillSummary[]> {
    try {
      const found = await this.all(query.settings);
      return found
        .filter((skill) => skill.supported && !isDisabled(skill, query.settings) && fits(skill, query.tools))
        .map(({ name, description, category }) => ({ name, description, category }));
    } catch (error) {
      this.#warnOnce(`Cannot read the skills: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  }

  /** Every skill, also disabled and unsupported ones, by category then name. */
  async all(settings: Settings): Promise<Skill[]> {
    const { platform, home } = this.deps;
    const external = settings.skills.external_dirs.map((dir) => absolutePath(dir, home, platform.homeDir()));
    const found: Skill[] = [];
    const seen = new Set<string>();
    for (const root of [this.root, ...external]) {
      const here = await this.#scan(root);
      // What an earlier root has wins; two of one name in the same root are both there, and ambiguous.
      for (const skill of here) if (!seen.has(skill.name)) found.push(skill);
      for (const skill of here) seen.add(skill.name);
    }
    return found.sort((a, b) => compare(a.category, b.category) || compare(a.name, b.name));
  }

  /** Skills that a name may mean: the name, the folder's name, or `category/name`. */
  async find(name: string, settings: Settings): Promise<Skill[]> {
    const wanted = name.trim().replace(/^\/+|\/+$/g, "");
    const all = await this.all(settings);
    const exact = all.filter((skill) => skill.name === wanted || pathOf(skill) === wanted);
    if (exact.length > 0) return exact;
    return all.filter((skill) => basename(skill.dir) === wanted);
  }

  async invocation(
    name: string,
    args: string,
    context: { readonly settings: Settings; readonly sessionId: string; readonly signal: AbortSignal },
  ): Promise<string | null> {
    const usable = (await this.find(name, context.settings))
      .filter((skill) => skill.supported && !isDisabled(skill, context.settings));
    if (usable.length !== 1) return null;
    const skill = usable[0]!;
    const bytes = await this.deps.platform.files.read(join(skill.dir, SKILL_FILE));
    const { body } = await parseSkill(new TextDecoder().decode(bytes));
    const text = await renderSkill(body, skill.dir, {
      ...context,
      ...this.deps,
      childEnv: withCommandHome(this.deps.childEnv(), { ...this.deps, settings: context.settings }),
    });
    return [
      `[The user runs the skill "${skill.name}" (folder ${skill.dir}). Follow its instructions.]`,
      text.trim(),
      args.trim() ? `The user adds:\n${args.trim()}` : "",
    ].filter(Boolean).join("\n\n");
  }

  async offers(place: string, query: SkillPlaceQuery): Promise<readonly SkillOffer[] | null> {
    return await (await import("./skills_places.ts")).offersAt(place, this, query);
  }

  async look(place: string, query: SkillPlaceQuery): Promise<SeenOffer> {
    return await (await import("./skills_places.ts")).lookAt(place, this, query);
  }

  async install(
    source: string,
    query: SkillPlaceQuery,
  ): Promise<{ readonly name: string; readonly path: string }> {
    return await (await import("./skills_places.ts")).installFrom(source, this, query);
  }

  /** The skills of any folder, also of one that is a skill itself. */
  async below(dir: string): Promise<Skill[]> {
    const { files } = this.deps.platform;
    const isSkill = (await files.stat(join(dir, SKILL_FILE)).catch(() => null))?.isFile === true;
    const skill = isSkill ? await this.#read(dir, dirname(dir)) : null;
    const found = skill ? [skill] : await this.#scan(dir);
    return found.sort((a, b) => compare(a.category, b.category) || compare(a.name, b.name));
  }

  /** Folders with a `SKILL.md` below a root; what is inside such a folder is not searched further. */
  async #scan(root: string): Promise<Skill[]> {
    const { files } = this.deps.platform;
    // The data home is known to answer, and most have no skills; a look of this turn may be older than they are.
    if (root === this.root && files.statSync(root) === null) return [];
    const found: Skill[] = [];
    let folders = 0;
    let level = (await files.stat(root).catch(() => null))?.isDirectory ? [root] : [];
    for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
      folders += level.length;
      const results = await Promise.all(level.map((dir) => this.#look(dir, root)));
      found.push(...results.flatMap((result) => result.skill ?? []));
      level = results.flatMap((result) => result.folders);
      if (found.length > MAX_SKILLS || folders > MAX_FOLDERS) {
        this.#warnOnce(`There are too many skills below ${root}; not all are offered`);
        break;
      }
    }
    return found.slice(0, MAX_SKILLS);
  }

  async #look(dir: string, root: string): Promise<{ skill?: Skill; folders: string[] }> {
    const { files } = this.deps.platform;
    const entries = await files.list(dir).catch(() => []);
    if (dir !== root && entries.some((entry) => entry.name === SKILL_FILE)) {
      const skill = await this.#read(dir, root);
      return skill ? { skill, folders: [] } : { folders: [] };
    }
    const folders = await Promise.all(entries.map(async (entry) => {
      if (entry.name.startsWith(".") || SKIPPED.has(entry.name)) return [];
      const path = join(dir, entry.name);
      if (entry.isDirectory) return [path];
      if (!entry.isSymlink) return [];
      return (await files.stat(path).catch(() => null))?.isDirectory ? [path] : [];
    }));
    return { folders: folders.flat() };
  }

  async #read(dir: string, root: string): Promise<Skill | null> {
    const { platform } = this.deps;
    const path = join(dir, SKILL_FILE);
    try {
      const stat = await platform.files.stat(path);
      if (!stat?.isFile) return null;
      const stamp = `${stat.mtimeMs}:${stat.size}:${root}`;
      const cached = this.#cache.get(path);
      if (cached?.stamp === stamp) return cached.skill;
      const text = new TextDecoder().decode(await platform.files.readHead(path, HEAD_BYTES));
      const { head, problem } = await parseSkill(text);
      if (problem) this.#warnOnce(`Skill ${dir}: ${problem}`);
      const category = relative(root, dirname(dir)).replaceAll("\\", "/");
      const skill: Skill = {
        ...head,
        name: head.name || basename(dir),
        category: isAbsolute(category) ? "" : category,
        dir,
        own: root === this.root,
        supported: isSupported(head.platforms, platform.os),
        problem,
      };
      this.#cache.set(path, { stamp, skill });
      return skill;
    } catch (error) {
      this.#warnOnce(`Cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  }

  #warnOnce(text: string): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.deps.log.warn(text);
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** `category/name`, or the name alone at the top. */
export function pathOf(skill: Pick<Skill, "category" | "name">): string {
  return skill.category ? `${skill.category}/${skill.name}` : skill.name;
}

export function isDisabled(skill: Pick<Skill, "category" | "name">, settings: Settings): boolean {
  return settings.skills.disabled.includes(skill.name) || settings.skills.disabled.includes(pathOf(skill));
}

function isSupported(platforms: readonly string[], os: string): boolean {
  return platforms.length === 0 || platforms.some((name) => NAMES[os]?.includes(name) || name === "all");
}

function fits(skill: Skill, tools: SkillQuery["tools"]): boolean {
  if (!tools) return true;
  const names = new Set(tools.map((tool) => tool.name)),
    toolsets = new Set(tools.map((tool) => tool.toolset));
  return skill.requiresTools.every((name) => names.has(name)) &&
    skill.requiresToolsets.every((name) => toolsets.has(name)) &&
    !skill.fallbackForTools.some((name) => names.has(name)) &&
    !skill.fallbackForToolsets.some((name) => toolsets.has(name));
}
