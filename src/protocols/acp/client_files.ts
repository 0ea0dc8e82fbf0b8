/**
 * Workspace files through the client's own buffers (acp.md C8.5): what an editor has not saved is what the agent
 * reads, and an edit lands in the open buffer. Outside the roots, and for a client that cannot, it is the disk. An
 * error of the client is the tool's error; the disk never stands in for it.
 *
 *   client offers     read                  write
 *   read and write    client                client (it may format what it saves)
 *   read only         client                disk, unless the client holds unsaved text
 *   write only        disk                  client
 *   else              disk                  disk
 */
import { dirname } from "node:path";
import type { FileAccess, WorkspaceShell } from "@/core/contract.ts";
import type { Files } from "@/platform/mod.ts";
import { isObject } from "./envelope.ts";
import { PeerError } from "./peer.ts";

export interface ClientFilesHost {
  readonly disk: FileAccess;
  readonly files: Pick<Files, "realPath" | "mkdir" | "statSync">;
  /** What the client offers now. */
  offers(): { readonly read: boolean; readonly write: boolean };
  /** Directories of the session; nothing outside of them is asked of the client. */
  roots(): readonly string[];
  /**
   * One bounded question to the client, on behalf of the running turn or of what `signal` stands for; rejects with
   * `PeerError` when it answers with an error.
   */
  request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ): Promise<unknown>;
  /** The client's terminals, where commands are to run in them. */
  shell?(): WorkspaceShell | null;
}

const encoder = new TextEncoder();
const MAX_REASON_CHARS = 300;
/** A line that can be read holds less of a file than this (acp.md B3); the answer would be lost, and waited for. */
const MAX_BYTES = 32 * 1024 * 1024;

function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(/[\\/]$/.test(root) ? root : `${root}${separatorOf(root)}`);
}

function separatorOf(path: string): string {
  return /^[A-Za-z]:\\|^\\\\/.test(path) ? "\\" : "/";
}

function textOf(path: string, data: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    throw new Error(`Cannot write '${path}' through the editor: it is not UTF-8 text`);
  }
}

/** Clients often say "Internal error" and put what happened into the details. */
function reasonOf({ error }: PeerError): string {
  const message = isObject(error) && typeof error.message === "string" ? error.message : "it gave no reason";
  const data = isObject(error) ? error.data : undefined;
  const details = isObject(data) ? data.details : data;
  return (typeof details === "string" ? `${message}: ${details}` : message).slice(0, MAX_REASON_CHARS);
}

export class ClientFiles implements FileAccess {
  readonly #host: ClientFilesHost;
  /** The session was opened in it although it is not there. */
  #missing: string | null = null;

  constructor(host: ClientFilesHost) {
    this.#host = host;
  }

  /** The session has been opened here; `null` = in a directory that is there. */
  openedWithout(directory: string | null): void {
    this.#missing = directory;
  }

  /** It may have been made since. */
  missing(): string | null {
    if (this.#missing !== null && this.#host.files.statSync(this.#missing)?.isDirectory) this.#missing = null;
    return this.#missing;
  }

  shell(): WorkspaceShell | null {
    return this.#host.shell?.() ?? null;
  }

  /**
   * The text of a file as the client holds it, for an attachment of a prompt; `null` where the disk is what counts.
   * Rejects with an `Error` for people when the client could not give it.
   */
  async buffer(path: string, signal: AbortSignal): Promise<string | null> {
    return await this.#reads(path) ? await this.#readText(path, signal) : null;
  }

  async read(path: string): Promise<Uint8Array> {
    if (!await this.#reads(path)) return await this.#host.disk.read(path);
    return encoder.encode(await this.#readText(path));
  }

  /** A buffer that was never saved exists for the client alone. */
  async exists(path: string): Promise<boolean> {
    if (await this.#host.disk.exists(path)) return true;
    if (!await this.#reads(path)) return false;
    try {
      // Only whether it is there is wanted.
      await this.#host.request("fs/read_text_file", { path, limit: 1 });
      return true;
    } catch (error) {
      if (error instanceof PeerError) return false;
      throw error;
    }
  }

  async write(path: string, data: Uint8Array, real?: string): Promise<void> {
    const { disk, files } = this.#host;
    if (!await this.#writes(path)) {
      if (await this.#reads(path)) await this.#requireSaved(path);
      return await disk.write(path, data, real);
    }
    const content = textOf(path, data);
    await files.mkdir(dirname(path));
    await this.#ask("write", path, { path, content });
  }

  async remove(path: string): Promise<void> {
    await this.#host.disk.remove(path);
  }

  /** Unsaved text moves with the file. */
  async rename(from: string, to: string): Promise<void> {
    const held = await this.#reads(from) ? await this.read(from) : null;
    await this.#host.disk.rename(from, to);
    if (held) await this.write(to, held);
  }

  /** Editors format on saving, and take up a change of the disk in their own time. */
  async reshapes(path: string): Promise<boolean> {
    return await this.#writes(path) || await this.#reads(path);
  }

  async #reads(path: string): Promise<boolean> {
    return this.#host.offers().read && await this.#isInside(path);
  }

  async #writes(path: string): Promise<boolean> {
    return this.#host.offers().write && await this.#isInside(path);
  }

  /** As written, or by the real paths of both. */
  async #isInside(path: string): Promise<boolean> {
    const roots = this.#host.roots();
    if (roots.some((root) => isWithin(path, root))) return true;
    const { files } = this.#host;
    const real = await files.realPath(path).catch(() => null);
    if (real === null) return false;
    for (const root of roots) {
      const realRoot = await files.realPath(root).catch(() => null);
      if (realRoot !== null && isWithin(real, realRoot)) return true;
    }
    return false;
  }

  /**
   * The whole text, without `line` and `limit`: how many lines there are, whether it is what was read before, and its
   * line ends are worked out from all of it, and clients may ignore both.
   */
  async #readText(path: string, signal?: AbortSignal): Promise<string> {
    const size = this.#host.files.statSync(path)?.size ?? 0;
    if (size >= MAX_BYTES) {
      throw new Error(
        `'${path}' has ${size} bytes, more than an editor can hand over (${MAX_BYTES}). Use search_files, or ` +
          "`sed -n '<from>,<to>p'` in the terminal",
      );
    }
    const result = await this.#ask("read", path, { path }, signal);
    const content = isObject(result) ? result.content : undefined;
    if (typeof content === "string") return content;
    throw new Error(`The editor gave no text for '${path}'`);
  }

  async #requireSaved(path: string): Promise<void> {
    const { disk } = this.#host;
    if (!await disk.exists(path)) return;
    const saved = new TextDecoder().decode(await disk.read(path));
    if (saved.replaceAll("\r\n", "\n") === (await this.#readText(path)).replaceAll("\r\n", "\n")) return;
    throw new Error(`The editor holds changes of '${path}' that are not saved; nothing was written`);
  }

  async #ask(
    verb: "read" | "write",
    path: string,
    params: Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<unknown> {
    try {
      return await this.#host.request(`fs/${verb}_text_file`, params, signal);
    } catch (error) {
      if (!(error instanceof PeerError)) throw error;
      throw new Error(`The editor could not ${verb} '${path}': ${reasonOf(error)}`);
    }
  }
}
