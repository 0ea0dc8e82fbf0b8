/** Commands that no consent can allow, in every spelling that came to mind; and harmless ones that look like them. */
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { withGuard } from "./guard_support.ts";

const BLOCKED = [
  "rm -rf /",
  "rm -rf /*",
  "rm -rf / *",
  "rm -r -f /",
  "rm --recursive --force /",
  "rm -rf --no-preserve-root /",
  "rm -rf -- /",
  "RM -rf /",
  "r\\m -rf /",
  "r''m -rf /",
  'r""m -rf /',
  "'rm' -rf '/'",
  'rm -rf "/"',
  "rm -rf //",
  "rm -rf /./",
  "rm -rf /tmp/..",
  "rm -rf /home/../",
  "rm \\\n -rf \\\n /",
  "rm\t-rf\t/",
  "/bin/rm -rf /",
  "\\rm -rf /",
  "ｒｍ -rf /",
  "\u001b[31mrm\u001b[0m -rf /",
  "r\u0000m -rf /",
  "rm${IFS}-rf${IFS}/",
  "rm$IFS-rf$IFS/",
  "$'rm' -rf /",
  "$'\\x72\\x6d' -rf $'\\x2f'",
  "{rm,-rf,/}",
  "x=rm; $x -rf /",
  "x=/; rm -rf $x",
  "x='rm -rf /'; $x",
  'export D=/; rm -rf "$D"',
  "${x:-rm} -rf /",
  "rm -rf ${x:-/}",
  "x=rXm; ${x/X/} -rf /",
  "r${unset}m -rf /",
  "r$@m -rf /",
  "rm -rf ${PATH:0:1}",
  "$(echo rm) -rf /",
  "`echo rm` -rf /",
  "echo $(rm -rf /)",
  'echo "$(rm -rf /)"',
  "echo `rm -rf /`",
  "cat <(rm -rf /)",
  "ls; rm -rf /",
  "ls && rm -rf /",
  "false || rm -rf /",
  "ls | rm -rf /",
  "ls & rm -rf /",
  "ls\nrm -rf /",
  "(rm -rf /)",
  "{ rm -rf /; }",
  "if true; then rm -rf /; fi",
  "for d in /; do rm -rf $d; done",
  "! rm -rf /",
  "f() { rm -rf /; }; f",
  "sudo rm -rf /",
  "sudo -u root -E rm -rf /",
  "sudo -- rm -rf /",
  "A=1 rm -rf /",
  "env rm -rf /",
  "env -i A=1 B=2 rm -rf /",
  "env -u HOME rm -rf /",
  "exec rm -rf /",
  "nohup rm -rf / &",
  "setsid rm -rf /",
  "time rm -rf /",
  "time -p rm -rf /",
  "command rm -rf /",
  "builtin exec rm -rf /",
  "sudo env A=1 nohup setsid time rm -rf /",
  "nice -n 10 rm -rf /",
  "timeout 5 rm -rf /",
  "busybox rm -rf /",
  "watch -n 1 rm -rf /",
  "watch 'rm -rf /'",
  "sudo ".repeat(60) + "rm -rf /",
  "eval eval eval eval eval eval eval eval eval eval eval rm -rf /",
  "$(".repeat(14) + "rm -rf /" + ")".repeat(14),
  "find . -exec find . -exec rm -rf / \\;",
  "bash -c 'rm -rf /'",
  'bash -lc "rm -rf /"',
  "sudo sh -c 'rm -rf /'",
  "eval 'rm -rf /'",
  "eval rm -rf /",
  "su -c 'rm -rf /'",
  "bash <<EOF\nrm -rf /\nEOF",
  "bash <<< 'rm -rf /'",
  "echo 'rm -rf /' | sh",
  "cat <<EOF | bash\nrm -rf /\nEOF",
  "find . -exec rm -rf / \\;",
  "echo / | xargs rm -rf /",
  "rm -rf /home",
  "rm -rf /home/*",
  "rm -rf /root",
  "rm -rf /etc/",
  "rm -rf /usr /tmp/x",
  "rm -rf /tmp/x /var/*",
  "rm -rf /bin",
  "rm -rf /sbin/*",
  "rm -rf /boot",
  "rm -rf /lib",
  "rm -rf /et[c]",
  "rm -rf /e*",
  "rm -rf ~",
  "rm -rf ~/",
  "rm -rf ~/*",
  "rm -rf $HOME",
  'rm -rf "$HOME"',
  "rm -rf ${HOME}/*",
  'rm -rf "${HOME}"/',
  "rm -rf <home>",
  "rm -rf <home>/*",
  "mkfs /dev/sda1",
  "mkfs.ext4 /dev/sda1",
  "sudo mkfs.xfs -f /dev/nvme0n1",
  "dd if=/dev/zero of=/dev/sda",
  "dd if=a.img bs=4M of=/dev/nvme0n1 status=progress",
  "dd of=/dev/mmcblk0 < a.img",
  "dd if=/dev/zero of=/dev/vda1",
  "dd if=/dev/zero of=/dev/xvdb",
  "dd if=/dev/zero of=/dev/hda",
  "cat a.img > /dev/sda",
  "echo x >/dev/nvme0n1",
  "> /dev/sdb",
  ":(){ :|:& };:",
  ":() { : | : & } ; :",
  "bomb(){ bomb|bomb& };bomb",
  "bash -c ':(){ :|:& };:'",
  "kill -9 -1",
  "kill -KILL -1",
  "kill -s KILL -1",
  "kill -- -1",
  "kill -1",
  "sudo kill -9 -1",
  "shutdown",
  "shutdown -h now",
  "sudo shutdown -r now",
  "reboot",
  "/sbin/reboot",
  "halt -p",
  "poweroff",
  "init 0",
  "init 6",
  "telinit 6",
  "systemctl poweroff",
  "systemctl --force reboot",
  "sudo systemctl halt",
  "systemctl kexec",
] as const;

