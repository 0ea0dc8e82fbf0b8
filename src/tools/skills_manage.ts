/**
 * `skill_manage`: makes, changes and removes skills of the data home (core.md B.11). Everything is checked before the
 * first byte is written; skills of external folders are only read.
 */
import { dirname, join } from "node:path";
import type { Tool, ToolContext, ToolOutcome } from "@/core/contract.ts";
import { replaceFile, withFileLock } from "@/lib/file_lock.ts";
import { type Args, maybeString, readBoolean, readText, ToolError } from "./args.ts";
import { skillManage } from "./cards/knowledge.ts";
import { isInside, realOf } from "./paths.ts";
import { stageWrite } from "./pending_writes.ts";
import { replaceText } from "./replace.ts";
import { settle, succeed } from "./result.ts";
import { parseSkill } from "./skills_document.ts";
import { type Skill, SKILL_FILE, type SkillRegistry } from "./skills_registry.ts";
import { linkedFiles, oneSkill, SUPPORT_FOLDERS } from "./skills_view.ts";

const ACTIONS = ["create", "patch", "edit", "delete", "write_file", "remove_file"] as const;
type Action = typeof ACTIONS[number];

const NAME = /^[a-z0-9][a-z0-9._-]*$/;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_024;
const MAX_SKILL = 100_000;
const MAX_FILE = 1_048_576;

export function createSkillManage(registry: SkillRegistry): Tool {
  return {
    name: "skill_manage",
    toolset: "skills",
    description:
      "Makes and changes skills. create, edit: content is a whole SKILL.md (front matter with name and " +
      "description between lines ---, then the steps). patch: old_string, new_string. write_file, " +
      "remove_file: file_path in references/, templates/, scripts/ or assets/. delete: absorbed_into names " +
      "the skill that took over.",
    parameters: {
      type: "object",
      properties: {
        action: { type: "string", enum: [...ACTIONS] },
        name: { type: "string" },
        content: { type: "string" },
        old_string: { type: "string" },
        new_string: { type: "string" },
        replace_all: { type: "boolean" },
        category: { type: "string" },
        file_path: { type: "string" },
        file_content: { type: "string" },
        absorbed_into: { type: "string" },
      },
      required: ["action", "name"],
    },
    parallel: "never",
    describe: skillManage,
    execute(args, context) {
      return settle(async () => {
        actionOf(args);
        readText(args, "name");
        if (context.settings.skills.write_approval) {
          await checkNew(args);
          return await stageWrite("skill", { ...args }, context);
        }
        return await changeSkill(args, context, registry);
      }, { success: false });
    },
  };
}

/** What a change of a skill needs of a call. */
export type SkillPlace = Pick<ToolContext, "platform" | "settings">;

function actionOf(args: Args): Action {
  const action = ACTIONS.find((name) => name === maybeString(args, "action"));
  if (!action) throw new ToolError(`'action' must be one of ${ACTIONS.join(", ")}`);
  return action;
}

/** Makes the change that a call asks for. Throws `ToolError`, and then nothing has changed. */
export async function changeSkill(
  args: Args,
  context: SkillPlace,
  registry: SkillRegistry,
): Promise<ToolOutcome> {
  const action = actionOf(args);
  const name = readText(args, "name").trim();
  await context.platform.files.mkdir(registry.root, { mode: 0o700 });
  const lock = join(registry.root, ".manage");
  return await withFileLock(context.platform, lock, () => run(action, name, { args, context, registry }));
}

interface Request {
  readonly args: Args;
  readonly context: SkillPlace;
  readonly registry: SkillRegistry;
}

async function run(action: Action, name: string, request: Request): Promise<ToolOutcome> {
  if (action === "create") return await create(name, request);
  const skill = await oneSkill(request.registry, name, request.context);
  if (!skill.own) {
    throw new ToolError(`Skill '${skill.name}' is in an external folder (${skill.dir}), which is only read`);
  }
  if (action === "edit") return await edit(skill, request);
  if (action === "patch") return await patch(skill, request);
  if (action === "delete") return await remove(skill, request);
  return action === "write_file" ? await writeFile(skill, request) : await removeFile(skill, request);
}

