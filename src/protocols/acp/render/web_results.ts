/**
 * What finished calls of the web and vision tools show (acp.md C11): hits as links, pages only where they failed, what
 * was seen. Pure; never throws, whatever the result holds.
 */
import { isObject } from "../envelope.ts";
import { cut, oneLine } from "./text.ts";

type Result = Readonly<Record<string, unknown>>;

const MAX_HITS = 10;
const VISION_LIMIT = 5_000;

function str(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function rows(value: unknown): Result[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** At most ten hits. */
export function webSearch(result: Result): string {
  const hits = rows(isObject(result.data) ? result.data.web : null);
  if (hits.length === 0) return "Nothing found.";
  const lines = hits.slice(0, MAX_HITS).flatMap((hit) => {
    const title = oneLine(str(hit.title) || str(hit.url), 200).replace(/[[\]]/g, "");
    const description = oneLine(str(hit.description), 300);
    return [
      `- [${title}](${str(hit.url).replace(/[\s()<>]/g, percent)})`,
      ...(description ? [`  ${description}`] : []),
    ];
  });
  if (hits.length > MAX_HITS) lines.push(`… and ${hits.length - MAX_HITS} more`);
  return cut(lines.join("\n"));
}

/** Only what failed; the pages themselves are for the model. */
export function webExtract(result: Result): string {
  const failed = rows(result.results).filter((page) => str(page.error) !== "");
  return cut(failed.map((page) => `${str(page.url)}: ${str(page.error)}`).join("\n"));
}

export function visionAnalyze(result: Result): string {
  return cut(str(result.analysis) || str(result.image_url), VISION_LIMIT);
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}
