import { assertEquals } from "../support/assert.ts";
import { closest, distance } from "@/cli/suggest.ts";

Deno.test("distance() counts inserts, deletes, replacements and swaps", () => {
  assertEquals(distance("run", "run"), 0);
  assertEquals(distance("rnu", "run"), 1);
  assertEquals(distance("serv", "serve"), 1);
  assertEquals(distance("chat", "cat"), 1);
  assertEquals(distance("abc", "xyz"), 3);
});

Deno.test("closest() finds a typo and a beginning, and nothing for a stranger", () => {
  const known = ["gateway", "serve", "sessions"];
  assertEquals(closest("sesions", known), "sessions");
  assertEquals(closest("gate", known), "gateway");
  assertEquals(closest("zzz", known), null);
});
