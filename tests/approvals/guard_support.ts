/** A guard over a real temporary home, for the tests of this room. */
import { createGuard } from "@/approvals/mod.ts";
import { createConfig } from "@/config/mod.ts";
import type { ConfigService, EditPolicy, EditProposal, Guard, GuardContext, Settings } from "@/core/mod.ts";
import { createRedactor } from "@/lib/redact.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import type { Platform } from "@/platform/mod.ts";

export interface GuardRig {
  readonly guard: Guard;
  readonly platform: Platform;
  /** The user's home. */
  readonly user: string;
  /** The data home, `<user>/.hermes`. */
  readonly home: string;
  readonly cwd: string;
  readonly warnings: string[];
  readonly config: ConfigService;
  settings(): Settings;
  context(changes?: Partial<GuardContext>): GuardContext;
  /** A second guard over the same files, as another process would have. */
  again(): Guard;
}

/** Everything lives below one temporary directory that is removed afterwards. */
export async function withGuard(
  run: (rig: GuardRig) => void | Promise<void>,
  options: { config?: string; env?: Record<string, string> } = {},
): Promise<void> {
  const base = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "hermes-guard-" }));
  const [user, home, cwd, temp] = [`${base}/user`, `${base}/user/.hermes`, `${base}/work`, `${base}/temp`];
  for (const folder of [user, home, cwd, temp]) Deno.mkdirSync(folder, { recursive: true });
  if (options.config) Deno.writeTextFileSync(`${home}/config.jsonc`, options.config);
  const env = { HOME: user, HERMES_HOME: home, ...options.env };
  const real = createDenoPlatform();
  const platform: Platform = {
    ...real,
    env: () => ({ ...env }),
    homeDir: () => user,
    tempDir: () => temp,
    cwd: () => cwd,
  };
  const warnings: string[] = [];
  const quiet = () => {};
  const open = () => {
    const config = createConfig({ platform });
    const redact = createRedactor({ knownSecrets: () => config.knownSecrets(), enabled: true });
    const log = { debug: quiet, info: quiet, error: quiet, warn: (text: string) => void warnings.push(text) };
    return { config, guard: createGuard({ platform, config, redact, log }) };
  };
  const { config, guard } = open();
  const context = (changes: Partial<GuardContext> = {}): GuardContext => ({
    scope: "s1",
    sessionId: "s1",
    cwd,
    roots: [cwd],
    editPolicy: null,
    yolo: false,
    canAsk: true,
    settings: config.settings(),
    ...changes,
  });
  try {
    await run({
      guard,
      platform,
      user,
      home,
      cwd,
      warnings,
      config,
      settings: () => config.settings(),
      context,
      again: () => open().guard,
    });
  } finally {
    Deno.removeSync(base, { recursive: true });
  }
}

/** The proposal of a tool that would write these absolute paths. */
export function proposalFor(...paths: string[]): EditProposal {
  return {
    toolName: paths.length > 1 ? "patch" : "write_file",
    path: paths.join(", "),
    oldText: null,
    newText: "x",
    arguments: {},
    paths,
    edits: paths.map((path) => ({ path, oldText: null, newText: "x" })),
  };
}

export function withPolicy(rig: GuardRig, editPolicy: EditPolicy): GuardContext {
  return rig.context({ editPolicy });
}
