/**
 * What no tool reads (core.md C.8 read-deny, B.5 blocked paths): credentials of the program and of projects, devices
 * that never end, and windows into other processes. Judged on the written and on the real path.
 */
import { basename, join } from "node:path";
import type { Platform } from "@/platform/mod.ts";
import { isInside, type ResolvedPath } from "./paths.ts";

const PROJECT_ENV = /^\.env(\.(local|development|production|test|staging))?$|^\.envrc$/i;
const HOME_FILES = [
  "auth.json",
  "auth.lock",
  ".anthropic_oauth.json",
  ".env",
  "webhook_subscriptions.json",
  "auth/google_oauth.json",
  "cache/bws_cache.json",
  "mcp-tokens",
  "snapshots",
  "skills/.hub",
];
const DEVICE = /^\/dev\/(zero|random|urandom|full|stdin|stdout|stderr|tty|console|fd\/[0-2])$/;
const PROC_FD = /^\/proc\/[^/]+\/(task\/[^/]+\/)?fd\/[0-2]$/;
const PROC =
  /^\/proc\/[^/]+\/(task\/[^/]+\/)?(environ|cmdline|maps|smaps|smaps_rollup|numa_maps|mem|auxv|pagemap)$/;

/** True for a path whose content is a credential; such files are left out of searches too. */
export function isCredentialPath(path: string, home: string): boolean {
  if (PROJECT_ENV.test(basename(path))) return true;
  return isInside(path, home) && HOME_FILES.some((entry) => isInside(path, join(home, entry)));
}

function isDevicePath(path: string): boolean {
  return DEVICE.test(path) || PROC_FD.test(path) || PROC.test(path);
}

/** Why the file must not be read, or `null`. Looks at the kind of file too: FIFOs, sockets and devices. */
export async function readRefusal(
  target: ResolvedPath,
  home: string,
  platform: Platform,
): Promise<string | null> {
  for (const path of [target.path, target.real]) {
    if (isDevicePath(path)) {
      return `Access denied: '${path}' is a device or process file that cannot be read safely`;
    }
    if (isCredentialPath(path, home)) {
      return `Access denied: '${path}' holds credentials and is not read. ` +
        "For the names of the variables read .env.example, or ask the user";
    }
  }
  const stat = await platform.files.stat(target.path);
  if (stat?.isSpecial) {
    return `Access denied: '${target.path}' is a FIFO, socket or device, not a regular file`;
  }
  return null;
}
