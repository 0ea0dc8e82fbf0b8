/**
 * What `hermes setup` writes, and how it is tested. The key itself goes to `.env` only; the config names the
 * variable where the provider would not find it by itself. A setup that does not work is taken back.
 */
import { dirname } from "node:path";
import type { Hermes } from "@/app/mod.ts";
import { profileOf } from "@/lib/profile.ts";
import { asArgument } from "./exit_codes.ts";
import type { Terminal } from "./terminal.ts";

export interface ModelSetup {
  readonly provider: string;
  /** Empty: the provider's own default, or the only model of a local server. */
  readonly model: string;
  readonly baseUrl?: string;
  /** Variable that holds the key, where the provider would not look for it by itself. */
  readonly keyEnv?: string;
  /** A key that was just typed, for `.env`. */
  readonly newKey?: { readonly name: string; readonly value: string };
}

type Path = readonly [string, string];

const PATHS: Readonly<Record<"default" | "provider" | "base_url" | "api_key", Path>> = {
  default: ["model", "default"],
  provider: ["model", "provider"],
  base_url: ["model", "base_url"],
  api_key: ["model", "api_key"],
};

/** Writes the `model` block and a new key; returns the function that takes both back. */
export async function saveSetup(hermes: Hermes, setup: ModelSetup): Promise<() => Promise<void>> {
  const { config } = hermes;
  const before = config.shown().model;
  const isNewHome = hermes.platform.files.statSync(hermes.home) === null;
  const isNewFile = await config.init();
  const old = before !== null && typeof before === "object" ? before as Record<string, unknown> : {};
  // A key that stands in the file as text is shown masked and could not be put back: it is left alone.
  const keepsKey = typeof old.api_key === "string" && !old.api_key.startsWith("${");
  const values: Record<keyof typeof PATHS, string | undefined> = {
    default: setup.model || undefined,
    provider: setup.provider,
    base_url: setup.baseUrl,
    api_key: setup.keyEnv === undefined ? undefined : `\${${setup.keyEnv}}`,
  };
  const keys = (Object.keys(PATHS) as (keyof typeof PATHS)[])
    .filter((key) => key !== "api_key" || setup.keyEnv !== undefined || !keepsKey);
  if (setup.newKey) await config.setEnv(setup.newKey.name, setup.newKey.value);
  if (typeof before === "string") await config.write(["model"], {});
  for (const key of keys) await config.write(PATHS[key], values[key]);
  return async () => {
    if (setup.newKey) await config.setEnv(setup.newKey.name, "");
    if (isNewFile) await hermes.platform.files.remove(config.path);
    else if (before === undefined || typeof before === "string") await config.write(["model"], before);
    else for (const key of keys) await config.write(PATHS[key], old[key]);
    if (isNewHome) await leaveNoHome(hermes);
  };
}

/** Takes a home away that holds nothing but what was made along with the config; anything else keeps it. */
async function leaveNoHome({ home, config, platform: { files } }: Hermes): Promise<void> {
  const isEmpty = (text: string | null) => text !== null && text.trim() === "";
  const made = [
    `${home}/config.schema.json`,
    ...(isEmpty(files.readTextSync(config.envPath)) ? [config.envPath] : []),
  ];
  const folders = [home, ...(home.endsWith(`/profiles/${profileOf(home)}`) ? [dirname(home)] : [])];
  for (const path of [...made, ...folders]) {
    await files.remove(path).catch(() => {/* it is not there, or not ours alone */});
  }
}

export interface SetupOutcome {
  readonly ok: boolean;
  readonly message: string;
  /** There is no such provider or model. */
  readonly isUnknown?: boolean;
}

/** Resolves the configured model and, unless told otherwise, makes one tiny call; Ctrl-C ends it as a failure. */
export async function testSetup(
  hermes: Hermes,
  terminal: Terminal,
  online: boolean,
): Promise<SetupOutcome> {
  const controller = new AbortController();
  const stopListening = terminal.onInterrupt(() => controller.abort());
  try {
    await hermes.models.settling?.({}, controller);
    const model = hermes.models.resolve();
    if (model.isDemo) return { ok: false, message: "the built-in demo is in force, not a real provider" };
    if (!online) return { ok: true, message: "" };
    return await hermes.models.probe(model, { signal: controller.signal });
  } catch (error) {
    if (controller.signal.aborted) return { ok: false, message: "the test call was interrupted" };
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, message, isUnknown: asArgument(error) !== error };
  } finally {
    stopListening();
  }
}

/** `gpt-5.5 (openrouter)` as it is in force now. */
export function describeChoice(hermes: Hermes): string {
  const model = hermes.models.resolve();
  return `${model.model} (${model.provider}) is the default model`;
}
