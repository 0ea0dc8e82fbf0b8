/** core.md E.4 `terminal.home_mode`: what HOME is for commands. */
import { commandHome, makeCommandHome, withCommandHome } from "../../src/core/command_home.ts";
import { loadSettings } from "../../src/config/load.ts";
import { createDenoPlatform } from "../../src/platform/deno.ts";
import { assertEquals } from "../support/assert.ts";
import { makePromptBench } from "./prompt_support.ts";

const platform = createDenoPlatform();

Deno.test("auto takes the data home's directory where it is there, real never, profile always", async () => {
  const home = await Deno.makeTempDir({ prefix: "hermes-home-" });
  try {
    const of = (mode: unknown) =>
      commandHome({
        platform,
        home,
        settings: loadSettings({ terminal: { home_mode: mode } }, () => undefined).settings,
      });
    assertEquals([of("auto"), of("real"), of("profile")], [null, null, `${home}/home`]);
    await Deno.writeTextFile(`${home}/home`, "a file");
    assertEquals(of("auto"), null);
    await Deno.remove(`${home}/home`);
    await Deno.mkdir(`${home}/home`);
    assertEquals([of("auto"), of("real"), of("profile")], [`${home}/home`, null, `${home}/home`]);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

Deno.test("profile: the directory is made private when a command comes, and not before", async () => {
  const home = await Deno.makeTempDir({ prefix: "hermes-home-" });
  try {
    const { settings } = loadSettings({ terminal: { home_mode: "profile" } }, () => undefined);
    const env = withCommandHome({ HOME: "/home/u", PATH: "/bin" }, { platform, home, settings });
    assertEquals(env, { HOME: `${home}/home`, PATH: "/bin" });
    assertEquals(await platform.files.stat(`${home}/home`), null);
    await makeCommandHome(platform, settings, env);
    await makeCommandHome(platform, settings, env);
    assertEquals((await Deno.stat(`${home}/home`)).mode! & 0o777, 0o700);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

Deno.test("an unknown mode is warned about and counts as auto", () => {
  const { settings, warnings } = loadSettings({ terminal: { home_mode: "elsewhere" } }, () => undefined);
  assertEquals(settings.terminal.home_mode, "auto");
  assertEquals(warnings.length, 1);
  assertEquals(/terminal\.home_mode/.test(warnings[0]!), true);
});

Deno.test("core A.4: the prompt says where HOME of commands is not the user's", async () => {
  await using bench = await makePromptBench();
  const home = await bench.build({ config: { terminal: { home_mode: "profile" } } });
  assertEquals(
    /^HOME of commands: .*$/m.exec(home)?.[0],
    `HOME of commands: ${bench.home}/home (~ in file tools is the user home)`,
  );
  assertEquals(/HOME of commands/.test(await bench.build()), false);
});
