import { absoluteOf, absolutePath } from "@/tools/paths.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";

Deno.test("FC-18: a path that no system could open is refused before it is taken apart", () => {
  const long = "a/../".repeat(1_000_000) + "b.txt";
  assertThrows(() => absolutePath(long, "/w", "/h"), /The path is 5000005 characters long/);
  assertEquals(absoluteOf(long, "/w"), null);
  assertEquals(absolutePath("a/../".repeat(1_000) + "b.txt", "/w", "/h"), "/w/b.txt");
});
