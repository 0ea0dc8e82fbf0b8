/**
 * The outside world as an interface: clock, ids, files, environment, network, processes.
 * `deno.ts` is the real one (imported by `main.ts` and tests only); `tests/support/fake_platform.ts` is the fake.
 * Rooms above take a `Platform`; none of them touches `Deno.*` (style §21 lists the transports as exceptions).
 */

export interface FileStat {
  readonly isFile: boolean;
  readonly isDirectory: boolean;
  readonly isSymlink: boolean;
  /** FIFO, socket or device: must never be read as a file. */
  readonly isSpecial: boolean;
  readonly size: number;
  /** Milliseconds since the epoch, 0 when unknown. */
  readonly mtimeMs: number;
  readonly mode: number;
}

export interface DirEntry {
  readonly name: string;
  readonly isFile: boolean;
  readonly isDirectory: boolean;
  readonly isSymlink: boolean;
}

/** Paths are absolute. Errors are the runtime's own (`NotFound`, `PermissionDenied`, …), see `isNotFound`. */
export interface Files {
  read(path: string): Promise<Uint8Array>;
  /** Reads at most `limit` bytes from the start. */
  readHead(path: string, limit: number): Promise<Uint8Array>;
  /** Creates or truncates; with `fresh` it only creates, and throws `AlreadyExists` for whatever is there. */
  write(path: string, data: Uint8Array, options?: { mode?: number; fresh?: boolean }): Promise<void>;
  append(path: string, data: Uint8Array, options?: { mode?: number }): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string, options?: { recursive?: boolean }): Promise<void>;
  /** Recursive; no error when it exists. */
  mkdir(path: string, options?: { mode?: number }): Promise<void>;
  chmod(path: string, mode: number): Promise<void>;
  /** Follows links; `null` when absent. */
  stat(path: string): Promise<FileStat | null>;
  /** Does not follow links; `null` when absent. */
  lstat(path: string): Promise<FileStat | null>;
  /** `null` when absent. */
  realPath(path: string): Promise<string | null>;
  list(path: string): Promise<DirEntry[]>;
  /** Synchronous forms for start-up and configuration, where a missing file is the normal case. */
  readTextSync(path: string): string | null;
  statSync(path: string): FileStat | null;
  /** As `statSync`; the same answer for all who ask in one turn of the event loop, until something is written here. */
  lookSync(path: string): FileStat | null;
  realPathSync(path: string): string | null;
  mkdirSync(path: string, options?: { mode?: number }): void;
  writeSync(path: string, data: string, options?: { mode?: number }): void;
  renameSync(from: string, to: string): void;
}

export interface SpawnOptions {
  readonly cwd: string;
  /** The whole environment of the child; nothing is inherited. */
  readonly env: Record<string, string>;
  /** `null` = empty stdin (closed); `pipe` = writable. */
  readonly stdin: "null" | "pipe";
  /** Called for every chunk of stdout; chunks of one stream are in order. */
  onStdout(chunk: Uint8Array): void;
  onStderr(chunk: Uint8Array): void;
}

export interface ChildExit {
  /** Exit code; `null` when a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
}

/** A child in a process group of its own (its descendants share the group). */
export interface Child {
  readonly pid: number;
  /** Settles when the process has ended and both outputs are read, or 500 ms after its end (a survivor may hold them). */
  readonly exited: Promise<ChildExit>;
  write(data: Uint8Array): Promise<void>;
  closeStdin(): void;
  /** Signals the whole group; never throws. */
  kill(signal: "SIGTERM" | "SIGKILL" | "SIGINT"): void;
  /** Lets the program end although the child is running. */
  unref(): void;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Monotonic milliseconds. */
  monotonic(): number;
  delay(ms: number, options?: { signal?: AbortSignal | undefined }): Promise<void>;
}

export interface Ids {
  uuid(): string;
  /** Lower-case hexadecimal digits. */
  hex(digits: number): string;
}

/** How TLS differs from the system's way. All texts are PEM. */
export interface TlsSettings {
  /** Authorities that are trusted beside the system's. */
  readonly caCerts: readonly string[];
  /** What this side shows of itself, certificate and key, or nothing. */
  readonly identity: { readonly cert: string; readonly key: string } | null;
  /** False: whoever answers is believed. */
  readonly verify: boolean;
}

/** `fetch` over connections of its own; redirects are not followed where `verify` is false. */
export interface HttpClient {
  fetch(url: string, init?: RequestInit): Promise<Response>;
  /** Lets go of its connections. Idempotent. */
  close(): void;
}

/** What came of asking whether anybody answers where a request connects to. */
export interface Reach {
  /** Host and port: those of the proxy where the environment names one. */
  readonly address: string;
  readonly isProxy: boolean;
  /** No connection was taken, and at one address at least none was refused. */
  readonly isSilent: boolean;
}

export interface Platform {
  readonly os: "linux" | "darwin" | "windows";
  readonly arch: string;
  readonly pid: number;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly files: Files;
  /** 0 ≤ x < 1. */
  random(): number;
  /** A snapshot of the process environment. */
  env(): Record<string, string>;
  cwd(): string;
  homeDir(): string;
  tempDir(): string;
  execPath(): string;
  /** Milliseconds of a processor that this process has used, all its threads together. */
  cpuMs(): number;
  fetch(url: string, init?: RequestInit): Promise<Response>;
  /** Every address of a host name, as the system resolves it; rejects when there is none. */
  resolve(host: string): Promise<readonly string[]>;
  /** One request to one of `addresses` instead of what the URL's name resolves to; redirects are not followed. */
  fetchAt(url: string, init: RequestInit, addresses: readonly string[]): Promise<Response>;
  /** Asks, by connecting, whether a request to `url` could be made; settles soon after `signal`, which must fire. */
  reach(url: string, options: { signal: AbortSignal }): Promise<Reach>;
  /** Throws when a certificate or a key cannot be read. */
  httpClient(tls: TlsSettings): HttpClient;
  /** Throws when the program cannot be started. */
  spawn(command: string, args: string[], options: SpawnOptions): Child;
  /** Writes one line to stderr; never throws. */
  stderr(line: string): void;
}

/** True for "no such file" errors of `Files`. */
export function isNotFound(error: unknown): boolean {
  return error instanceof Error &&
    (error.name === "NotFound" || (error as { code?: string }).code === "ENOENT");
}
