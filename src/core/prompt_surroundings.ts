/** Where the agent runs and what day it is (core.md A.4 "environment", "facts"). Reads the environment, no files. */
import { isYes } from "@/lib/yes.ts";
import type { Platform } from "@/platform/mod.ts";
import { commandHome } from "./command_home.ts";
import type { Settings } from "./settings.ts";

const WSL_NOTE =
  "This is Linux inside Windows (WSL): drives of Windows are under /mnt (C: is /mnt/c), programs of Windows can be " +
  "started by their .exe name, and a path of Windows has to be translated before use (wslpath).";
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

export interface Surroundings {
  readonly platform: Platform;
  readonly settings: Settings;
  /** Data home, absolute. */
  readonly home: string;
  readonly cwd: string;
  readonly roots: readonly string[];
}

/** `tooling`: the line about the machine's tools; empty: none. */
export function surroundings(facts: Surroundings, tooling: string): string {
  const { platform, settings, cwd, roots } = facts;
  const commands = commandHome(facts);
  const lines = [
    `Operating system: ${platform.os} (${platform.arch})`,
    `User home: ${platform.homeDir()}`,
    ...(commands === null ? [] : [`HOME of commands: ${commands} (~ in file tools is the user home)`]),
    `Working directory: ${cwd} (relative paths are resolved against it)`,
  ];
  if (roots.length > 1) lines.push(`Further workspace directories: ${roots.slice(1).join(", ")}`);
  if (tooling) lines.push(tooling);
  if (isWsl(platform)) lines.push(WSL_NOTE);
  const hint = settings.agent.environment_hint.trim();
  if (hint) lines.push(hint);
  return lines.join("\n");
}

/** `HERMES_WSL=1|0` decides, else the variables that WSL itself sets. */
function isWsl(platform: Platform): boolean {
  if (platform.os !== "linux") return false;
  const { HERMES_WSL: told, WSL_DISTRO_NAME: distro, WSL_INTEROP: interop } = platform.env();
  return told ? told !== "0" : Boolean(distro || interop);
}

export function isDesktop(platform: Platform): boolean {
  return isYes(platform.env()["HERMES_DESKTOP"]);
}

/** `Monday, November 30, 2026`, in the configured time zone or the machine's own. */
export function today(platform: Platform, settings: Settings): string {
  const now = new Date(platform.clock.now());
  if (settings.timezone) {
    try {
      return now.toLocaleDateString("en-US", {
        weekday: "long",
        year: "numeric",
        month: "long",
        day: "2-digit",
        timeZone: settings.timezone,
      });
    } catch {
      // No such time zone: the machine's own is as good a guess as any.
    }
  }
  // By hand: the first use of the locale library costs more than all the rest of the prompt.
  const day = String(now.getDate()).padStart(2, "0");
  return `${DAYS[now.getDay()]}, ${MONTHS[now.getMonth()]} ${day}, ${now.getFullYear()}`;
}
