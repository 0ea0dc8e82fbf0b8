/**
 * `FileAccess` over the local disk: atomic writes that keep the mode, go through symbolic links to their target and
 * leave no half-written file. Used where no editor offers its own buffers.
 */
import { basename, dirname, join } from "node:path";
import type { FileAccess } from "@/core/contract.ts";
import { isNotFound, type Platform } from "@/platform/mod.ts";

function isPermission(error: unknown): boolean {
  return error instanceof Error && (error.name === "PermissionDenied" || error.name === "NotCapable");
}

/** Files of this machine. */
export function createLocalFiles(platform: Platform): FileAccess {
  const { files } = platform;

  /** Where a write really goes; a link to nothing is refused, since a rename would replace the link itself. */
  async function targetOf(path: string): Promise<string> {
    const real = await files.realPath(path);
    if (real !== null) return real;
    if (await files.lstat(path)) throw new Error(`Cannot write '${path}': it is a symbolic link to nothing`);
    return path;
  }

  /** Made first and looked at then: whatever becomes of the links on the way, it is where it should be. */
  async function checkPlace(made: string, wanted: string): Promise<void> {
    if (await files.realPath(made) === wanted) return;
    throw new Error(`Cannot write '${wanted}': a link on the way to it was changed`);
  }

  async function replace(
    target: string,
    data: Uint8Array,
    mode: number | undefined,
    isFixed: boolean,
  ): Promise<void> {
    const temporary = join(
      dirname(target),
      `.hermes-tmp.${basename(target).slice(0, 100)}.${platform.ids.hex(8)}`,
    );
    try {
      await files.write(temporary, data, mode === undefined ? {} : { mode: 0o600 });
      if (isFixed) await checkPlace(temporary, temporary);
      if (mode !== undefined) await files.chmod(temporary, mode & 0o7777);
      await files.rename(temporary, target);
    } catch (error) {
      await files.remove(temporary).catch(() => {/* it was never made */});
      // A directory that takes no new files may still hold a file that can be written.
      if (mode === undefined || !isPermission(error)) throw error;
      if (isFixed) await checkPlace(target, target);
      await files.write(target, data);
    }
  }

  return {
    read: (path) => files.read(path),
    exists: async (path) => await files.stat(path) !== null,
    async write(path, data, real) {
      const target = real ?? await targetOf(path);
      if (real !== undefined && await files.lstat(path) && await targetOf(path) !== real) {
        throw new Error(`Cannot write '${path}': it leads to another place than before`);
      }
      const stat = await files.stat(target);
      if (stat && !stat.isFile) throw new Error(`Cannot write '${path}': it is not a regular file`);
      if (stat && platform.os !== "windows" && (stat.mode & 0o222) === 0) {
        throw new Error(`Cannot write '${path}': it is read-only`);
      }
      if (!stat) await files.mkdir(dirname(target));
      await replace(target, data, stat?.mode, real !== undefined);
    },
    remove: (path) => files.remove(path),
    async rename(from, to) {
      await files.mkdir(dirname(to));
      await files.rename(from, to);
    },
  };
}

/** The bytes of a file; `null` when it is absent. */
export async function readIfThere(files: FileAccess, path: string): Promise<Uint8Array | null> {
  if (!await files.exists(path)) return null;
  try {
    return await files.read(path);
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}
