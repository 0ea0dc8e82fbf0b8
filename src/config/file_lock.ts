/** The lock of `lib/file_lock.ts` in the words of the configuration: who cannot get it, or cannot write, is told so as a domain error. */
import { HermesError } from "@/core/contract.ts";
import { FileLockError, withFileLock as locked } from "@/lib/file_lock.ts";
import type { Platform } from "@/platform/mod.ts";

export { replaceFile } from "@/lib/file_lock.ts";

/**
 * Runs `work` while no other process is inside for the same `path`, in a home that is made when it is missing. Throws
 * `config_invalid` after 15 s, and `store_failed` where nothing can be written.
 */
export async function writeInHome<T>(
  platform: Platform,
  home: string,
  path: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    if (!platform.files.statSync(home)) await platform.files.mkdir(home, { mode: 0o700 });
    return await locked(platform, path, work);
  } catch (error) {
    if (error instanceof FileLockError) {
      throw new HermesError(
        "config_invalid",
        `Cannot change the configuration: ${error.lock} is held by another process`,
      );
    }
    if (error instanceof HermesError || !(error instanceof Error) || !("code" in error)) throw error;
    throw new HermesError(
      "store_failed",
      `Cannot write ${path}: ${error.message}. Set HERMES_HOME to a folder that can be written.`,
      { path },
    );
  }
}
