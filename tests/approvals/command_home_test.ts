/** core.md C.1, E.4 `terminal.home_mode`: a command is judged by the HOME that it will have, and by the user's. */
import { assertEquals } from "../support/assert.ts";
import { withGuard } from "./guard_support.ts";

const PROFILE = '{ "terminal": { "home_mode": "profile" } }';

function keysOf(command: string, config: string): Promise<readonly string[] | string> {
  let seen: readonly string[] | string = "";
  return withGuard((rig) => {
    const verdict = rig.guard.reviewCommand(command, rig.context());
    seen = verdict.type === "ask" && verdict.payload.kind === "approval"
      ? verdict.payload.patternKeys
      : verdict.type;
  }, { config }).then(() => seen);
}

Deno.test("what lies beside the HOME of commands is found by way of it", async () => {
  for (const command of ["echo x >> ~/../config.jsonc", 'echo x >> "$HOME/../.env"']) {
    const plain = await keysOf(command, "{}");
    const own = await keysOf(command, PROFILE);
    assertEquals([command, own.includes("overwrite personal config")], [command, true]);
    assertEquals([command, plain.includes("overwrite personal config")], [command, false]);
  }
});

Deno.test("what is asked or blocked for the user's own home still is", async () => {
  assertEquals(await keysOf("rm -rf ~", PROFILE), "block");
  assertEquals(await keysOf("echo x >> ~/.bashrc", PROFILE), await keysOf("echo x >> ~/.bashrc", "{}"));
  assertEquals(await keysOf("ls ~", PROFILE), "allow");
});
