/**
 * Installing a skill (tui-gateway.md B.17 `skills.manage`, core.md H.2 `/skills install`): everything is read and
 * judged before the first byte is written, the folder appears whole or not at all, nothing that is there is replaced.
 * Where it came from is kept beside it.
 */
import { dirname, join } from "node:path";
import { withFileLock } from "@/lib/file_lock.ts";
import { scanForInjection } from "@/lib/injection_scan.ts";
import { ToolError } from "./args.ts";
import { checkDocument, checkName } from "./skills_manage.ts";
import { SKILL_FILE, type SkillRegistry } from "./skills_registry.ts";
import {
  isPlace,
  offersNamed,
  offersOf,
  shownPlace,
  type SkillFile,
  type SkillOffer,
} from "./skills_sources.ts";
import { hasSnippet } from "./skills_text.ts";
import type { SourceContext } from "./skills_web.ts";
import { looksBinary } from "./text_file.ts";

/** In the skill's folder: where it came from, when, and what each file was. */
const PROVENANCE = ".source.json";
/** Characters that the scan looks at, and what neighbouring pieces share. */
const PIECE = 65_536;
const OVERLAP = 1_024;

/** The one skill that a source means. Throws `ToolError` when there is none, or more than one. */
export async function oneOffer(
  source: string,
  registry: SkillRegistry,
  context: SourceContext,
): Promise<SkillOffer> {
  const found = isPlace(source)
    ? await offersOf(source, registry, context)
    : await offersNamed(source, registry, context);
  if (found.length === 1) return found[0]!;
  if (found.length === 0) {
    throw new ToolError(
      `There is no skill "${shownPlace(source)}" to install; name a folder or an address, with #name`,
    );
  }
  const names = found.slice(0, 20).map(({ name }) => name).join(", ");
  throw new ToolError(`There are ${found.length} skills: ${names}. Name one with #name`);
}

/** Its name and folder. Throws `ToolError`, and then nothing has changed. */
export async function installSkill(
  source: string,
  registry: SkillRegistry,
  context: SourceContext,
): Promise<{ readonly name: string; readonly path: string }> {
  const offer = await oneOffer(source, registry, context);
  const { name } = offer;
  checkName(name, "name");
  const files = await offer.files();
  await judge(name, files);
  if (context.settings.skills.inline_shell && /^https?:/i.test(offer.source)) refuseShell(files);
  context.signal.throwIfAborted();
  const { platform } = context;
  await platform.files.mkdir(registry.root, { mode: 0o700 });
  return await withFileLock(platform, join(registry.root, ".manage"), async () => {
    const taken = (await registry.find(name, context.settings)).find((skill) => skill.own);
    if (taken) throw new ToolError(`There is a skill '${name}' already, in ${taken.dir}`);
    const path = join(registry.root, ...categoryOf(offer), name);
    if (await platform.files.lstat(path)) throw new ToolError(`${path} is there already`);
    await place(path, files, sourceOf(offer), registry, context);
    return { name, path };
  });
}

async function judge(name: string, files: ReadonlyMap<string, SkillFile>): Promise<void> {
  const document = files.get(SKILL_FILE);
  if (!document) throw new ToolError(`There is no ${SKILL_FILE}`);
  await checkDocument(new TextDecoder().decode(document.data), name);
  checkSpellings([...files.keys()]);
  for (const [path, { data }] of files) {
    const text = new TextDecoder().decode(data);
    // The instructions are read by the model whatever they look like.
    if (path !== SKILL_FILE && looksBinary(text)) continue;
    const found = new Set<string>();
    for (let at = 0; at === 0 || at < text.length; at += PIECE - OVERLAP) {
      for (const id of scanForInjection(text.slice(at, at + PIECE), "context")) found.add(id);
    }
    if (found.size === 0) continue;
    throw new ToolError(
      `${path} contained potential prompt injection (${[...found].join(", ")}). Nothing was installed`,
    );
  }
}

/** On disks that know no difference of case the second would be written over the first, after it was judged. */
function checkSpellings(paths: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const path of paths) {
    const plain = path.toLowerCase();
    const twin = seen.get(plain);
    if (twin !== undefined) throw new ToolError(`${twin} and ${path} are one file on some disks`);
    seen.set(plain, path);
  }
}

/** Where shell lines of skills are run (`skills.inline_shell`), those of strangers do not come in unseen. */
function refuseShell(files: ReadonlyMap<string, SkillFile>): void {
  if (!hasSnippet(new TextDecoder().decode(files.get(SKILL_FILE)?.data))) return;
  throw new ToolError(
    `${SKILL_FILE} has shell lines, which skills.inline_shell would run: look at it, then install it from a folder`,
  );
}

/** Its group where it came from, if that can be a group here. */
function categoryOf({ category }: SkillOffer): string[] {
  const parts = category.split("/").filter(Boolean);
  try {
    for (const part of parts) checkName(part, "category");
    return parts;
  } catch {
    return [];
  }
}

function sourceOf({ source }: SkillOffer): string {
  const at = source.lastIndexOf("#");
  return at === -1 ? shownPlace(source) : shownPlace(source.slice(0, at)) + source.slice(at);
}

/** Written beside the skills under a hidden name, then renamed into place. */
async function place(
  path: string,
  skill: ReadonlyMap<string, SkillFile>,
  source: string,
  registry: SkillRegistry,
  { platform, signal }: SourceContext,
): Promise<void> {
  const { files } = platform;
  const staging = join(registry.root, `.install-${platform.ids.hex(8)}`);
  const hashes: Record<string, string> = {};
  try {
    for (const [name, { data, executable }] of skill) {
      signal.throwIfAborted();
      const target = join(staging, name);
      await files.mkdir(dirname(target), { mode: 0o700 });
      await files.write(target, data, { mode: executable ? 0o755 : 0o644 });
      hashes[name] = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(data))).toHex();
    }
    const installed = new Date(platform.clock.now()).toISOString();
    const note = JSON.stringify({ source, installed_at: installed, sha256: hashes }, null, 2) + "\n";
    await files.write(join(staging, PROVENANCE), new TextEncoder().encode(note), { mode: 0o600 });
    await files.mkdir(dirname(path), { mode: 0o700 });
    signal.throwIfAborted();
    await files.rename(staging, path);
  } catch (error) {
    await files.remove(staging, { recursive: true }).catch(() => {/* it was not made */});
    throw error;
  }
}
