/** The real `Platform` on Deno. Below the transports it and `strays.ts` alone touch `Deno.*`. */
import { existsSync } from "node:fs";
import process from "node:process";
import { delay } from "@/lib/abort.ts";
import { withLooks } from "./looks.ts";
import type {
  Child,
  ChildExit,
  DirEntry,
  Files,
  FileStat,
  HttpClient,
  Platform,
  SpawnOptions,
  TlsSettings,
} from "./mod.ts";
import { findStrays, signalStray, type Stray } from "./strays.ts";

function toStat(info: Deno.FileInfo): FileStat {
  return {
    isFile: info.isFile,
    isDirectory: info.isDirectory,
    isSymlink: info.isSymlink,
    isSpecial: !info.isFile && !info.isDirectory && !info.isSymlink,
    size: info.size,
    mtimeMs: info.mtime?.getTime() ?? 0,
    mode: info.mode ?? 0o644,
  };
}

async function orNull<T>(promise: Promise<T>): Promise<T | null> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return null;
    throw error;
  }
}

/** Looks first: a thrown error costs milliseconds at start, and a missing file is the normal case there. */
function orNullSync<T>(path: string, read: (path: string) => T): T | null {
  if (!existsSync(path)) return null;
  try {
    return read(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return null;
    throw error;
  }
}

function modeOf(options?: { mode?: number }): Deno.WriteFileOptions {
  return options?.mode === undefined ? {} : { mode: options.mode };
}

async function readHead(path: string, limit: number): Promise<Uint8Array> {
  using file = await Deno.open(path, { read: true });
  const buffer = new Uint8Array(limit);
  let used = 0;
  while (used < limit) {
    const n = await file.read(buffer.subarray(used));
    if (n === null) break;
    used += n;
  }
  return buffer.subarray(0, used);
}

const files: Omit<Files, "lookSync"> = {
  read: (path) => Deno.readFile(path),
  readHead,
  write: (path, data, options) =>
    Deno.writeFile(path, data, { ...modeOf(options), createNew: options?.fresh ?? false }),
  append: (path, data, options) => Deno.writeFile(path, data, { ...modeOf(options), append: true }),
  rename: (from, to) => Deno.rename(from, to),
  remove: (path, options) => Deno.remove(path, { recursive: options?.recursive ?? false }),
  mkdir: (path, options) => Deno.mkdir(path, { recursive: true, ...modeOf(options) }),
  chmod: (path, mode) => Deno.build.os === "windows" ? Promise.resolve() : Deno.chmod(path, mode),
  stat: async (path) => {
    const info = await orNull(Deno.stat(path));
    return info && toStat(info);
  },
  lstat: async (path) => {
    const info = await orNull(Deno.lstat(path));
    return info && toStat(info);
  },
  realPath: (path) => orNull(Deno.realPath(path)),
  list: async (path) => {
    const entries: DirEntry[] = [];
    for await (const entry of Deno.readDir(path)) entries.push(entry);
    return entries;
  },
  readTextSync: (path) => orNullSync(path, Deno.readTextFileSync),
  statSync: (path) => {
    const info = orNullSync(path, Deno.statSync);
    return info && toStat(info);
  },
  realPathSync: (path) => orNullSync(path, Deno.realPathSync),
  mkdirSync: (path, options) => Deno.mkdirSync(path, { recursive: true, ...modeOf(options) }),
  writeSync: (path, data, options) => Deno.writeTextFileSync(path, data, modeOf(options)),
  renameSync: (from, to) => Deno.renameSync(from, to),
};

/**
 * `Deno.Command` makes no process group, so the node API is used: a detached child leads a group of its own. The
 * module is loaded at the first spawn, since it costs a third of a whole start.
 */
function spawn(command: string, args: string[], options: SpawnOptions): Child {
  const child = process.getBuiltinModule("node:child_process").spawn(command, args, {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: [options.stdin === "pipe" ? "pipe" : "ignore", "pipe", "pipe"],
  });
  const pid = child.pid;
  const started = new Promise<void>((resolve, reject) => {
    child.once("spawn", () => resolve());
    child.once("error", (error: Error) => reject(error));
  });
  child.stdout?.on("data", (chunk: Uint8Array) => options.onStdout(chunk));
  child.stderr?.on("data", (chunk: Uint8Array) => options.onStderr(chunk));
  const exited = new Promise<ChildExit>((resolve, reject) => {
    started.catch(reject);
    child.once("exit", (code: number | null, signal: string | null) => {
      const settle = () => {
        clearTimeout(timer);
        // The runtime never lets go of a pipe that was open once: it must not lead to what the caller holds.
        for (const source of [child, child.stdout, child.stderr]) source?.removeAllListeners();
        for (const source of [child, child.stdout, child.stderr]) source?.on("error", ignore);
        resolve({ code, signal });
      };
      const timer = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
        settle();
      }, 500);
      child.once("close", settle);
    });
  });
  exited.catch(() => {/* reported to whoever awaits it */});
  child.stdin?.on("error", ignore);
  const strays = new Map<number, Stray>();
  return {
    pid: pid ?? -1,
    exited,
    write: (data) =>
      new Promise((resolve, reject) => {
        if (!child.stdin?.writable) return reject(new Error("Cannot write: stdin of the process is closed"));
        child.stdin.write(data, (error?: Error | null) => error ? reject(error) : resolve());
      }),
    closeStdin: () => void child.stdin?.end(),
    kill: (signal) => {
      if (pid === undefined) return;
      // Those that have lost their parents by the next signal are remembered.
      const isThere = child.exitCode === null && child.signalCode === null;
      for (const stray of isThere ? findStrays(pid) : []) strays.set(stray.pid, stray);
      for (const stray of strays.values()) signalStray(stray, signal);
      try {
        Deno.kill(Deno.build.os === "windows" ? pid : -pid, signal);
      } catch {
        // The group is already gone.
      }
    },
    unref: () => child.unref(),
  };
}

