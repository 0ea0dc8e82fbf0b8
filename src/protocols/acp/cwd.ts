/**
 * Paths that clients send, in the one form this machine uses (acp.md C4): file URIs, Windows and WSL spellings are
 * translated, or refused with a reason. Pure: facts of the host come in, nothing is read here but by the
 * two functions at the end, which look whether the directory is there.
 *
 *   raw ─► file: URI ─► device prefix ─► UNC ─► drive ─► POSIX ─► lexical clean-up
 */
import type { Files, Platform } from "@/platform/mod.ts";
import { invalidParams } from "./errors.ts";

export interface HostFacts {
  readonly os: "linux" | "darwin" | "windows";
  readonly wsl: boolean;
  /** `WSL_DISTRO_NAME`; any distro is taken when unknown. */
  readonly distro: string | null;
  /** Where drives are mounted under WSL, with a trailing slash. */
  readonly mountRoot: string;
}

export type CwdReason =
  | "not_absolute"
  | "drive_relative"
  | "other_distro"
  | "unc_not_mounted"
  | "windows_path"
  | "not_found"
  | "not_a_directory";

export type Translated =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly reason: CwdReason };

const DRIVE = /^\/?([A-Za-z]):([\\/].*)?$/s;
const DRIVE_RELATIVE = /^[A-Za-z]:[^\\/]/s;
const FILE_URI = /^file:/i;
const WSL_HOSTS = new Set(["wsl.localhost", "wsl$"]);

function ok(path: string): Translated {
  return { ok: true, path };
}

function refused(reason: CwdReason): Translated {
  return { ok: false, reason };
}

/** Reads the facts: `HERMES_WSL=1|0` overrides what `/proc/version` says. */
export function readHostFacts(
  platform: Pick<Platform, "os" | "files">,
  env: (name: string) => string | undefined,
): HostFacts {
  const { os, files } = platform;
  const readText = (path: string): string => {
    try {
      return files.readTextSync(path) ?? "";
    } catch {
      return ""; // Not readable: the defaults hold.
    }
  };
  const override = env("HERMES_WSL");
  const wsl = override === "1" ||
    (override !== "0" && os === "linux" && /microsoft/i.test(readText("/proc/version")));
  const mountRoot = wsl ? mountRootOf(readText("/etc/wsl.conf")) : "/mnt/";
  return { os, wsl, distro: env("WSL_DISTRO_NAME") ?? null, mountRoot };
}

