/**
 * Slash commands that the user's configuration defines (tui-gateway.md D.1): a shell line, or another name for a
 * command. They are the user's own words, so nothing is asked; what is blocked everywhere stays blocked.
 */
import type { Hermes } from "@/app/mod.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import type { Gateway } from "../server.ts";
import { runShell } from "./shell.ts";

export type QuickCommand =
  | { readonly type: "exec"; readonly name: string; readonly command: string; readonly description: string }
  | { readonly type: "alias"; readonly name: string; readonly target: string; readonly description: string };

const MAX_OUTPUT = 4000;

/** Entries that make no sense are left out; names lower-case, without a slash. */
export function quickCommands(hermes: Hermes): QuickCommand[] {
  const map = hermes.config.get("quick_commands");
  if (typeof map !== "object" || map === null || Array.isArray(map)) return [];
  return Object.entries(map).flatMap(([key, value]) => {
    const found = readEntry(key.replace(/^\//, "").toLowerCase(), value);
    return found ? [found] : [];
  });
}

function readEntry(name: string, value: unknown): QuickCommand | null {
  if (name === "" || typeof value !== "object" || value === null) return null;
  const { type, command, target, description } = value as Record<string, unknown>;
  const said = typeof description === "string" ? description : "";
  if (type === "exec" && typeof command === "string" && command.trim() !== "") {
    return { type, name, command, description: said };
  }
  if (type === "alias" && typeof target === "string" && target.trim() !== "") {
    return { type, name, target: target.trim().replace(/^\//, ""), description: said };
  }
  return null;
}

export function findQuickCommand(hermes: Hermes, name: string): QuickCommand | null {
  const wanted = name.replace(/^\//, "").toLowerCase();
  return quickCommands(hermes).find((command) => command.name === wanted) ?? null;
}

/** A directive of D.1. Throws 4018 when the shell line fails. */
export async function runQuickCommand(
  gateway: Gateway,
  command: QuickCommand,
  args: string,
  live: LiveSession | undefined,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  if (command.type === "alias") {
    return { type: "alias", target: command.target, ...(args ? { arg: args } : {}) };
  }
  const done = await runShell(gateway, command.command, live, signal, { hardBlockOnly: true });
  const output = [done.stdout, done.stderr].filter((text) => text !== "").join("\n").slice(0, MAX_OUTPUT);
  if (done.code !== 0) throw new RpcError(4018, `/${command.name} failed with code ${done.code}: ${output}`);
  return { type: "exec", output };
}
