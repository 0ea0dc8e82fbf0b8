/** Cards of the tools for files, and of the image tool that reads one. */
import { type Args, cut, maybeNumber, maybeString, shorten } from "../args.ts";
import { absoluteOf } from "../paths.ts";
import { pathsInPatch } from "../v4a_parse.ts";
import type { Card } from "./mod.ts";

/** Of the source in titles and results: a data URL is not repeated. */
const SHOWN_CHARS = 500;

function locationsOf(paths: readonly string[], cwd: string): { path: string }[] {
  return paths.flatMap((written) => {
    const path = absoluteOf(written, cwd);
    return path ? [{ path }] : [];
  });
}

export const readFile: Card = (args, { cwd }) => {
  const path = maybeString(args, "path") ?? "";
  const absolute = absoluteOf(path, cwd);
  const line = maybeNumber(args, "offset");
  return {
    title: path ? `read: ${path}` : "read_file",
    label: shorten(path),
    kind: "read",
    locations: absolute ? [{ path: absolute, ...(line && line >= 1 ? { line: Math.trunc(line) } : {}) }] : [],
    startText: "",
  };
};

export const writeFile: Card = (args, { cwd }) => {
  const path = maybeString(args, "path") ?? "";
  return {
    title: path ? `write: ${path}` : "write_file",
    label: shorten(path),
    kind: "edit",
    locations: locationsOf([path], cwd),
    startText: path ? `Writing ${path}` : "",
  };
};

/** The files that a call of `patch` names, as they are written; duplicates kept. */
export function patchedPaths(args: Args): string[] {
  const patch = maybeString(args, "patch");
  const one = maybeString(args, "path");
  const v4a = maybeString(args, "mode") === "patch" || (patch && args.old_string === undefined);
  return v4a ? pathsInPatch(patch ?? "") : one ? [one] : [];
}

export const patch: Card = (args, { cwd }) => {
  const written = patchedPaths(args);
  const mode = maybeString(args, "mode") ??
    (args.patch !== undefined && args.old_string === undefined ? "patch" : "replace");
  const shown = written.join(", ");
  return {
    title: shown ? `patch (${mode}): ${shown}` : "patch",
    label: shorten(shown),
    kind: "edit",
    locations: locationsOf(written, cwd),
    startText: shown ? `Editing ${shown}` : "",
  };
};

export const searchFiles: Card = (args, { cwd }) => {
  const pattern = maybeString(args, "pattern") ?? "";
  const path = maybeString(args, "path");
  const where = [path ? `in ${path}` : "", maybeString(args, "file_glob") ?? ""].filter(Boolean).join(" ");
  const target = maybeString(args, "target") ?? "content";
  return {
    title: pattern ? `search: ${shorten(pattern)}` : "search_files",
    label: shorten(pattern),
    kind: "search",
    locations: path ? locationsOf([path], cwd) : [],
    startText: `Searching ${target} for ${shorten(pattern, 200)} ${where}`.trim(),
  };
};

export function isUrl(source: string): boolean {
  return /^\s*(?:https?|data):/i.test(source);
}

export function shownSource(source: string): string {
  const text = source.trim();
  return /^data:/i.test(text)
    ? `${text.slice(0, text.indexOf(",") + 1 || 30).slice(0, 60)}…`
    : text.slice(0, SHOWN_CHARS);
}

export const visionAnalyze: Card = (args, { cwd }) => {
  const source = maybeString(args, "image_url") ?? "";
  const label = shorten(shownSource(source));
  return {
    title: `look at: ${label}`,
    label,
    kind: "read",
    locations: isUrl(source) ? [] : locationsOf([source], cwd),
    startText: cut(maybeString(args, "question") ?? "", 1_200),
  };
};
