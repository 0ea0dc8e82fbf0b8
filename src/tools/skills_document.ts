/**
 * `SKILL.md` as data (core.md B.11): YAML front matter and body. The YAML library is loaded at the first document that
 * has front matter, since most starts have no skills at all. Total: a broken head is reported, never thrown.
 */
import { loadYaml } from "@/lib/yaml.ts";

export interface SkillHead {
  /** Empty when the document names none. */
  readonly name: string;
  readonly description: string;
  /** Empty = every platform. */
  readonly platforms: readonly string[];
  readonly tags: readonly string[];
  readonly relatedSkills: readonly string[];
  readonly requiresToolsets: readonly string[];
  readonly requiresTools: readonly string[];
  readonly fallbackForToolsets: readonly string[];
  readonly fallbackForTools: readonly string[];
  readonly environment: readonly RequiredVariable[];
  readonly credentialFiles: readonly string[];
  readonly pinned: boolean;
}

export interface RequiredVariable {
  readonly name: string;
  /** What it is for, in the words of the skill. */
  readonly prompt: string;
}

export interface SkillDocument {
  readonly head: SkillHead;
  readonly body: string;
  /** What is wrong with the head, for people; `null` when it is fine. */
  readonly problem: string | null;
}

const FRONT = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/** Reads a document; a head that is missing or broken gives an empty one and a problem. */
export async function parseSkill(text: string): Promise<SkillDocument> {
  const plain = text.replace(/^\uFEFF/, "");
  const front = FRONT.exec(plain);
  if (!front) {
    return { head: headOf({}), body: plain, problem: "it has no YAML front matter between two lines ---" };
  }
  const body = plain.slice(front[0].length);
  try {
    const { parse } = await loadYaml();
    const data: unknown = parse(front[1]!, { maxAliasCount: 20 });
    if (!isRecord(data)) return { head: headOf({}), body, problem: "its front matter is not a map" };
    return { head: headOf(data), body, problem: null };
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    return { head: headOf({}), body, problem: `its front matter is not valid YAML: ${why}` };
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value).trim() : "";
}

/** A list of texts; a single text may hold several, divided by commas. */
function texts(value: unknown): string[] {
  if (typeof value === "string") return value.split(",").map((item) => item.trim()).filter(Boolean);
  return Array.isArray(value) ? value.map(text).filter(Boolean) : [];
}

function headOf(data: Record<string, unknown>): SkillHead {
  const metadata = isRecord(data["metadata"]) ? data["metadata"] : {};
  const hermes = isRecord(metadata["hermes"]) ? metadata["hermes"] : {};
  const either = (name: string) => texts(hermes[name] ?? data[name]);
  return {
    name: text(data["name"]),
    description: text(data["description"]),
    platforms: texts(data["platforms"]).map((name) => name.toLowerCase()),
    tags: either("tags"),
    relatedSkills: either("related_skills"),
    requiresToolsets: either("requires_toolsets"),
    requiresTools: either("requires_tools"),
    fallbackForToolsets: either("fallback_for_toolsets"),
    fallbackForTools: either("fallback_for_tools"),
    environment: variables(data["required_environment_variables"]),
    credentialFiles: credentialFiles(data["required_credential_files"]),
    pinned: data["pinned"] === true || hermes["pinned"] === true,
  };
}

function variables(value: unknown): RequiredVariable[] {
  const items = Array.isArray(value) ? value : texts(value);
  return items.flatMap((item) => {
    const name = text(isRecord(item) ? item["name"] : item);
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return [];
    return [{ name, prompt: isRecord(item) ? text(item["prompt"] ?? item["help"]) : "" }];
  });
}

function credentialFiles(value: unknown): string[] {
  const items = Array.isArray(value) ? value : texts(value);
  return items.map((item) => text(isRecord(item) ? item["path"] : item)).filter(Boolean);
}
