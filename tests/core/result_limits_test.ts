import { spillResult } from "../../src/core/result_limits.ts";
import { wrapUntrusted } from "@/lib/untrusted.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { assert, assertEquals } from "../support/assert.ts";

Deno.test("core 27: spillResult() keeps the preview of a stranger's words wrapped", async () => {
  const temp = await Deno.makeTempDir();
  const platform = { ...createDenoPlatform(), tempDir: () => temp };
  const block = await spillResult(platform, "call_1", wrapUntrusted("web_extract", "x".repeat(9_000)));
  assert(block.endsWith("\n</untrusted_tool_result>\n</persisted-output>"), block.slice(-80));
  const own = await spillResult(platform, "call_2", "y".repeat(9_000));
  assertEquals(own.includes("untrusted"), false);
  await Deno.remove(temp, { recursive: true });
});