/** What can be said of a new skill without a look at those that are there. Nobody is asked about one that cannot be. */
async function checkNew(args: Args): Promise<void> {
  if (actionOf(args) !== "create") return;
  const name = readText(args, "name").trim();
  checkName(name, "name");
  const category = maybeString(args, "category")?.trim() ?? "";
  if (category) { for (const part of category.split("/")) checkName(part, "category"); }
  await checkDocument(readText(args, "content"), name);
}

async function create(name: string, { args, context, registry }: Request): Promise<ToolOutcome> {
  await checkNew(args);
  const category = maybeString(args, "category")?.trim() ?? "";
  const content = readText(args, "content");
  const taken = await registry.find(name, context.settings);
  if (taken.length > 0) {
    throw new ToolError(`There is a skill '${name}' already, in ${taken[0]!.dir}: patch or edit it`);
  }
  const dir = join(registry.root, category, name);
  if (await context.platform.files.lstat(dir)) throw new ToolError(`${dir} is there already`);
  await write(join(dir, SKILL_FILE), content, registry.root, context);
  return succeed({ success: true, message: `Skill '${name}' created`, path: join(dir, SKILL_FILE) });
}

async function edit(skill: Skill, { args, context }: Request): Promise<ToolOutcome> {
  const content = readText(args, "content");
  await checkDocument(content, skill.name);
  await write(join(skill.dir, SKILL_FILE), content, skill.dir, context);
  return succeed({
    success: true,
    message: `Skill '${skill.name}' rewritten`,
    path: join(skill.dir, SKILL_FILE),
  });
}

async function patch(skill: Skill, { args, context }: Request): Promise<ToolOutcome> {
  const file = maybeString(args, "file_path")?.trim();
  const path = file && file !== SKILL_FILE ? supportPath(skill, file) : join(skill.dir, SKILL_FILE);
  await checkInside(path, skill.dir, context);
  const before = await readSupport(skill, path, file ?? SKILL_FILE, context);
  const { text, strategy, count } = replaceText(
    before,
    maybeString(args, "old_string") ?? "",
    maybeString(args, "new_string") ?? "",
    { replaceAll: readBoolean(args, "replace_all") },
  );
  if (path === join(skill.dir, SKILL_FILE)) await checkDocument(text, skill.name);
  else checkSize(text);
  await write(path, text, skill.dir, context);
  return succeed({
    success: true,
    message: `${count} place${count === 1 ? "" : "s"} changed in ${file ?? SKILL_FILE} of '${skill.name}'`,
    strategy,
    path,
  });
}

async function remove(skill: Skill, { args, context, registry }: Request): Promise<ToolOutcome> {
  if (skill.pinned) throw new ToolError(`Skill '${skill.name}' is pinned: only the user may remove it`);
  const absorbed = maybeString(args, "absorbed_into")?.trim();
  if (absorbed) {
    const target = await oneSkill(registry, absorbed, context);
    if (target.dir === skill.dir) throw new ToolError("A skill cannot be absorbed into itself");
  }
  const lstat = await context.platform.files.lstat(skill.dir);
  if (!lstat || !isInside(skill.dir, registry.root) || skill.dir === registry.root) {
    throw new ToolError(`Skill '${skill.name}' cannot be removed from ${skill.dir}`);
  }
  // Of a linked folder only the link goes.
  await context.platform.files.remove(skill.dir, { recursive: lstat.isDirectory });
  return succeed({
    success: true,
    message: `Skill '${skill.name}' deleted${absorbed ? `; its content is in '${absorbed}'` : ""}`,
  });
}

