/**
 * Faults of ours that did not end the process (tui-gateway.md A.1 "Crash trail"): one line on stderr, the whole
 * story in `$HERMES_HOME/logs/tui_gateway_crash.log`. Bounded; never throws; secrets are masked once the program
 * is loaded, and before that there are none.
 */
import type { Platform } from "@/platform/mod.ts";

const MAX_BYTES = 1 << 20;

export interface CrashTrail {
  report(where: string, error: unknown): void;
  /** Takes secrets out of a text that is shown. */
  mask(text: string): string;
  /** What is known once the program is loaded. */
  learn(home: string, redact: (text: string) => string): void;
  /** Resolves when what was reported is written. */
  flush(): Promise<void>;
}

export function createCrashTrail(platform: Platform): CrashTrail {
  let home = platform.env()["HERMES_HOME"] || `${platform.homeDir()}/.hermes`;
  let redact = (text: string) => text;
  let writing = Promise.resolve();

  async function append(text: string): Promise<void> {
    const path = `${home}/logs/tui_gateway_crash.log`;
    await platform.files.mkdir(`${home}/logs`, { mode: 0o700 });
    const stat = await platform.files.stat(path);
    if (stat && stat.size > MAX_BYTES) await platform.files.rename(path, `${path}.1`);
    await platform.files.append(path, new TextEncoder().encode(text), { mode: 0o600 });
  }

  return {
    report(where, error) {
      const story = redact(error instanceof Error ? error.stack ?? String(error) : String(error));
      const name = error instanceof Error ? error.name : typeof error;
      const message = redact(error instanceof Error ? error.message : String(error)).split("\n")[0]!;
      platform.stderr(`[gateway-crash] ${name}: ${message}`);
      const at = new Date(platform.clock.now()).toISOString();
      writing = writing.then(() => append(`${at} ${where}\n${story}\n\n`)).catch(() => {
        // The log cannot be written: the line on stderr has to do.
      });
    },
    learn(knownHome, knownRedact) {
      home = knownHome;
      redact = knownRedact;
    },
    mask: (text) => redact(text),
    flush: () => writing,
  };
}
