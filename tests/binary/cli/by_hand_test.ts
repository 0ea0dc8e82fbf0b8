/** The stdio servers, typed into a terminal. */
import { assertEquals } from "../../support/assert.ts";
import { makeRig } from "../../support/program.ts";
import { hasTerminal, KEY, onTerminal } from "./terminal_rig.ts";

for (const command of ["acp", "gateway"]) {
  Deno.test({
    name: `hermes ${command} on a terminal says what it waits for and how it ends, on stderr`,
    ignore: !hasTerminal,
    fn: async () => {
      await using rig = await makeRig();
      await using terminal = onTerminal([command, "--demo"], { rig });
      await terminal.see(/waits for[\s\S]*Ctrl-D ends it[\s\S]*hermes chat/);
      await terminal.send(KEY.ctrlD);
      assertEquals(await terminal.exitCode, 0);
    },
  });
}
