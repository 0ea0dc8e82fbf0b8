/** Where a directory is in a repository (core.md D.3 `git_branch`, `git_repo_root`), from the files of git alone. */
import { DirectoryLooks } from "../../src/core/directory_looks.ts";
import { gitPlaceOf } from "../../src/core/git_place.ts";
import { createDenoPlatform } from "../../src/platform/deno.ts";
import { assertEquals, assertWithin } from "../support/assert.ts";

const { files } = createDenoPlatform();

async function inTree(
  tree: Record<string, string>,
  test: (base: string, place: (path: string) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const base = await Deno.realPath(await Deno.makeTempDir({ prefix: "hermes-git-" }));
  try {
    for (const [path, text] of Object.entries(tree)) {
      const full = `${base}/${path}`;
      await Deno.mkdir(full.slice(0, full.lastIndexOf("/")), { recursive: true });
      if (!path.endsWith("/")) await Deno.writeTextFile(full, text.replaceAll("$BASE", base));
    }
    await test(base, (path) => gitPlaceOf(files, `${base}/${path}`, new DirectoryLooks(files)));
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

Deno.test("core D.3: branch and root from anywhere below a repository, a detached commit by twelve digits", async () => {
  const tree = {
    "main/.git/HEAD": "ref: refs/heads/feature/x\n",
    "main/a/b/file": "",
    "loose/.git/HEAD": "0123456789abcdef0123456789abcdef01234567\n",
    "empty/.git/": "",
    "none/": "",
  };
  await inTree(tree, async (base, place) => {
    assertEquals(await place("main/a/b"), { branch: "feature/x", root: `${base}/main` });
    assertEquals(await place("main"), { branch: "feature/x", root: `${base}/main` });
    assertEquals(await place("loose"), { branch: "0123456789ab", root: `${base}/loose` });
    assertEquals(await place("empty"), { branch: null, root: `${base}/empty` });
    assertEquals(await place("none"), { branch: null, root: null });
    assertEquals(await place("gone"), { branch: null, root: null });
  });
});

Deno.test("core D.3: a worktree and a submodule, whose .git is a file, by a whole path and a relative one", async () => {
  const tree = {
    "main/.git/HEAD": "ref: refs/heads/main\n",
    "main/.git/worktrees/w/HEAD": "ref: refs/heads/side\n",
    "main/.git/modules/m/HEAD": "ref: refs/heads/inner\n",
    "w/.git": "gitdir: $BASE/main/.git/worktrees/w\n",
    "main/m/.git": "gitdir: ../.git/modules/m\n",
    "odd/.git": "x".repeat(5_000),
  };
  await inTree(tree, async (base, place) => {
    assertEquals(await place("w"), { branch: "side", root: `${base}/w` });
    assertEquals(await place("main/m"), { branch: "inner", root: `${base}/main/m` });
    assertEquals(await place("odd"), { branch: null, root: `${base}/odd` });
  });
});

Deno.test("core D.3: a file system that does not answer is not waited for", async () => {
  const { promise, resolve } = Promise.withResolvers<null>();
  const looks = new DirectoryLooks({ stat: () => promise, lookSync: () => null });
  const started = performance.now();
  assertEquals(await gitPlaceOf(files, "/", looks), { branch: null, root: null });
  assertWithin(performance.now() - started, 1_500);
  resolve(null);
  assertEquals(await looks.answers("/"), false);
});
