/** `hermes version`. The version is the one of `deno.json` and of nothing else. */
import { VERSION } from "@/app/version.ts";
import type { Platform } from "@/platform/mod.ts";
import { parseCommandLine, UsageError } from "./args.ts";
import { VERSION as SPEC } from "./specs.ts";
import { withTerminal } from "./terminal.ts";

export function run(args: readonly string[], platform: Platform): Promise<number> {
  const parsed = parseCommandLine(SPEC, args);
  if (parsed.positionals.length > 0) throw new UsageError("hermes version takes no arguments");
  return withTerminal(platform, (terminal) => {
    if (parsed.has("json")) {
      terminal.line(JSON.stringify({ version: VERSION, os: platform.os, arch: platform.arch }));
    } else terminal.line(`hermes ${VERSION}`);
    return Promise.resolve(0);
  });
}
