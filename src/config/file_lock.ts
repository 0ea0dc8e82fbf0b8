/** The lock of `lib/file_lock.ts` in the words of the configuration: who cannot get it is told so as a domain error. */
import { HermesError } from "@/core/contract.ts";
import { FileLockError, withFileLock as locked } from "@/lib/file_lock.ts";
import type { Platform } from "@/platform/mod.ts";

export { replaceFile } from "@/lib/file_lock.ts";

/** Runs `work` while no other process is inside for the same `path`. Throws `config_invalid` after 15 s. */
export async function withFileLock<T>(platform: Platform, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await locked(platform, path, work);
  } catch (error) {
    if (!(error instanceof FileLockError)) throw error;
    throw new HermesError(
      "config_invalid",
      `Cannot change the configuration: ${error.lock} is held by another process`,
    );
  }
}
