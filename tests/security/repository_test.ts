/**
 * Repositories made by an attacker: opening one, or asking what git says about it, runs none of the programs that
 * its settings name. Each attack is first shown to work on git itself.
 */
import { gitSnapshot } from "../../src/core/prompt_git.ts";
import { harmlessRepository, PLAIN_DIFF } from "@/lib/safe_git.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { assert, assertEquals } from "../support/assert.ts";

const platform = createDenoPlatform();

interface Trap {
  readonly root: string;
  readonly mark: string;
  sprung(): boolean;
}

function git(cwd: string, ...args: string[]): boolean {
  const { success } = new Deno.Command("git", {
    args,
    cwd,
    env: { HOME: cwd, GIT_CONFIG_NOSYSTEM: "1", GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z" },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).outputSync();
  return success;
}

/** A repository with one commit and one changed file. */
async function withTrap(set: (trap: Trap) => void, run: (trap: Trap) => Promise<void>): Promise<void> {
  const base = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "hermes-repo-" }));
  const [root, mark] = [`${base}/repo`, `${base}/sprung`];
  try {
    Deno.mkdirSync(root);
    git(root, "init", "-q", "-b", "main");
    Deno.writeTextFileSync(`${root}/a.txt`, "one\n");
    git(root, "add", ".");
    git(root, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "one");
    const sprung = () => {
      try {
        Deno.removeSync(mark);
        return true;
      } catch {
        return false;
      }
    };
    const trap = { root, mark, sprung };
    set(trap);
    Deno.writeTextFileSync(`${root}/a.txt`, "two\n");
    await run(trap);
  } finally {
    Deno.removeSync(base, { recursive: true });
  }
}

function addConfig({ root }: Trap, text: string, file = ".git/config"): void {
  Deno.writeTextFileSync(`${root}/${file}`, `\n${text}\n`, { append: true });
}

function attributes({ root }: Trap, text: string): void {
  Deno.writeTextFileSync(`${root}/.gitattributes`, `${text}\n`);
}

/** Name, the git command it works on, and how it is laid. */
const ATTACKS: readonly (readonly [string, readonly string[], (trap: Trap) => void])[] = [
  ["a monitor", ["status"], (trap) => addConfig(trap, `[core]\nfsmonitor = "touch ${trap.mark}; false"`)],
  ["a filter", ["status"], (trap) => {
    addConfig(trap, `[filter "x"]\nclean = touch ${trap.mark}`);
    attributes(trap, "* filter=x");
  }],
  ["a filter that calls itself lfs", ["status"], (trap) => {
    addConfig(trap, `[filter "lfs"] clean = touch ${trap.mark}`);
    attributes(trap, "* filter=lfs");
  }],
  ["a filter behind a long text", ["status"], (trap) => {
    addConfig(trap, `# ${"x".repeat(400_000)}\n[filter "x"]\nclean = touch ${trap.mark}`);
    attributes(trap, "* filter=x");
  }],
  ["settings of the worktree", ["status"], (trap) => {
    addConfig(trap, "[core]\nrepositoryformatversion = 1\n[extensions]\nworktreeConfig = true");
    addConfig(trap, `[filter "x"]\nclean = touch ${trap.mark}`, ".git/config.worktree");
    attributes(trap, "* filter=x");
  }],
  ["settings elsewhere", ["status"], (trap) => {
    git(trap.root, "init", "-q", "--bare", "other");
    Deno.removeSync(`${trap.root}/other/objects`, { recursive: true });
    Deno.renameSync(`${trap.root}/.git/objects`, `${trap.root}/other/objects`);
    Deno.copyFileSync(`${trap.root}/.git/refs/heads/main`, `${trap.root}/other/refs/heads/main`);
    addConfig(trap, `[core]\nbare = false\n[filter "x"]\nclean = touch ${trap.mark}`, "other/config");
    Deno.writeTextFileSync(`${trap.root}/.git/commondir`, "../other\n");
    attributes(trap, "* filter=x");
  }],
  ["included settings", ["status"], (trap) => {
    Deno.writeTextFileSync(`${trap.root}/more`, `[filter "x"]\nclean = touch ${trap.mark}\n`);
    addConfig(trap, "[include]\npath = ../more");
    attributes(trap, "* filter=x");
  }],
  ["an external diff", ["diff"], (trap) => addConfig(trap, `[diff]\nexternal = touch ${trap.mark};`)],
  ["a text converter", ["diff"], (trap) => {
    addConfig(trap, `[diff "x"]\ntextconv = touch ${trap.mark};`);
    attributes(trap, "* diff=x");
  }],
];

