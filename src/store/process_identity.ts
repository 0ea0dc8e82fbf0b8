/**
 * Which process this is and whether another one still runs, so that what a killed program has held is free at once. A
 * number of a process is told apart from an earlier owner of it by when that one was started. Linux tells both in
 * `/proc`; elsewhere only the number is looked at.
 */
import type { Platform } from "@/platform/mod.ts";
import { hostName, isProcess, readLink } from "./db.ts";

type Files = Pick<Platform, "files">;

/** The machine since it was started, and the space that process numbers are counted in; its name comes first. */
export function hostIdentity({ files }: Files): string {
  const boot = read(files, "/proc/sys/kernel/random/boot_id").trim();
  return [hostName(), boot, readLink("/proc/self/ns/pid")].filter((part) => part !== "").join(" ");
}

/** When the process was started, in the system's own count; empty where that is not told, or there is none. */
export function processStart(pid: number, { files }: Files): string {
  return statFields(pid, files)?.[START] ?? "";
}

/** True only for what is surely gone. */
export function isProcessDead(pid: number, start: string, { files }: Files): boolean {
  if (start === "") return !isProcess(pid);
  const fields = statFields(pid, files);
  if (fields === null) return !isProcess(pid);
  // A process that has ended and was not asked after by its parent is still listed.
  return fields[START] !== start || /^[ZX]/.test(fields[STATE] ?? "");
}

/** Places among the fields behind the name, which may hold anything. */
const STATE = 0;
const START = 19;

function statFields(pid: number, files: Platform["files"]): string[] | null {
  const text = read(files, `/proc/${pid}/stat`);
  return text === "" ? null : text.slice(text.lastIndexOf(")") + 2).split(" ");
}

function read(files: Platform["files"], path: string): string {
  try {
    return files.readTextSync(path) ?? "";
  } catch {
    return ""; // gone in between, or not ours to read
  }
}
