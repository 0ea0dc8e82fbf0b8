import "@/lib/stdout_guard.ts";
import { codeCacheWritten, missingCodeCache } from "@/platform/code_cache.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { main } from "@/cli/mod.ts";

/** Not awaited at the top: what is loaded later has names of this file, and would wait for its end. */
async function run(): Promise<void> {
  const cache = missingCodeCache();
  if (cache !== null) {
    await import("@/cli/first_run.ts");
    await codeCacheWritten(cache);
  }
  Deno.exit(await main(Deno.args, createDenoPlatform()));
}

run();
