/** Where the data home and its files are (core.md D.1). Pure: reads no file. */
import type { Platform } from "@/platform/mod.ts";

export interface ConfigPaths {
  readonly home: string;
  readonly config: string;
  readonly env: string;
  readonly legacy: string;
  readonly schema: string;
  readonly auth: string;
}

function isAbsolute(platform: Platform, path: string): boolean {
  if (path.startsWith("/")) return true;
  return platform.os === "windows" && (/^[A-Za-z]:[\\/]/.test(path) || path.startsWith("\\\\"));
}

function joiner(platform: Platform): string {
  return platform.os === "windows" ? "\\" : "/";
}

function fromText(platform: Platform, text: string): string {
  const separator = joiner(platform);
  const trimmed = text.length > 1 ? text.replace(/[\\/]+$/, "") || separator : text;
  if (trimmed === "~") return platform.homeDir();
  if (/^~[\\/]/.test(trimmed)) return platform.homeDir() + separator + trimmed.slice(2);
  return isAbsolute(platform, trimmed) ? trimmed : platform.cwd() + separator + trimmed;
}

/** `explicit`, else `HERMES_HOME`, else `~/.hermes` (`%LOCALAPPDATA%\hermes` on Windows). Always absolute. */
export function resolveHome(platform: Platform, env: Record<string, string>, explicit?: string): string {
  const chosen = explicit ?? env["HERMES_HOME"]?.trim();
  if (chosen) return fromText(platform, chosen);
  if (platform.os !== "windows") return `${platform.homeDir()}/.hermes`;
  return `${env["LOCALAPPDATA"] ?? `${platform.homeDir()}\\AppData\\Local`}\\hermes`;
}

export function configPaths(platform: Platform, home: string): ConfigPaths {
  const at = (name: string) => home + joiner(platform) + name;
  return {
    home,
    config: at("config.jsonc"),
    env: at(".env"),
    legacy: at("config.yaml"),
    schema: at("config.schema.json"),
    auth: at("auth.json"),
  };
}

/**
 * The machine's own settings (core.md E.1). Not movable by the environment, which is the user's, and in a folder that
 * only administrators can make: below `C:\ProgramData` any user could.
 */
export function adminConfigPath(platform: Platform): string {
  return platform.os === "windows" ? "C:\\Program Files\\hermes\\config.jsonc" : "/etc/hermes/config.jsonc";
}
