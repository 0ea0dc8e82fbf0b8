/** The process that folds the log of a database back: this program again, with the path (`src/cli/fold_back.ts`). */
import { within } from "@/lib/abort.ts";
import { selfCommand, selfEnv } from "@/lib/self_command.ts";
import type { Platform } from "@/platform/mod.ts";
import type { FoldBackElsewhere } from "@/store/mod.ts";

/** The word that starts it; no command for people. */
const FOLD_COMMAND = "fold-back";
/** Milliseconds before it is started: what was written is shown, and goes to a model, first. */
const PAUSE_MS = 250;
/** A log of a gigabyte on a slow disk needs less. */
const TIMEOUT_MS = 60_000;
/** A killed process needs less. */
const GONE_MS = 1_000;

export function createFoldBack(platform: Platform, home: string): FoldBackElsewhere {
  return async (path, signal) => {
    await platform.clock.delay(PAUSE_MS, { signal });
    const [command, ...prefix] = selfCommand(platform.execPath());
    let told = "";
    const child = platform.spawn(command, [...prefix, FOLD_COMMAND, path], {
      cwd: home,
      env: selfEnv(platform.env(), home),
      stdin: "null",
      onStdout: () => {},
      onStderr: (chunk) => told = (told + new TextDecoder().decode(chunk)).slice(-500),
    });
    const stop = new AbortController();
    try {
      const late = platform.clock.delay(TIMEOUT_MS, { signal: AbortSignal.any([signal, stop.signal]) });
      const ended = await Promise.race([child.exited, late]);
      if (!ended) throw new Error("it takes too long");
      if (ended.code !== 0) throw new Error(told.trim() || `exit code ${ended.code}`);
    } finally {
      stop.abort();
      child.kill("SIGKILL");
      // It has the database open until it is gone.
      await within(child.exited, GONE_MS).catch(() => {/* it has never begun */});
    }
  };
}
