/**
 * What the commands that use the agent have in common: building the `Hermes` record from the options of the
 * command line, closing it again, and finding a stored session by id, title or unique prefix (core.md D.6).
 */
import type { Hermes, HermesOptions } from "@/app/mod.ts";
import { HermesError, type Session, type SessionRow, type SessionStore } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import type { Terminal } from "./terminal.ts";
import { type ParsedArgs, UsageError } from "./args.ts";
import { asArgument } from "./exit_codes.ts";

/** The choices of `--model`, `--provider`, `--demo`, `--yolo`. Throws `UsageError` when they contradict each other. */
export function hermesOptions(parsed: ParsedArgs): HermesOptions {
  const model = parsed.value("model");
  const provider = parsed.value("provider");
  const named = model === undefined ? provider === undefined ? null : "--provider" : "--model";
  if (parsed.has("demo") && named) throw new UsageError(`--demo is a model of its own: leave out ${named}`);
  return {
    surface: "cli",
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...(parsed.has("demo") ? { demo: true } : {}),
    ...(parsed.has("yolo") ? { yolo: true } : {}),
  };
}

/** Runs `use` with a `Hermes` that is shut down afterwards, whatever happened. */
export async function withHermes<T>(
  platform: Platform,
  options: HermesOptions,
  use: (hermes: Hermes) => Promise<T>,
): Promise<T> {
  const { startHermes } = await import("@/app/base.ts");
  const hermes = await startHermes(platform, options).load();
  try {
    return await use(hermes);
  } finally {
    await hermes.shutdown("cli_close");
  }
}

/** What is wrong with the configuration, on stderr: the program goes on with defaults, and says so. */
export function tellWarnings(hermes: Hermes, terminal: Terminal): void {
  for (const warning of hermes.config.warnings()) terminal.note(`hermes: warning: ${warning}`);
}

/** Throws `store_failed` where nothing can be kept: told once, before each turn and each record tell it for themselves. */
export function refuseUnusableHome(hermes: Hermes): void {
  try {
    hermes.store();
  } catch (error) {
    if (error instanceof HermesError && error.code === "store_failed") throw error;
    // Whoever has locked it may let go of it, and a newer one is told by the turn.
  }
}

/** Throws why the model of the command line cannot be one, if it was named there. */
export function refuseModelOptions(parsed: ParsedArgs, { modelError }: Session): void {
  const isGiven = parsed.value("model") !== undefined || parsed.value("provider") !== undefined;
  const fault = isGiven ? asArgument(modelError) : modelError;
  if (fault !== modelError) throw fault;
}

/** Throws `session_not_found` when nothing, or more than one prefix, matches. */
export function findSession(store: SessionStore, name: string): SessionRow {
  const exact = store.getSession(name) ?? store.findByTitle(name) ?? store.tipOf(name);
  if (exact) return exact;
  const rows = name === "" ? [] : store.findByPrefix(name);
  if (rows.length === 1) return rows[0]!;
  if (rows.length === 0) {
    throw new HermesError("session_not_found", `no stored session has the id, title or id prefix "${name}"`);
  }
  const shown = rows.slice(0, 5).map((row) => row.title ? `${row.id} (${row.title})` : row.id);
  throw new HermesError(
    "session_not_found",
    `"${name}" fits ${rows.length} sessions: ${shown.join(", ")}${
      rows.length > 5 ? ", …" : ""
    }; give more of the id`,
  );
}

/** The directory of `--cwd`, absolute. Throws `invalid_cwd` unless it is a directory. */
export async function resolveCwd(platform: Platform, given: string | undefined): Promise<string> {
  if (given === undefined) return platform.cwd();
  const path = absolutePath(platform, given);
  const real = await platform.files.realPath(path);
  const stat = real === null ? null : await platform.files.stat(real);
  if (!stat?.isDirectory) throw new HermesError("invalid_cwd", `--cwd ${given} is not a directory`);
  return real!;
}

function absolutePath(platform: Platform, given: string): string {
  if (given.startsWith("/") || /^[A-Za-z]:[\\/]/.test(given)) return given;
  if (given === "~" || given.startsWith("~/")) return platform.homeDir() + given.slice(1);
  return `${platform.cwd()}/${given}`;
}
