import { profileHome, profileNameFault, profileOf, profileRoot } from "@/lib/profile.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("core D.1: profileNameFault() takes names of 64 letters and refuses all that could lead elsewhere", () => {
  for (const name of ["a", "office", "0-a_b", "x".repeat(64)]) {
    assertEquals(profileNameFault(name), null, name);
  }
  const bad = ["", "Work", "-a", "_a", "a.b", "a/b", "..", "a b", "x".repeat(65), "hermes", "test", "tmp"];
  for (const name of [...bad, "root", "sudo"]) assertEquals(typeof profileNameFault(name), "string", name);
});

Deno.test("core D.1: profileOf() and profileRoot() read the home, profileHome() writes it", () => {
  assertEquals(profileOf("/h/.hermes"), "default");
  assertEquals(profileOf("/h/.hermes/profiles/office"), "office");
  assertEquals(profileOf("/h/.hermes/profiles/office/"), "office");
  assertEquals(profileOf("/h/.hermes/profiles/Work"), "default");
  assertEquals(profileOf("/h/.hermes/profiles"), "default");
  assertEquals(profileOf("C:\\Users\\k\\hermes\\profiles\\office"), "office");
  assertEquals(profileRoot("/h/.hermes/profiles/office"), "/h/.hermes");
  assertEquals(profileRoot("/h/.hermes"), "/h/.hermes");
  assertEquals(profileHome("/h/.hermes", "office"), "/h/.hermes/profiles/office");
  assertEquals(profileHome("/h/.hermes", "default"), "/h/.hermes");
  assertEquals(profileHome("C:\\hermes", "office"), "C:\\hermes\\profiles\\office");
});
