/** FC-14, acp.md C8.1: what a person refused stays refused in that turn, whichever tool or spelling tries next. */
import type { Verdict } from "@/core/mod.ts";
import { assertEquals } from "../support/assert.ts";
import { type GuardRig, proposalFor, withGuard } from "./guard_support.ts";

const typeOf = (verdict: Verdict) => verdict.type;

function refusing({ context, cwd }: GuardRig, ...names: string[]) {
  const refused = new Set(names.flatMap((name) => name.startsWith("/") ? [name] : [`${cwd}/${name}`, name]));
  return context({ isRefused: (targets) => targets.some((target) => refused.has(target)) });
}

Deno.test("FC-14: after a file was refused no command changes it, and every command may still read it", async () => {
  await withGuard(async (rig) => {
    const { guard, cwd } = rig;
    await Deno.writeTextFile(`${cwd}/f.txt`, "old");
    await Deno.mkdir(`${cwd}/src`);
    await Deno.symlink(`${cwd}/f.txt`, `${cwd}/link.txt`);
    const context = refusing(rig, "f.txt");
    const changing = [
      "echo hi > f.txt",
      "echo hi >> ./f.txt",
      "echo hi | tee -a f.txt",
      "cd src && echo hi > ../f.txt",
      "touch f.txt",
      "cp other f.txt",
      "mv f.txt g.txt",
      "rm f.txt",
      "sed -i s/a/b/ f.txt",
      "sort -o f.txt f.txt",
      "git checkout -- f.txt",
      "git restore f.txt",
      "ed f.txt",
      "patch f.txt < fix.diff",
      "sponge f.txt",
      "prettier --write f.txt",
      `python3 -c "open('f.txt','w').write('x')"`,
      "python3 - <<'EOF'\nopen('f.txt', 'w').write('x')\nEOF",
      "python3 fix.py f.txt",
      "bash -c 'echo hi > f.txt'",
      "find . -name f.txt -delete",
      `echo hi > "${cwd}/f.txt"`,
      "echo hi > link.txt",
      "truncate -s 0 f.txt",
    ];
    for (const command of changing) {
      assertEquals([command, typeOf(guard.reviewCommand(command, context))], [command, "ask"]);
    }
    const reading = [
      "cat f.txt",
      "grep -in hi f.txt",
      "git diff f.txt",
      "wc -l < f.txt",
      "sed -n 1p f.txt",
      "ls -la f.txt",
      "find . -name f.txt",
      "python3 f.txt",
      "echo hi > g.txt",
      "echo f.txt",
    ];
    for (const command of reading) {
      assertEquals([command, typeOf(guard.reviewCommand(command, context))], [command, "allow"]);
    }
    for (const command of changing.slice(0, 6)) {
      assertEquals(typeOf(guard.reviewCommand(command, rig.context())), "allow");
    }
  });
});

Deno.test("FC-14: neither yolo nor an allow-list nor a mode makes a refused target free again in that turn", async () => {
  await withGuard(async (rig) => {
    const { guard, cwd } = rig;
    const context = { ...refusing(rig, "f.txt", "ls -la"), yolo: true };
    assertEquals(typeOf(guard.reviewCommand("echo hi > f.txt", context)), "ask");
    assertEquals(typeOf(guard.reviewCommand("ls   -la", context)), "ask");
    assertEquals(typeOf(guard.reviewCommand("ls", context)), "allow");
    for (const editPolicy of ["session", "workspace_session", null] as const) {
      const verdict = (name: string) =>
        guard.reviewEdit(proposalFor(`${cwd}/${name}`), { ...context, editPolicy });
      assertEquals([editPolicy, typeOf(await verdict("f.txt"))], [editPolicy, "ask"]);
      assertEquals([editPolicy, typeOf(await verdict("g.txt"))], [editPolicy, "allow"]);
    }
  }, { config: `{"command_allowlist": ["echo hi > f.txt"]}` });
});
