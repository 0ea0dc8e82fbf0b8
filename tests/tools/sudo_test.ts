/** `src/tools/sudo.ts`: when a password may be needed (core C.6). */
import { assertEquals } from "../support/assert.ts";
import { mayNeedPassword } from "../../src/tools/sudo.ts";

const NEEDED = [
  "sudo id",
  "  sudo apt-get update",
  "cd /tmp && sudo make install",
  "true; sudo id",
  "echo x | sudo tee /etc/x",
  "A=1 B=2 sudo -E env",
  "if sudo test -f /x; then echo y; fi",
  "for i in 1 2; do sudo id; done",
  "(sudo id)",
  "{ sudo id; }",
  'echo "$(sudo cat /etc/shadow)"',
  "echo `sudo id`",
  "! sudo id",
  "time sudo id",
  "sudo -u postgres psql",
  "sudo -S id",
  "sudo -k id",
  "echo ok\nsudo id",
];
const NOT_NEEDED = [
  "",
  "echo sudo",
  "echo 'a; sudo id'",
  'echo "; sudo id"',
  "man sudo",
  "sudo -n true",
  "sudo --version",
  "sudo -V",
  "sudo -k",
  "sudo -K",
  "sudo -A id",
  "grep -r sudo . # sudo id",
  "pseudo id",
  "sudoedit /etc/hosts",
  "cat <<'EOF'\n; sudo id\nEOF",
];

Deno.test("mayNeedPassword() finds sudo where a command begins, also inside substitutions", () => {
  for (const command of NEEDED) assertEquals(mayNeedPassword(command), true, command);
});

Deno.test("mayNeedPassword() leaves alone what only names sudo, and what never asks", () => {
  for (const command of NOT_NEEDED) assertEquals(mayNeedPassword(command), false, command);
});