async function writeFile(skill: Skill, { args, context }: Request): Promise<ToolOutcome> {
  const file = readText(args, "file_path").trim();
  const path = supportPath(skill, file);
  const content = maybeString(args, "file_content");
  if (content === null) throw new ToolError("Missing required argument 'file_content'");
  checkSize(content);
  await write(path, content, skill.dir, context);
  return succeed({ success: true, message: `${file} of '${skill.name}' written`, path });
}

async function removeFile(skill: Skill, { args, context }: Request): Promise<ToolOutcome> {
  const file = readText(args, "file_path").trim();
  const path = supportPath(skill, file);
  await checkInside(path, skill.dir, context);
  await readSupport(skill, path, file, context);
  await context.platform.files.remove(path);
  return succeed({ success: true, message: `${file} of '${skill.name}' removed` });
}

/** Throws `ToolError` unless a skill or a group may be called that. */
export function checkName(name: string, what: string): void {
  if (NAME.test(name) && name.length <= MAX_NAME) return;
  throw new ToolError(
    `'${name}' cannot be a ${what}: lower-case letters, digits, '.', '_' and '-', at most ${MAX_NAME} characters`,
  );
}

function checkSize(content: string): void {
  const size = new TextEncoder().encode(content).length;
  if (size > MAX_FILE) throw new ToolError(`The file has ${size} bytes, at most ${MAX_FILE} are allowed`);
}

/** Throws `ToolError` unless the text is a whole `SKILL.md` of the skill `name`. */
export async function checkDocument(content: string, name: string): Promise<void> {
  if (content.length > MAX_SKILL) {
    throw new ToolError(
      `SKILL.md has ${content.length} characters, at most ${MAX_SKILL} are allowed: move parts to references/`,
    );
  }
  const { head, body, problem } = await parseSkill(content);
  if (problem) throw new ToolError(`SKILL.md cannot be used: ${problem}`);
  if (!head.name || !head.description) throw new ToolError("The front matter needs 'name' and 'description'");
  if (head.name !== name) {
    throw new ToolError(`The front matter names '${head.name}', the skill is '${name}'`);
  }
  if (head.description.length > MAX_DESCRIPTION) {
    throw new ToolError(
      `The description has ${head.description.length} characters, at most ${MAX_DESCRIPTION} are allowed`,
    );
  }
  if (!body.trim()) throw new ToolError("SKILL.md has no instructions after the front matter");
}

function supportPath(skill: Skill, file: string): string {
  const path = join(skill.dir, file);
  const folder = SUPPORT_FOLDERS.find((name) =>
    isInside(path, join(skill.dir, name)) && path !== join(skill.dir, name)
  );
  if (folder) return path;
  throw new ToolError(`'${file}' must be below ${SUPPORT_FOLDERS.map((name) => `${name}/`).join(", ")}`);
}

async function readSupport(skill: Skill, path: string, file: string, context: SkillPlace): Promise<string> {
  const stat = await context.platform.files.stat(path);
  if (stat?.isFile) return new TextDecoder().decode(await context.platform.files.read(path));
  throw new ToolError(`Skill '${skill.name}' has no file '${file}'`, {
    available_files: await linkedFiles(skill.dir, context),
  });
}

async function checkInside(path: string, dir: string, { platform }: SkillPlace): Promise<void> {
  if (isInside(await realOf(path, platform), await realOf(dir, platform))) return;
  throw new ToolError(`Access denied: '${path}' leads out of ${dir}`);
}

async function write(path: string, content: string, dir: string, context: SkillPlace): Promise<void> {
  await checkInside(path, dir, context);
  const { files } = context.platform;
  const stat = await files.stat(path);
  if (stat && !stat.isFile) throw new ToolError(`'${path}' is not a file`);
  await files.mkdir(dirname(path), { mode: 0o700 });
  await replaceFile(context.platform, path, content, stat ? stat.mode & 0o777 : 0o644);
}
