import { selfCommand, selfEnv } from "@/lib/self_command.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("selfCommand() spells the program's own path differently, and runs the source by the runtime", () => {
  assertEquals(selfCommand("/opt/bin/hermes"), ["/opt/bin/./hermes"]);
  assertEquals(selfCommand("C:\\bin\\hermes.exe"), ["C:\\bin\\.\\hermes.exe"]);
  const main = new URL("../../main.ts", import.meta.url).href;
  assertEquals(selfCommand("/usr/bin/deno"), ["/usr/bin/deno", "run", "-A", "--no-check", "--quiet", main]);
});

Deno.test("selfEnv() passes on what the runtime needs to start, and nothing that unlocks anything", () => {
  const given = {
    PATH: "/bin",
    Home: "/root",
    OPENAI_API_KEY: "k",
    HERMES_HOME: "/b",
    HERMES_PROFILE: "p",
    LD_PRELOAD: "x",
  };
  assertEquals(selfEnv(given, "/a"), { PATH: "/bin", Home: "/root", HERMES_HOME: "/a", NO_COLOR: "1" });
});
