/**
 * What finished calls of the memory, skill and search-in-sessions tools show (acp.md C11): a summary for people. The
 * bodies that the model reads are left out. Pure; never throws, whatever the result holds.
 */
import { plural } from "@/lib/plural.ts";
import { isObject } from "../envelope.ts";
import { cut, oneLine } from "./text.ts";

type Result = Readonly<Record<string, unknown>>;

const SESSIONS_LIMIT = 7_000;
const MAX_SKILLS = 40;

function str(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function rows(value: unknown): Result[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function lines(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}

export function memory(result: Result): string {
  const count = typeof result.entry_count === "number" ? plural(result.entry_count, "note") : "";
  const kept = [count, str(result.usage)].filter(Boolean).join(", ");
  return lines(str(result.message), kept && `${str(result.target) || "memory"}: ${kept}`, str(result.note));
}

export function skillView(result: Result): string {
  const file = str(result.file);
  const name = str(result.name) || "skill";
  const size = str(result.content).length;
  return lines(
    `${name}${file ? ` / ${file}` : ""} (${size} characters)`,
    str(result.description),
    str(result.setup_note),
    str(result.warning),
  );
}

export function skillsList(result: Result): string {
  const skills = rows(result.skills);
  const shown = skills.slice(0, MAX_SKILLS).map((skill) =>
    `- ${str(skill.name)}: ${oneLine(str(skill.description), 120)}`
  );
  const more = skills.length - shown.length;
  return cut(lines(plural(skills.length, "skill"), ...shown, more > 0 ? `… and ${more} more` : ""));
}

export function skillManage(result: Result): string {
  return lines(str(result.message) || "Done.", str(result.path), str(result.warning));
}

function conversation(row: Result): string {
  const title = str(row.title) || str(row.preview) || str(row.session_id);
  const when = str(row.last_active) || str(row.started_at);
  const found = str(row.snippet);
  return lines(
    `- ${oneLine(title, 100)}${when ? ` (${when})` : ""}`,
    found && `  ${oneLine(found, 300)}`,
  );
}

export function sessionSearch(result: Result): string {
  if (Array.isArray(result.messages)) {
    const meta = isObject(result.session_meta) ? result.session_meta : {};
    const title = str(meta.title) || str(result.session_id);
    const messages = rows(result.messages).map((message) =>
      `${str(message.role)}: ${oneLine(str(message.content), 300)}`
    );
    const head = `${oneLine(title, 100)}: ${plural(messages.length, "message")}`;
    return cut(lines(head, ...messages, str(result.warning)), SESSIONS_LIMIT);
  }
  const found = rows(result.results);
  const head = str(result.message) || plural(found.length, "conversation");
  return cut(lines(head, ...found.map(conversation)), SESSIONS_LIMIT);
}