async function runSafely(root: string, args: readonly string[]): Promise<string | null> {
  const repository = await harmlessRepository(platform.files, root);
  if (!repository) return null;
  const { stdout } = await new Deno.Command("git", {
    args: [...repository.args, ...args],
    cwd: root,
    env: { ...repository.env, HOME: root, GIT_CONFIG_NOSYSTEM: "1" },
    stdin: "null",
  }).output();
  return new TextDecoder().decode(stdout);
}

const SUBCOMMANDS = [
  ["diff", ...PLAIN_DIFF],
  ["log", "-p", "--pretty=medium", ...PLAIN_DIFF, "-n1"],
  ["ls-files", "-co", "--exclude-standard"],
];

for (const [name, works, lay] of ATTACKS) {
  Deno.test(`harmlessRepository(), gitSnapshot(): a repository runs nothing by ${name}`, async () => {
    await withTrap(lay, async (trap) => {
      git(trap.root, "--no-pager", ...works);
      assert(trap.sprung(), "the attack works on git itself");
      const env = { PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin", HOME: trap.root };
      const said = await gitSnapshot({ platform, root: trap.root, cwd: trap.root, env });
      assert(said.startsWith("Git branch: main"), said);
      for (const args of SUBCOMMANDS) await runSafely(trap.root, args);
      assertEquals(trap.sprung(), false);
    });
  });
}

Deno.test("harmlessRepository() runs git on ordinary repositories, with Git LFS and in worktrees too", async () => {
  const lfs = '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n' +
    "\tprocess = git-lfs filter-process\n\trequired = true";
  await withTrap((trap) => addConfig(trap, lfs), async ({ root }) => {
    assert((await runSafely(root, ["diff", ...PLAIN_DIFF]))?.includes("+two"));
    assert(git(root, "worktree", "add", "-q", "-b", "side", "../side"));
    const side = `${root}/../side`;
    Deno.writeTextFileSync(`${side}/a.txt`, "three\n");
    assert((await runSafely(Deno.realPathSync(side), ["diff", ...PLAIN_DIFF]))?.includes("+three"));
  });
});

Deno.test("harmlessRepository() takes the repository that .git marks, not a folder that looks like one", async () => {
  await withTrap((trap) => {
    git(trap.root, "init", "-q", "--bare", "inner");
    addConfig(
      trap,
      `[core]\nbare = false\nworktree = ..\nfsmonitor = "touch ${trap.mark}; false"`,
      "inner/config",
    );
  }, async (trap) => {
    const inner = `${trap.root}/inner`;
    git(inner, "status");
    assert(trap.sprung(), "the attack works on git itself");
    const found = await harmlessRepository(platform.files, inner);
    assertEquals(found?.root, trap.root);
    await runSafely(inner, ["ls-files", "-co", "--exclude-standard"]);
    assertEquals(trap.sprung(), false);
  });
});

Deno.test("harmlessRepository() outside a repository, or in front of a broken pointer, is none", async () => {
  const base = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "hermes-repo-" }));
  try {
    assertEquals(await harmlessRepository(platform.files, base), null);
    Deno.writeTextFileSync(`${base}/.git`, "gitdir: nowhere\n");
    assertEquals(await harmlessRepository(platform.files, base), null);
  } finally {
    Deno.removeSync(base, { recursive: true });
  }
});
