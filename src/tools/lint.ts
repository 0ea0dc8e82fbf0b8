/**
 * Does the text parse? JSON, YAML and TOML by the name of the file; everything else is skipped. The parsers of YAML
 * and TOML are loaded at their first use only.
 */
import { loadYaml } from "@/lib/yaml.ts";
import { basename } from "node:path";

export interface Lint {
  readonly status: "ok" | "error" | "skipped";
  /** What is wrong and where. */
  readonly output?: string;
}

/** Larger texts are not checked. */
const MAX_CHARS = 5_000_000;
/** `.json` files that in practice hold comments and trailing commas. */
const JSONC_NAMES =
  /^(tsconfig|jsconfig|deno|\.?eslintrc|\.babelrc|\.swcrc|devcontainer|api-extractor)\b.*\.json$|\.code-workspace$/i;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.split("\n")[0]! : String(error);
}

function parses(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** The text with comments blanked out and trailing commas removed; strings are left alone. */
export function stripJsonc(text: string): string {
  return text
    .replace(/("(?:\\.|[^"\\\n])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_all, string) => string ?? " ")
    .replace(/("(?:\\.|[^"\\\n])*")|,(?=\s*[}\]])/g, (_all, string) => string ?? "");
}

function lintJson(name: string, text: string, oldText: string | null): Lint {
  const strict = parses(text);
  if (strict === null) return { status: "ok" };
  if (/\.jsonc$/i.test(name) || JSONC_NAMES.test(name)) {
    const relaxed = parses(stripJsonc(text));
    return relaxed === null ? { status: "ok" } : { status: "error", output: `Invalid JSON: ${relaxed}` };
  }
  const wasRelaxed = oldText !== null && parses(oldText) !== null && parses(stripJsonc(oldText)) === null;
  if (wasRelaxed && parses(stripJsonc(text)) === null) return { status: "ok" };
  return { status: "error", output: `Invalid JSON: ${strict}` };
}

async function lintYaml(text: string): Promise<Lint> {
  const { parseAllDocuments } = await loadYaml();
  const documents = parseAllDocuments(text, { logLevel: "silent" });
  const errors = "empty" in documents ? [] : documents.flatMap((document) => document.errors);
  if (errors.length === 0) return { status: "ok" };
  // Templates of Helm, Jinja and the like are YAML only after they were filled in.
  if (/\{\{|\{%/.test(text)) return { status: "skipped" };
  return { status: "error", output: `Invalid YAML: ${messageOf(errors[0])}` };
}

async function lintToml(text: string): Promise<Lint> {
  const { parse } = await import("smol-toml");
  try {
    parse(text);
    return { status: "ok" };
  } catch (error) {
    return { status: "error", output: `Invalid TOML: ${messageOf(error)}` };
  }
}

/** Checks what would be written; `oldText` tells how strict the file was before. */
export async function lintText(path: string, text: string, oldText: string | null): Promise<Lint> {
  const name = basename(path);
  if (text.length > MAX_CHARS) return { status: "skipped" };
  if (/\.(json|jsonc|code-workspace)$/i.test(name)) return lintJson(name, text, oldText);
  if (/\.ya?ml$/i.test(name)) return await lintYaml(text);
  if (/\.toml$/i.test(name)) return await lintToml(text);
  return { status: "skipped" };
}
