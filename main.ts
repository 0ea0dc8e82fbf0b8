import "@/lib/stdout_guard.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { main } from "@/cli/mod.ts";

Deno.exit(await main(Deno.args, createDenoPlatform()));
