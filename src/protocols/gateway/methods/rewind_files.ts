/**
 * The files' half of a rewind with `restore_files`: what the turns that are cut away did to files is taken back
 * first, all or nothing. When the cut then fails, the files go back to where they were.
 */
import type { Hermes } from "@/app/mod.ts";
import type { FileRestore } from "@/core/contract.ts";
import { toRpcError } from "../domain_errors.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import type { RewindTarget } from "./rewind.ts";
import { refusalOf } from "./rollback.ts";

/** Runs `cut` with the files put back. Throws 4031 (nothing was touched), 5021, and what `cut` throws. */
export async function withFilesRestored<T>(
  hermes: Hermes,
  live: LiveSession,
  target: RewindTarget,
  cut: () => Promise<T>,
): Promise<{ result: T; files: readonly FileRestore[] }> {
  const { session } = live;
  const before = hermes.platform.clock.now() / 1000;
  const files = await putBack(hermes, session.id, target.at);
  try {
    return { result: await cut(), files };
  } catch (error) {
    await undo(hermes, session.id, before);
    throw error;
  }
}

async function putBack(hermes: Hermes, sessionId: string, since: number): Promise<readonly FileRestore[]> {
  const { done, files } = await hermes.fileHistory.restore(sessionId, since).catch((error) => {
    throw toRpcError(error, 5021);
  });
  if (done) return files;
  const { reason, error } = refusalOf(files);
  throw new RpcError(4031, error, { reason, files });
}

async function undo(hermes: Hermes, sessionId: string, since: number): Promise<void> {
  const undone = await hermes.fileHistory.restore(sessionId, since).catch(() => ({ done: false }));
  if (!undone.done) {
    hermes.log.warn("A rewind failed after files were put back, and they could not be brought forth again");
  }
}
