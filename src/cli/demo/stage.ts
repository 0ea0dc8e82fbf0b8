/**
 * The throw-away place of `hermes demo`: a data home and a work folder of its own, and an environment without any
 * key or setting of the user, so that nothing of theirs is read, used or changed.
 */
import type { Platform } from "@/platform/mod.ts";

export interface Stage {
  readonly platform: Platform;
  /** Holds the other two. */
  readonly base: string;
  readonly home: string;
  /** The sessions' directory, real path. */
  readonly work: string;
  readonly env: Record<string, string>;
  /** Bearer key of the API door, made for this run. */
  readonly apiKey: string;
  /** Milliseconds since the demo began. */
  elapsed(): number;
  /** Text with the paths of the work folder made short. */
  short(text: string): string;
  readText(name: string): Promise<string | null>;
  remove(): Promise<void>;
}

export const GREETING_FILE = "greeting.txt";
export const GREETING = "Hello, world!\nThis file was made for the demo.\n";

/** Settings and secrets of the user; their names end or begin like this. */
const PRIVATE_NAMES =
  /^(HERMES_|API_SERVER_|TERMINAL_|DELEGATION_|AWS_|CUSTOM_)|(_API_KEY|_TOKEN|_SECRET|_PASSWORD|_BASE_URL)$/;

export async function openStage(platform: Platform): Promise<Stage> {
  const started = platform.clock.monotonic();
  const made = `${platform.tempDir()}/hermes-demo-${platform.ids.hex(8)}`;
  await platform.files.mkdir(made, { mode: 0o700 });
  const base = await platform.files.realPath(made) ?? made;
  const [home, work] = [`${base}/home`, `${base}/work`];
  await platform.files.mkdir(home, { mode: 0o700 });
  await platform.files.mkdir(work, { mode: 0o700 });
  await platform.files.write(`${work}/${GREETING_FILE}`, new TextEncoder().encode(GREETING));
  const apiKey = `demo-${platform.ids.hex(32)}`;
  const kept = Object.entries(platform.env()).filter(([name]) => !PRIVATE_NAMES.test(name));
  return {
    platform,
    base,
    home,
    work,
    env: { ...Object.fromEntries(kept), HERMES_HOME: home, API_SERVER_KEY: apiKey, NO_COLOR: "1" },
    apiKey,
    elapsed: () => platform.clock.monotonic() - started,
    short: (text) => text.replaceAll(`${work}/`, ""),
    readText: async (name) => {
      const path = `${work}/${name}`;
      if (await platform.files.stat(path) === null) return null;
      return new TextDecoder().decode(await platform.files.read(path));
    },
    remove: () => platform.files.remove(base, { recursive: true }),
  };
}
