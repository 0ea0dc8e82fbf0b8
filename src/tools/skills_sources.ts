/**
 * Where skills can be had from (core.md B.11, H.2 `/skills`): a folder, the address of a `SKILL.md`, or the address of
 * an index, a JSON file `{skills: [{name, description, files?, url?, digest?}]}`. `#name` after a place picks one of
 * several. Only read here; what comes is bounded, links are not followed, archives are not opened.
 */
import { basename, dirname, join, relative } from "node:path";
import { ToolError } from "./args.ts";
import { absolutePath } from "./paths.ts";
import { parseSkill } from "./skills_document.ts";
import { pathOf, type Skill, SKILL_FILE, type SkillRegistry } from "./skills_registry.ts";
import { fetchText, readIndex, type SourceContext } from "./skills_web.ts";

const MAX_FILES = 100;
const MAX_FILE = 1_048_576;
const MAX_TOTAL = 10 << 20;
const MAX_DEPTH = 4;
const SKIPPED = new Set(["node_modules", "__pycache__"]);

export interface SkillFile {
  readonly data: Uint8Array;
  /** A program: it stays one. */
  readonly executable: boolean;
}

/** A skill that can be had. */
export interface SkillOffer {
  readonly name: string;
  readonly description: string;
  /** `/` between levels; empty at the top. */
  readonly category: string;
  /** What names it alone: `<place>#<name>`. */
  readonly source: string;
  /** Paths from the skill's folder, `/` between levels, `SKILL.md` among them. Throws `ToolError`. */
  files(): Promise<ReadonlyMap<string, SkillFile>>;
}

/** Whether a text names a place and not a skill: an address, or a path from the root or the user's home. */
export function isPlace(text: string): boolean {
  return /^(?:https?:\/\/|file:\/\/|\/|~(?:\/|$)|[a-z]:[\\/])/i.test(text.trim());
}

/** All that a place has, by category then name. Throws `ToolError` where there is none, or no such place. */
export async function offersOf(
  source: string,
  registry: SkillRegistry,
  context: SourceContext,
): Promise<readonly SkillOffer[]> {
  const [place, pick] = split(source.trim());
  const all = /^https?:/i.test(place)
    ? await fromWeb(place, context)
    : await fromFolder(place, registry, context);
  if (pick === "") return all;
  const picked = all.filter(({ name, category }) => name === pick || `${category}/${name}` === pick);
  if (picked.length > 0) return picked;
  const names = all.slice(0, 20).map(({ name }) => name).join(", ");
  throw new ToolError(`There is no skill "${pick}" in ${shownPlace(place)}; it has ${names || "none"}`);
}

/** The skill that an external folder of the settings has under this name. */
export async function offersNamed(
  name: string,
  registry: SkillRegistry,
  context: SourceContext,
): Promise<readonly SkillOffer[]> {
  const found = await registry.find(name, context.settings);
  return found.filter((skill) => !skill.own).map((skill) => localOffer(skill, skill.dir, context));
}

function split(source: string): readonly [place: string, pick: string] {
  const at = source.lastIndexOf("#");
  return at === -1 ? [source, ""] : [source.slice(0, at).trim(), source.slice(at + 1).trim()];
}

/** Without what an address may hide: a query can be a key. */
export function shownPlace(place: string): string {
  if (!/^https?:/i.test(place)) return place;
  const url = URL.parse(place);
  return url ? url.origin + url.pathname : "this address";
}

// ── Folders ─────────────────────────────────────────────────────────────────────────────────────────────────

async function fromFolder(
  place: string,
  registry: SkillRegistry,
  context: SourceContext,
): Promise<readonly SkillOffer[]> {
  const { files } = context.platform;
  const home = context.platform.homeDir();
  const written = absolutePath(place, home, home);
  const path = basename(written) === SKILL_FILE ? dirname(written) : written;
  const real = await files.realPath(path);
  if (real === null) throw new ToolError(`There is no folder ${path}`);
  const skills = await registry.below(real);
  if (skills.length === 0) throw new ToolError(`There is no skill in ${path}`);
  return skills.map((skill) => localOffer(skill, path, context));
}

function localOffer(skill: Skill, place: string, context: SourceContext): SkillOffer {
  const { name, description, category, dir } = skill;
  return {
    name,
    description,
    category,
    source: `${place}#${pathOf(skill)}`,
    files: () => readFolder(dir, context),
  };
}

async function readFolder(dir: string, { platform, signal }: SourceContext): Promise<Map<string, SkillFile>> {
  const found = new Map<string, SkillFile>();
  let total = 0;
  async function walk(folder: string, depth: number): Promise<void> {
    signal.throwIfAborted();
    for (const entry of await platform.files.list(folder)) {
      if (entry.name.startsWith(".") || SKIPPED.has(entry.name)) continue;
      const path = join(folder, entry.name);
      const shown = relative(dir, path).replaceAll("\\", "/");
      if (entry.isSymlink) throw new ToolError(`${shown} is a link; a skill is installed without links`);
      if (entry.isDirectory && depth >= MAX_DEPTH) throw new ToolError(`${shown} lies too deep`);
      if (entry.isDirectory) {
        await walk(path, depth + 1);
        continue;
      }
      const stat = await platform.files.lstat(path);
      if (!stat?.isFile) throw new ToolError(`${shown} is no ordinary file`);
      total += stat.size;
      checkBounds(shown, stat.size, found.size + 1, total);
      const executable = platform.os !== "windows" && (stat.mode & 0o100) !== 0;
      found.set(shown, { data: await platform.files.read(path), executable });
    }
  }
  await walk(dir, 0);
  return found;
}

function checkBounds(path: string, size: number, count: number, total: number): void {
  if (size > MAX_FILE) throw new ToolError(`${path} has ${size} bytes, at most ${MAX_FILE} are allowed`);
  if (count > MAX_FILES) throw new ToolError(`The skill has more than ${MAX_FILES} files`);
  if (total > MAX_TOTAL) throw new ToolError(`The skill has more than ${MAX_TOTAL} bytes`);
}

// ── Addresses ───────────────────────────────────────────────────────────────────────────────────────────────

async function fromWeb(place: string, context: SourceContext): Promise<readonly SkillOffer[]> {
  const answer = await fetchText(place, context);
  if (/^\s*[[{]/.test(answer.text)) {
    return readIndex(answer.text, answer.url).map((entry): SkillOffer => ({
      ...entry,
      category: "",
      source: `${place}#${entry.name}`,
      files: async () => {
        if (entry.paths.length > MAX_FILES) throw new ToolError(`The skill has more than ${MAX_FILES} files`);
        const found = new Map<string, SkillFile>();
        let total = 0;
        for (const path of entry.paths) {
          const { data } = await fetchText(entry.address(path), context);
          total += data.length;
          checkBounds(path, data.length, found.size + 1, total);
          if (path === SKILL_FILE) await entry.check(data);
          found.set(path, { data, executable: false });
        }
        return found;
      },
    }));
  }
  const { head, problem } = await parseSkill(answer.text);
  if (problem) {
    throw new ToolError(`${shownPlace(place)} is neither a ${SKILL_FILE} nor an index: ${problem}`);
  }
  const file: SkillFile = { data: answer.data, executable: false };
  return [{
    name: head.name,
    description: head.description,
    category: "",
    source: place,
    files: () => Promise.resolve(new Map([[SKILL_FILE, file]])),
  }];
}
