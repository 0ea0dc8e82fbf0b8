/**
 * An edit lands where it was judged, whatever somebody does to the links on its way in the meantime: between the
 * question and the answer, between the judgement and the write, and while it is written.
 */
import { createLocalFiles } from "@/tools/mod.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import type { Platform } from "@/platform/mod.ts";
import { proposalFor, withGuard } from "../approvals/guard_support.ts";
import { assertEquals, assertMatch, assertRejects } from "../support/assert.ts";
import { type Bench, makeBench } from "../tools/context.ts";

function point(link: string, to: string): void {
  try {
    Deno.removeSync(link);
  } catch {
    // There was none.
  }
  Deno.symlinkSync(to, link);
}

/** `work/way` leads to `work/good`; `user/victim` is where it shall not lead. */
async function makeWay(): Promise<{ bench: Bench; way: string; good: string; victim: string }> {
  const bench = await makeBench();
  const [way, good, victim] = [`${bench.dir}/way`, `${bench.dir}/good`, `${bench.userHome}/victim`];
  for (const folder of [good, victim]) Deno.mkdirSync(folder);
  point(way, good);
  return { bench, way, good, victim };
}

const WRITES = [
  ["write_file", { path: "way/new.txt", content: "mine\n" }],
  ["write_file", { path: "way/deep/new.txt", content: "mine\n" }],
  ["patch", { patch: "*** Begin Patch\n*** Add File: way/new.txt\n+mine\n*** End Patch" }],
  ["patch", { patch: "*** Begin Patch\n*** Delete File: way/old.txt\n*** End Patch" }],
  ["patch", { path: "way/old.txt", old_string: "old", new_string: "mine" }],
] as const;

Deno.test("core C.8: an edit that was judged for one place is not made in another when a link has changed", async () => {
  for (const [tool, args] of WRITES) {
    const { bench, way, good, victim } = await makeWay();
    await using _bench = bench;
    for (const folder of [good, victim]) Deno.writeTextFileSync(`${folder}/old.txt`, "old\n");
    const judged = await bench.propose(tool, args);
    point(way, victim);
    for (const call of [{ approved: judged }, { overrides: { reviewed: judged } }]) {
      const outcome = await bench.call(tool, args, call);
      assertEquals(outcome.isError, true, `${tool} ${JSON.stringify(args)}`);
      assertMatch(String(outcome.content), /leads to another place/);
    }
    for (const folder of [good, victim]) {
      assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), ["old.txt"]);
      assertEquals(Deno.readTextFileSync(`${folder}/old.txt`), "old\n");
    }
    point(way, good);
    const made = await bench.call(tool, args, { overrides: { reviewed: judged } });
    assertEquals(made.isError, false, String(made.content));
  }
});

Deno.test("createLocalFiles(): a link that turns around while a file is written leads the write nowhere", async () => {
  const real = createDenoPlatform();
  const base = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "hermes-place-" }));
  try {
    const [folder, victim] = [`${base}/folder`, `${base}/victim`];
    for (const name of ["new.txt", "old.txt"]) {
      for (const one of [folder, victim]) {
        Deno.mkdirSync(one, { recursive: true });
        Deno.writeTextFileSync(`${one}/old.txt`, "old\n");
      }
      // The folder is swapped for a link at the very moment in which the write begins.
      const files: Platform["files"] = {
        ...real.files,
        write: async (path, data, options) => {
          Deno.renameSync(folder, `${base}/away-${name}`);
          Deno.symlinkSync(victim, folder);
          await real.files.write(path, data, options);
        },
      };
      const disk = createLocalFiles({ ...real, files });
      const path = `${folder}/${name}`;
      await assertRejects(
        () => disk.write(path, new TextEncoder().encode("mine"), path),
        /a link on the way to it was changed/,
      );
      assertEquals([...Deno.readDirSync(victim)].map((entry) => entry.name), ["old.txt"]);
      assertEquals(Deno.readTextFileSync(`${victim}/old.txt`), "old\n");
      Deno.removeSync(folder);
    }
  } finally {
    Deno.removeSync(base, { recursive: true });
  }
});

Deno.test("reviewEdit() judges the place that the edit was planned for as well as where its path leads now", async () => {
  await withGuard(async ({ guard, context, cwd, user }) => {
    const path = `${cwd}/plain.txt`;
    assertEquals((await guard.reviewEdit(proposalFor(path), context())).type, "allow");
    const reals = [`${user}/.ssh/authorized_keys`];
    assertEquals((await guard.reviewEdit({ ...proposalFor(path), reals }, context())).type, "block");
  });
});

Deno.test("reviewEdit() asks before a file is written that runs when the user logs in, and refuses unattended", async () => {
  await withGuard(async ({ guard, context, user, cwd }) => {
    for (
      const name of [
        ".bashrc",
        ".zshenv",
        ".profile",
        ".gitconfig",
        ".config/git/config",
        ".config/systemd/user/x.service",
        ".config/autostart/x.desktop",
      ]
    ) {
      const proposal = proposalFor(`${user}/${name}`);
      assertEquals((await guard.reviewEdit(proposal, context())).type, "ask", name);
      assertEquals((await guard.reviewEdit(proposal, context({ yolo: true }))).type, "ask", name);
      assertEquals((await guard.reviewEdit(proposal, context({ canAsk: false }))).type, "block", name);
    }
    for (const path of [`${cwd}/.bashrc`, `${user}/.bashrc.d/x`, `${user}/notes/.profile`]) {
      assertEquals((await guard.reviewEdit(proposalFor(path), context())).type, "allow", path);
    }
  });
});
