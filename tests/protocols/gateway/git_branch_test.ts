import { assertEquals } from "../../support/assert.ts";
import { createDenoPlatform } from "../../../src/platform/deno.ts";
import { gitBranch } from "../../../src/protocols/gateway/git_branch.ts";

Deno.test("gitBranch() reads the branch from any depth, a detached commit, a worktree, and nothing outside", async () => {
  const { files } = createDenoPlatform();
  const base = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.mkdir(`${base}/repo/.git/worktrees/w`, { recursive: true });
    await Deno.mkdir(`${base}/repo/a/b`, { recursive: true });
    await Deno.mkdir(`${base}/tree`);
    await Deno.writeTextFile(`${base}/repo/.git/HEAD`, "ref: refs/heads/feature/x\n");
    await Deno.writeTextFile(
      `${base}/repo/.git/worktrees/w/HEAD`,
      "0123456789abcdef0123456789abcdef01234567\n",
    );
    await Deno.writeTextFile(`${base}/tree/.git`, `gitdir: ${base}/repo/.git/worktrees/w\n`);
    assertEquals(gitBranch(files, `${base}/repo`), "feature/x");
    assertEquals(gitBranch(files, `${base}/repo/a/b`), "feature/x");
    assertEquals(gitBranch(files, `${base}/tree`), "0123456789ab");
    assertEquals(gitBranch(files, `${base}/gone/deep`), "");
    assertEquals(gitBranch(files, "/"), "");
    assertEquals(gitBranch(files, "relative"), "");
    await Deno.remove(`${base}/repo/.git/HEAD`);
    assertEquals(gitBranch(files, `${base}/repo`), "");
  } finally {
    await Deno.remove(base, { recursive: true });
  }
});
