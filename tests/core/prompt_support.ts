/** A prompt built on a real temp directory: settings of an empty config, a model without a window, no tools. */
import { createConfig } from "../../src/config/mod.ts";
import { DirectoryLooks } from "../../src/core/directory_looks.ts";
import type { PromptFacts } from "../../src/core/system_prompt.ts";
import { buildSystemPrompt } from "../../src/core/system_prompt.ts";
import type { ResolvedModel, Settings, Tool } from "../../src/core/mod.ts";
import { createDenoPlatform } from "../../src/platform/deno.ts";

export interface PromptBench extends AsyncDisposable {
  readonly cwd: string;
  readonly home: string;
  readonly warnings: string[];
  write(path: string, text: string): Promise<void>;
  facts(overrides?: Overrides): PromptFacts;
  build(overrides?: Overrides): Promise<string>;
}

export interface Overrides extends Partial<PromptFacts> {
  /** Merged into the settings, section by section. */
  readonly config?: Record<string, unknown>;
  readonly modelName?: string;
}

// deno-lint-ignore no-explicit-any
function merge(base: any, over: any): any {
  if (typeof base !== "object" || base === null || Array.isArray(base) || typeof over !== "object") {
    return over;
  }
  const out = { ...base };
  for (const [key, value] of Object.entries(over)) out[key] = key in base ? merge(base[key], value) : value;
  return out;
}

/** `surface` is `api_server`, so that no coding posture depends on the directory, unless a test says so. */
export async function makePromptBench(): Promise<PromptBench> {
  const base = await Deno.realPath(await Deno.makeTempDir({ prefix: "hermes-prompt-" }));
  const [cwd, home] = [`${base}/work`, `${base}/home`];
  for (const dir of [cwd, home]) await Deno.mkdir(dir);
  const real = createDenoPlatform();
  const env = { PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin", HOME: base, HERMES_HOME: home };
  const platform = { ...real, env: () => ({ ...env }), homeDir: () => base };
  const settings = createConfig({ platform }).settings();
  const warnings: string[] = [];

  function facts({ config, modelName, ...overrides }: Overrides = {}): PromptFacts {
    return {
      platform,
      settings: merge(settings, config ?? {}) as Settings,
      log: { warn: (text) => void warnings.push(text) },
      home,
      looks: new DirectoryLooks((overrides.platform ?? platform).files),
      cwd,
      roots: [cwd],
      surface: "api_server",
      tools: [],
      model: { provider: "custom", model: modelName ?? "m1", contextWindow: null } as ResolvedModel,
      skills: null,
      childEnv: env,
      ...overrides,
    };
  }
  return {
    cwd,
    home,
    warnings,
    facts,
    build: (overrides) => buildSystemPrompt(facts(overrides)),
    async write(path, text) {
      const full = path.startsWith("/") ? path : `${cwd}/${path}`;
      // Through the platform: what it has seen in this turn of the event loop is seen anew.
      await real.files.mkdir(full.slice(0, full.lastIndexOf("/")));
      await real.files.write(full, new TextEncoder().encode(text));
    },
    [Symbol.asyncDispose]: () => Deno.remove(base, { recursive: true }),
  };
}

/** A tool that is only there. */
export function namedTool(name: string, toolset = name): Tool {
  return { name, toolset, description: "", parameters: { type: "object" } } as unknown as Tool;
}