/** `root` of `[automount]` in wsl.conf, with a trailing slash; `/mnt/` when it is not set. */
export function mountRootOf(wslConf: string): string {
  let section = "";
  for (const line of wslConf.split(/\r?\n/)) {
    const header = /^\s*\[(.+?)\]\s*$/.exec(line);
    if (header) section = header[1]!.trim().toLowerCase();
    const entry = /^\s*root\s*=\s*"?([^"#]+?)"?\s*(#.*)?$/i.exec(line);
    if (entry && section === "automount") return entry[1]!.replace(/\/*$/, "/");
  }
  return "/mnt/";
}

/** Collapses `//`, `.`, `..` and drops the trailing slash. */
export function cleanPosix(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return "/" + parts.join("/");
}

function cleanWindows(path: string): string {
  const unc = /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)(.*)$/s.exec(path);
  if (unc) {
    return `\\\\${unc[1]}\\${unc[2]}${cleanPosix(toSlashes(unc[3]!)).replaceAll("/", "\\")}`.replace(
      /\\$/,
      "",
    );
  }
  const drive = DRIVE.exec(path)!;
  return `${drive[1]!.toUpperCase()}:${cleanPosix(toSlashes(drive[2] ?? "/")).replaceAll("/", "\\")}`;
}

function toSlashes(path: string): string {
  return path.replaceAll("\\", "/");
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A stray percent sign is taken as itself.
  }
}

/** A `file:` URI as a plain path: its own, or the UNC form when it names a host. */
export function pathOfFileUri(uri: string): string {
  const rest = uri.slice("file:".length);
  if (!rest.startsWith("//")) return decodePercent(rest);
  const match = /^\/\/([^/]*)(.*)$/s.exec(rest)!;
  const host = match[1]!.toLowerCase();
  const path = decodePercent(match[2]!);
  if (host === "" || host === "localhost") return path;
  return `//${decodePercent(match[1]!)}${path}`;
}

function stripDevicePrefix(path: string): string {
  if (/^\\\\\?\\UNC\\/i.test(path)) return "\\\\" + path.slice(8);
  return path.replace(/^\\\\[?.]\\/, "");
}

function isUnc(path: string): boolean {
  return /^(\\\\|\/\/)/.test(path);
}

/** `\\wsl$\<distro>\rest` as `/rest` of this distribution. */
function translateUnc(path: string, host: HostFacts): Translated {
  const [server = "", distro = "", ...rest] = toSlashes(path).slice(2).split("/");
  if (!WSL_HOSTS.has(server.toLowerCase()) || distro === "") return refused("unc_not_mounted");
  if (host.distro !== null && distro.toLowerCase() !== host.distro.toLowerCase()) {
    return refused("other_distro");
  }
  return ok(cleanPosix("/" + rest.join("/")));
}

function translateUnderWsl(path: string, host: HostFacts): Translated {
  const plain = stripDevicePrefix(path);
  if (isUnc(plain)) return translateUnc(plain, host);
  const drive = DRIVE.exec(plain);
  if (drive) {
    return ok(cleanPosix(`${host.mountRoot}${drive[1]!.toLowerCase()}/${toSlashes(drive[2] ?? "")}`));
  }
  if (DRIVE_RELATIVE.test(plain)) return refused("drive_relative");
  return translatePosix(plain);
}

function translatePosix(path: string): Translated {
  return path.startsWith("/") ? ok(cleanPosix(path)) : refused("not_absolute");
}

function looksLikeWindows(path: string): boolean {
  return path.startsWith("\\\\") || DRIVE.test(path) || DRIVE_RELATIVE.test(path) ||
    /^\/\/wsl(\.localhost|\$)(\/|$)/i.test(path);
}

function translateOnWindows(path: string): Translated {
  const plain = stripDevicePrefix(path);
  if (/^[\\/]{2}[^\\/]+[\\/]+[^\\/]/.test(plain)) return ok(cleanWindows(plain));
  if (isUnc(plain)) return refused("unc_not_mounted");
  if (DRIVE.test(plain)) return ok(cleanWindows(plain));
  if (DRIVE_RELATIVE.test(plain)) return refused("drive_relative");
  const mounted = /^\/mnt\/([A-Za-z])(\/.*)?$/s.exec(plain);
  if (mounted) return ok(cleanWindows(`${mounted[1]}:${mounted[2] ?? "/"}`));
  return refused("not_absolute");
}

/** The path this machine uses for what the client wrote; lexical only. */
export function translatePath(raw: string, host: HostFacts): Translated {
  const trimmed = raw.trim();
  if (trimmed === "") return refused("not_absolute");
  const isUri = FILE_URI.test(trimmed);
  const path = isUri ? pathOfFileUri(trimmed) : trimmed;
  // No file system has such a path, and half of the program would see it cut.
  if (path.includes("\0")) return refused("not_absolute");
  if (host.os === "windows") return translateOnWindows(path);
  if (host.wsl) return translateUnderWsl(path, host);
  if (looksLikeWindows(path)) return refused("windows_path");
  // Another machine's: here two slashes are as good as one.
  return isUri && path.startsWith("//") ? refused("unc_not_mounted") : translatePosix(path);
}

const EXPLANATIONS: Record<CwdReason, string> = {
  not_absolute: "it is not an absolute path",
  drive_relative: "it is relative to a drive; write the path from the root of the drive",
  other_distro: "it belongs to another WSL distribution",
  unc_not_mounted: "a network path cannot be used as a directory here",
  windows_path: "it is a Windows path, and this is not Windows or WSL",
  not_found: "there is no such directory",
  not_a_directory: "it is not a directory",
};

/** The -32602 that every unusable path is answered with. */
export function pathError(field: string, value: string, translated: string | null, reason: CwdReason) {
  return invalidParams(`Cannot use ${field} "${value.slice(0, 300)}": ${EXPLANATIONS[reason]}`, {
    field,
    value,
    translated,
    reason,
  });
}

/** The translated path. Throws the -32602 of a path that has no form here. */
export function requirePath(field: string, raw: string, host: HostFacts): string {
  const result = translatePath(raw, host);
  if (result.ok) return result.path;
  throw pathError(field, raw, null, result.reason);
}

/** The translated path of a directory that is there now. Throws the -32602 otherwise. */
export async function requireDirectory(
  field: string,
  raw: string,
  host: HostFacts,
  files: Pick<Files, "stat">,
): Promise<string> {
  const path = requirePath(field, raw, host);
  const stat = await files.stat(path).catch(() => null);
  if (stat === null) throw pathError(field, raw, path, "not_found");
  if (!stat.isDirectory) throw pathError(field, raw, path, "not_a_directory");
  return path;
}

/** Compares directories in list filters: `~` expanded, drives as mounts even off WSL, real paths where they exist. */
export class PathComparer {
  readonly #host: HostFacts;
  readonly #homeDir: string;
  readonly #files: Pick<Files, "realPathSync">;
  /** Thousands of sessions share few directories. */
  readonly #known = new Map<string, string>();

  constructor(host: HostFacts, homeDir: string, files: Pick<Files, "realPathSync">) {
    this.#host = host;
    this.#homeDir = homeDir;
    this.#files = files;
  }

  /** The comparison form of a stored directory. */
  formOf(path: string): string {
    let form = this.#known.get(path);
    if (form === undefined) {
      form = this.#resolve(this.#spell(path));
      this.#known.set(path, form);
    }
    return form;
  }

  /** The comparison form of a filter. Throws the -32602 of a path that has no form here. */
  formOfFilter(raw: string): string {
    const spelled = this.#spell(raw.trim());
    return this.#resolve(requirePath("cwd", spelled, this.#host));
  }

  #spell(path: string): string {
    if (path === "~" || path.startsWith("~/")) return this.#homeDir + path.slice(1);
    if (this.#host.os === "windows") return path;
    const drive = DRIVE.exec(path);
    const spelled = drive && !this.#host.wsl
      ? cleanPosix(`/mnt/${drive[1]!.toLowerCase()}/${toSlashes(drive[2] ?? "")}`)
      : path;
    return spelled.replace(/^\/mnt\/([A-Z])(?=\/|$)/, (_, letter: string) => `/mnt/${letter.toLowerCase()}`);
  }

  #resolve(path: string): string {
    try {
      return this.#files.realPathSync(path) ?? cleanOf(path, this.#host);
    } catch {
      return cleanOf(path, this.#host); // Not readable: compared by its spelling.
    }
  }
}

function cleanOf(path: string, host: HostFacts): string {
  return host.os === "windows" ? path : cleanPosix(path);
}
