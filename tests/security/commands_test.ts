/** The command guard against spellings made to get past it, and against the shell itself. */
import { withGuard } from "../approvals/guard_support.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { HARD, HIDDEN } from "./spellings.ts";

const DENY = `{ "approvals": { "deny": ["git push*"] } }`;

Deno.test("core 43: reviewCommand() blocks hard-blocked commands in an attacker's spellings, in yolo too", async () => {
  await withGuard(({ guard, context }) => {
    const passed = HARD.filter((command) => {
      const verdict = guard.reviewCommand(command, context({ yolo: true }));
      return verdict.type !== "block" || !verdict.reason.startsWith("hard block: ");
    });
    assertEquals(passed, []);
  });
});

Deno.test("core 43: nothing that looks like a quote, a comment or a here-document hides a command", async () => {
  await withGuard(({ guard, context }) => {
    const passed = HIDDEN.filter((command) =>
      guard.reviewCommand(command, context({ yolo: true })).type !== "block"
    );
    assertEquals(passed, []);
  }, { config: DENY });
});

Deno.test("reviewCommand() judges by the directory: `rm -rf *` in the root is blocked, in a project asked about", async () => {
  await withGuard(({ guard, context, user }) => {
    for (const cwd of ["/", "/etc", user]) {
      assertEquals(guard.reviewCommand("rm -rf *", context({ cwd })).type, "block", cwd);
      assertEquals(guard.reviewCommand("rm -rf ./", context({ cwd })).type, "block", cwd);
    }
    const deep = "rm -rf ../../../../../../../../../../..";
    assertEquals(guard.reviewCommand(deep, context()).type, "block");
    for (const command of ["rm -rf *", "rm -rf ../other", "f() { ls; }; f x; rm -rf *; cd /"]) {
      assertEquals(guard.reviewCommand(command, context()).type, "ask", command);
    }
  });
});

const PIECES = [
  ...["mark x", "mark x", "mark x", "; mark x", "\nmark x", "\nmark x\n", ";", "\n", " ", " ", "'", '"', "`"],
  ...["$(", ")", "(", "{ ", "; }", "#", " # ", "\\\n", "\\", "<<A", "<<'A'", "<<-A", "<<\\A", '<<"A"', "A"],
  ...["\nA\n", "\n\tA\n", "$((", "))", "((", "1<<2", "$[", "]", "${x:-", "}", "${x#", "${x/", "[[ ", " ]]"],
  ...["case x in x) ", ";; esac", "if true; then ", "; fi", "f() ", "f", "&&", "||", "|", "&", "echo "],
  ...["x=mark; $x y", "a=(", "eval ", "$'", "\\'", '\\"', "\r", "\uff07", "\uff03", "\uff02", "\x1b["],
  ...["\x1b]", "\x07", "\u00a0", "\u200b", "${#x}", "$#", "!", "time ", "for x in a mark; do ", "$x"],
  ...[" y; done", ">o", "2>&1", "<(", "\t", "~", "{a,b}", "*", "=", "<<<", "command ", "exec ", '"$@"'],
  ...["function g { ", "; done", "esac", "case", "set -- mark z;", "x='", "export x=", "&>", "|&", '$"'],
] as const;

/** The same numbers at every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** True when bash, which finds no program but `mark`, has run it. */
async function bashRunsMark(command: string, dir: string): Promise<boolean> {
  const shell = new Deno.Command("/bin/bash", {
    args: ["--norc", "--noprofile", "-c", 'eval "set --;$1"', "bash", command],
    cwd: `${dir}/cwd`,
    clearEnv: true,
    env: { PATH: `${dir}/bin`, HOME: dir },
    stdin: "null",
    stdout: "null",
    stderr: "null",
    signal: AbortSignal.timeout(5_000),
  });
  await shell.output();
  const ran = await Deno.remove(`${dir}/ran`).then(() => true, () => false);
  return ran;
}

Deno.test({
  name: "reviewCommand() finds every command that bash finds in random text",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const dir = Deno.makeTempDirSync({ prefix: "hermes-spell-" });
    for (const folder of ["bin", "cwd"]) Deno.mkdirSync(`${dir}/${folder}`);
    Deno.writeTextFileSync(`${dir}/bin/mark`, `#!/bin/bash\n: > ${dir}/ran\n`, { mode: 0o755 });
    const next = numbers(20_261_130);
    let tried = 0;
    const missed: string[] = [];
    try {
      assert(await bashRunsMark("mark x", dir), "the trap works");
      await withGuard(async ({ guard, context }) => {
        const yolo = context({ yolo: true });
        for (let turn = 0; turn < 6_000; turn++) {
          const size = 2 + Math.floor(next() * 9);
          const command = Array.from({ length: size }, () => PIECES[Math.floor(next() * PIECES.length)])
            .join("");
          if (!command.includes("mark") || guard.reviewCommand(command, yolo).type === "block") continue;
          tried++;
          if (await bashRunsMark(command, dir)) missed.push(command);
        }
      }, { config: `{ "approvals": { "deny": ["mark*"] } }` });
    } finally {
      Deno.removeSync(dir, { recursive: true });
    }
    assert(tried > 100, `${tried} texts were left to the shell`);
    assertEquals(missed, []);
  },
});
