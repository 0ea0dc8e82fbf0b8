/** The models room with real settings and a real platform, but an environment and a config of the test's own. */
import { loadSettings } from "@/config/load.ts";
import type {
  ConfigService,
  Message,
  ModelChunk,
  ModelClient,
  ModelFailure,
  ModelRequest,
  Models,
  Settings,
} from "@/core/mod.ts";
import { createModels, type ModelFlags } from "@/models/mod.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import type { Platform } from "@/platform/mod.ts";

export const platform: Platform = { ...createDenoPlatform(), env: () => ({}) };

export function settingsOf(config: Record<string, unknown> = {}): Settings {
  return loadSettings(config, () => undefined).settings;
}

/** Every address is unreachable. */
export const offline: Platform = { ...platform, fetch: () => Promise.reject(new TypeError("offline")) };

/** Only servers of the test itself can be reached. */
export const onlyLoopback: Platform = {
  ...platform,
  fetch: (url, init) =>
    new URL(url).hostname === "127.0.0.1"
      ? platform.fetch(url, init)
      : Promise.reject(new TypeError("offline")),
};

/** A data home that is gone afterwards. */
export async function withHome(run: (home: string) => Promise<void>): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "hermes-models-" });
  try {
    await run(home);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

export interface Setup {
  readonly config?: Record<string, unknown>;
  /** In place of `config`, when they change. */
  readonly settings?: () => Settings;
  readonly env?: Record<string, string>;
  readonly flags?: ModelFlags;
  readonly platform?: Platform;
  /** Without one nothing is kept on disk. */
  readonly home?: string;
  /** Milliseconds. */
  readonly connectMs?: number;
}

export function makeModels(setup: Setup = {}): Models {
  const settings = settingsOf(setup.config);
  const env = setup.env ?? {};
  const config = {
    home: setup.home ?? "",
    settings: setup.settings ?? (() => settings),
    env: (name: string) => env[name],
  } as unknown as ConfigService;
  const quiet = () => {};
  return createModels({
    platform: setup.platform ?? platform,
    config,
    flags: setup.flags ?? {},
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    redact: (text) => text,
    ...(setup.connectMs === undefined ? {} : { connectMs: setup.connectMs }),
  });
}

/** A config whose one endpoint is a scripted server. */
export function endpoint(url: string, model: Record<string, unknown> = {}): Record<string, unknown> {
  return { model: { default: "scripted", provider: "custom", base_url: url, ...model } };
}

export function requestOf(text: string, more: Partial<ModelRequest> = {}): ModelRequest {
  const messages: Message[] = [{ role: "user", content: text }];
  return { system: "You help.", messages, tools: [], sessionId: "s1", ...more };
}

export interface Played {
  readonly text: string;
  readonly reasoning: string;
  readonly names: readonly string[];
  readonly batches: number;
  readonly done: Extract<ModelChunk, { type: "done" }> | null;
  readonly failure: ModelFailure | null;
  readonly toolInFlight: boolean;
}

/** Runs one call to its end and folds its chunks. */
export async function play(
  client: ModelClient,
  request: ModelRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<Played> {
  const chunks: ModelChunk[] = [];
  let batches = 0;
  for await (const batch of client.stream(request, { signal })) {
    batches++;
    chunks.push(...batch);
  }
  return { ...fold(chunks), batches };
}

export function fold(chunks: readonly ModelChunk[]): Omit<Played, "batches"> {
  const join = (type: "text" | "reasoning") =>
    chunks.flatMap((c) => c.type === type ? [c.text] : []).join("");
  const last = chunks.at(-1);
  return {
    text: join("text"),
    reasoning: join("reasoning"),
    names: chunks.flatMap((c) => c.type === "tool_name" ? [c.name] : []),
    done: last?.type === "done" ? last : null,
    failure: last?.type === "error" ? last.failure : null,
    toolInFlight: last?.type === "error" && last.toolInFlight,
  };
}
