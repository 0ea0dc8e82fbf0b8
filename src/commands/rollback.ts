/**
 * `/rollback` (core.md H.2, tui-gateway.md D.2): lists the turns that changed files, shows what has changed since one,
 * and puts files back to before it. The conversation stays as it is. Nothing is forced: where a file was changed by
 * somebody else since, nothing at all is touched.
 */
import type { Checkpoint, FileHistory, FileRestore, Session } from "@/core/contract.ts";
import { findCheckpoint, HermesError } from "@/core/contract.ts";
import { isAbsolute, normalize, relative, resolve } from "node:path";
import { type Command, type CommandDeps, text } from "./command.ts";

const USAGE = "Usage: /rollback [list] | /rollback diff <N> [file] | /rollback [restore] <N> [file]";
const MAX_LISTED = 20;
const MAX_DIFF = 4_000;
const MAX_TEXT = 60;

export const rollback: Command = {
  name: "rollback",
  aliases: [],
  description: "List turns that changed files, or put files back to before one",
  argsHint: "[N]",
  category: "Session",
  surfaces: ["acp", "gateway", "cli"],
  unlisted: ["acp"],
  needsIdle: true,
  run: async (args, { session }, deps) => {
    const place = { files: historyOf(deps), session };
    const [first = "", ...rest] = args.split(/\s+/);
    if (first === "" || first === "list") return text(await listText(place));
    const verb = first === "diff" || first === "restore" ? first : "restore";
    const [ref = "", ...path] = verb === first ? rest : [first, ...rest];
    if (ref === "") throw new HermesError("invalid_argument", USAGE);
    const list = await place.files.checkpoints(session.id);
    const checkpoint = findCheckpoint(list, ref);
    if (!checkpoint) throw noSuch(ref, list.length);
    const only = path.join(" ");
    const options = only === "" ? {} : { path: absolute(session, only) };
    return verb === "diff"
      ? text(await diffText(place, checkpoint, options))
      : await restore(place, checkpoint, options);
  },
};

interface Place {
  readonly files: FileHistory;
  readonly session: Session;
}

function historyOf({ files }: CommandDeps): FileHistory {
  if (files) return files;
  throw new HermesError("internal", "No contents of files are kept here");
}

function noSuch(ref: string, count: number): HermesError {
  const has = count === 0
    ? "no turn of this session has changed a file"
    : `there are ${count}; see /rollback`;
  return new HermesError("message_not_found", `There is no turn "${ref}" to go back to: ${has}`);
}

function absolute(session: Session, path: string): string {
  return isAbsolute(path) ? normalize(path) : resolve(session.cwd, path);
}

async function listText({ files, session }: Place): Promise<string> {
  const list = await files.checkpoints(session.id);
  if (list.length === 0) return "No turn of this session has changed a file.";
  const lines = list.slice(0, MAX_LISTED).map(({ id, text: said, files: count }, at) =>
    `${String(at + 1).padStart(3)}. ${id.slice(0, 8)}  ${countOf(count)}  ${oneLine(said)}`
  );
  const more = list.length > MAX_LISTED ? [`     … and ${list.length - MAX_LISTED} older`] : [];
  const hint =
    "/rollback <N> puts files back to before that turn, /rollback diff <N> shows what changed since.";
  return ["Turns that changed files, the latest first:", ...lines, ...more, "", hint].join("\n");
}

function countOf(count: number): string {
  return count === 1 ? "1 file" : `${count} files`;
}

function oneLine(said: string): string {
  const line = said.replace(/\s+/g, " ").trim();
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT).toWellFormed()}…` : line;
}

async function diffText(
  { files, session }: Place,
  { at }: Checkpoint,
  options: { readonly path?: string },
): Promise<string> {
  const changed = await files.compare(session.id, at, options);
  if (changed.length === 0) return "Nothing differs from before that turn.";
  const diff = changed.map((one) => one.diff).join("");
  return diff.length > MAX_DIFF ? `${diff.slice(0, MAX_DIFF).toWellFormed()}\n… (cut)` : diff.trimEnd();
}

async function restore(
  { files, session }: Place,
  { at }: Checkpoint,
  options: { readonly path?: string },
): Promise<ReturnType<typeof text>> {
  const { done, files: steps } = await files.restore(session.id, at, options);
  if (steps.length === 0) return text("No file to put back.");
  const lines = steps.map((step) => stepText(step, session.cwd, done));
  if (done) return text(lines.join("\n"));
  const refusal = "Nothing was changed: `hermes sessions restore --force` overwrites what was changed since.";
  return text([...lines, refusal].join("\n"), true);
}

const DONE: Readonly<Record<FileRestore["action"], string>> = {
  write: "put back",
  remove: "removed",
  none: "unchanged",
  conflict: "CONFLICT",
  lost: "LOST",
};

function stepText({ path, action, why }: FileRestore, cwd: string, done: boolean): string {
  const near = relative(cwd, path);
  const shown = near === "" || near.startsWith("..") ? path : near;
  const word = done || action === "conflict" || action === "lost" ? DONE[action] : "left alone";
  const reason = action === "lost" ? "its old content is not kept any more" : why;
  return `${word}: ${shown}${reason ? ` (${reason})` : ""}`;
}