/** What a child's pipe still says is known from its exit or from `write()`. It holds nothing of a call of `spawn`. */
function ignore(): void {}

/** The runtime's client always checks certificates, so the way without a check is another one. */
function httpClient(tls: TlsSettings): HttpClient {
  const { caCerts, identity, verify } = tls;
  // Made in both cases: what cannot be read is told at once.
  const client = Deno.createHttpClient({ caCerts: [...caCerts], ...identity });
  let isOpen = true;
  const close = () => {
    if (isOpen) client.close();
    isOpen = false;
  };
  if (verify) return { fetch: (url, init) => fetch(url, { ...init, client }), close };
  return {
    fetch: async (url, init) => {
      if (!url.startsWith("https:")) return await fetch(url, { ...init, client });
      const { fetchUnverified } = await import("./unverified_fetch.ts");
      return await fetchUnverified(url, init ?? {}, identity);
    },
    close,
  };
}

function hex(digits: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(Math.ceil(digits / 2)));
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text.slice(0, digits);
}

const encoder = new TextEncoder();

async function resolve(host: string): Promise<readonly string[]> {
  const [{ lookup }, { default: process }] = await Promise.all([
    import("node:dns/promises"),
    import("node:process"),
  ]);
  // The module warns about its own insides, which says nothing to a user.
  Object.assign(process, { noDeprecation: true });
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** Builds the platform of this process. */
export function createDenoPlatform(): Platform {
  const os = Deno.build.os;
  // Nothing in this program changes it, and each session asks for it.
  let env: Record<string, string> | null = null;
  return {
    os: os === "windows" || os === "darwin" ? os : "linux",
    arch: Deno.build.arch,
    pid: Deno.pid,
    clock: { now: () => Date.now(), monotonic: () => performance.now(), delay },
    ids: { uuid: () => crypto.randomUUID(), hex },
    files: withLooks(files),
    random: () => Math.random(),
    env: () => env ??= Object.freeze(Deno.env.toObject()),
    cwd: () => Deno.cwd(),
    homeDir: () => Deno.env.get("HOME") ?? Deno.env.get("USERPROFILE") ?? "/",
    tempDir: () => (Deno.env.get("TMPDIR") || Deno.env.get("TEMP") || "/tmp").replace(/(.)\/+$/, "$1"),
    execPath: () => Deno.execPath(),
    cpuMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    },
    fetch: (url, init) => fetch(url, init),
    resolve,
    fetchAt: async (url, init, addresses) => {
      const { fetchAt } = await import("./pinned_fetch.ts");
      return await fetchAt(url, init, addresses, Deno.env.toObject());
    },
    reach: async (url, { signal }) => {
      const { reach } = await import("./reach.ts");
      return await reach(url, signal, Deno.env.toObject(), resolve);
    },
    httpClient,
    spawn,
    stderr: (line) => {
      try {
        Deno.stderr.writeSync(encoder.encode(line + "\n"));
      } catch {
        // stderr is closed: there is nobody left to tell.
      }
    },
  };
}