const NOT_BLOCKED = [
  "git status",
  "rm file.txt",
  "rm -rf build",
  "rm -rf ./",
  "rm -rf /tmp/x",
  "rm -rf /home/alice/project/build",
  "rm -rf /var/log/app",
  "rm -rf ~/project",
  "rm -rf $DIR/*",
  'rm -rf "$BUILD"',
  "echo rm -rf /",
  "echo 'rm -rf /'",
  'echo "; rm -rf /"',
  "echo 'a && rm -rf /'",
  "printf '%s\\n' \"rm -rf /\"",
  "grep -rn 'rm -rf /' .",
  "git commit -m 'never run rm -rf /'",
  "# rm -rf /",
  "ls # && rm -rf /",
  "cat <<'EOF' > notes.md\nrm -rf /\nEOF",
  "cat > notes.md <<EOF\nshutdown now\nEOF",
  "mkfsx",
  "man mkfs.ext4",
  "dd if=/dev/sda of=backup.img",
  "dd if=a of=/dev/null",
  "cat /dev/sda",
  "echo x > /dev/null",
  "echo x > dev/sda",
  "kill -1 1234",
  "kill -9 1234",
  "kill 1",
  "pkill reboot",
  "which shutdown",
  "man reboot",
  "echo reboot",
  "./reboot.sh",
  "npm run reboot",
  "init.sh 0",
  "init 3",
  "git init 0",
  "systemctl status reboot.target",
  "systemctl restart nginx",
  "systemctl status halt-check",
  "command -v rm /",
  "echo ':(){ :|:& };:'",
  "f(){ g|h; }; f",
] as const;

Deno.test("core 43: reviewCommand() refuses hard-blocked commands in every spelling, in yolo, and on the allow list", async () => {
  await withGuard(({ guard, context, user }) => {
    const passed: string[] = [];
    for (const spelling of BLOCKED) {
      const command = spelling.replaceAll("<home>", user);
      const settings = { ...context().settings, command_allowlist: [command, "*"] };
      for (const changes of [{}, { yolo: true }, { canAsk: false }, { settings }]) {
        const verdict = guard.reviewCommand(command, context(changes));
        if (verdict.type !== "block" || !verdict.reason.startsWith("hard block: ")) passed.push(command);
      }
    }
    assertEquals(passed, []);
  });
});

Deno.test("reviewCommand() does not hard-block what only looks like it", async () => {
  await withGuard(({ guard, context }) => {
    const blocked = NOT_BLOCKED.filter((command) => guard.reviewCommand(command, context()).type === "block");
    assertEquals(blocked, []);
  });
});

Deno.test("reviewCommand() answers a hard block as a blocked tool result that says why", async () => {
  await withGuard(({ guard, context }) => {
    const verdict = guard.reviewCommand("rm -rf /", context());
    assert(verdict.type === "block");
    const result = JSON.parse(verdict.content);
    assertEquals([result.output, result.exit_code, result.status, result.outcome], [
      "",
      -1,
      "blocked",
      "blocked",
    ]);
    assertMatch(result.error, /never run, with or without approval: it removes the root/);
  });
});

Deno.test("core 43: approvals.deny refuses on every normal form, in yolo too", async () => {
  const config = `{ "approvals": { "deny": ["git push*", "*secret-tool*"] } }`;
  await withGuard(({ guard, context }) => {
    for (
      const command of [
        "git push origin",
        "GIT PUSH x",
        "g\\it p'us'h x",
        "cd a && git push",
        "a | /opt/secret-tool x",
      ]
    ) {
      assertEquals(guard.reviewCommand(command, context({ yolo: true })).type, "block", command);
    }
    for (const command of ["git pull", "echo git push"]) {
      assertEquals(guard.reviewCommand(command, context()).type, "allow", command);
    }
  }, { config });
});

Deno.test("reviewCommand() refuses a password piped into sudo -S unless SUDO_PASSWORD is configured", async () => {
  const piped = [
    "echo pw | sudo -S ls",
    "sudo -S ls <<< pw",
    "sudo --stdin ls < pw.txt",
    "printf pw | sudo -kS ls",
  ];
  await withGuard(({ guard, context }) => {
    for (const command of piped) assertEquals(guard.reviewCommand(command, context()).type, "block", command);
    assertEquals(guard.reviewCommand("sudo -S ls", context()).type, "ask");
    assertEquals(guard.reviewCommand("echo x | sudo tee a", context()).type, "allow");
  });
  await withGuard(({ guard, context }) => {
    for (const command of piped) assertEquals(guard.reviewCommand(command, context()).type, "ask", command);
  }, { env: { SUDO_PASSWORD: "correct horse" } });
});
