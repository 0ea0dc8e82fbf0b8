/** A configuration over a temporary home, for the tests of this room. */
import { createConfig } from "@/config/mod.ts";
import type { ConfigService } from "@/core/mod.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import type { Platform } from "@/platform/mod.ts";

export interface ConfigRig {
  readonly home: string;
  readonly config: ConfigService;
  readonly platform: Platform;
  /** Another one over the same home, as another process would have. */
  open(env?: Record<string, string>): ConfigService;
  read(name: string): string;
  write(name: string, text: string): void;
  names(): string[];
  mode(name: string): number;
}

export async function withConfig(
  run: (rig: ConfigRig) => void | Promise<void>,
  options: {
    files?: Record<string, string>;
    env?: Record<string, string>;
    os?: Platform["os"];
    /** The administrator's file; there is none by default. */
    admin?: string;
  } = {},
): Promise<void> {
  const base = Deno.makeTempDirSync({ prefix: "hermes-config-" });
  const home = `${base}/home`;
  const real = createDenoPlatform();
  const platformFor = (env: Record<string, string>): Platform => ({
    ...real,
    env: () => ({ ...env }),
    homeDir: () => base,
  });
  const files = Object.entries(options.files ?? {});
  if (files.length > 0) Deno.mkdirSync(home);
  for (const [name, text] of files) Deno.writeTextFileSync(`${home}/${name}`, text);
  const admin = `${base}/machine.jsonc`;
  if (options.admin !== undefined) Deno.writeTextFileSync(admin, options.admin);
  const open = (env: Record<string, string> = options.env ?? {}) =>
    createConfig({ platform: platformFor(env), home, admin });
  try {
    await run({
      home,
      config: open(),
      platform: platformFor(options.env ?? {}),
      open,
      read: (name) => Deno.readTextFileSync(`${home}/${name}`),
      write: (name, text) => real.files.writeSync(`${home}/${name}`, text),
      names: () => [...Deno.readDirSync(home)].map((entry) => entry.name).sort(),
      mode: (name) => (Deno.statSync(`${home}/${name}`).mode ?? 0) & 0o777,
    });
  } finally {
    Deno.removeSync(base, { recursive: true });
  }
}
