/** Edits: policies, sensitive targets in every spelling and through links, protected files, write roots. */
import type { EditPolicy, Verdict } from "@/core/mod.ts";
import { absolutePath } from "@/approvals/real_paths.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { proposalFor, withGuard, withPolicy } from "./guard_support.ts";

const EVERY_POLICY: readonly EditPolicy[] = ["ask", "workspace_session", "session", null];

function typeOf(verdict: Verdict): string {
  return verdict.type;
}

Deno.test("acp C7: reviewEdit() follows the policy for ordinary files", async () => {
  await withGuard(async (rig) => {
    const { guard, cwd, platform } = rig;
    const places = [
      `${cwd}/a.txt`,
      `${cwd}/new/b.txt`,
      `${platform.tempDir()}/c.txt`,
      `${cwd}/../elsewhere.txt`,
    ];
    const expected: Record<string, string[]> = {
      ask: ["ask", "ask", "ask", "ask"],
      workspace_session: ["allow", "allow", "allow", "ask"],
      session: ["allow", "allow", "allow", "allow"],
      null: ["allow", "allow", "allow", "allow"],
    };
    for (const policy of EVERY_POLICY) {
      const types: string[] = [];
      for (const path of places) {
        types.push(typeOf(await guard.reviewEdit(proposalFor(path), withPolicy(rig, policy))));
      }
      assertEquals(types, expected[String(policy)], String(policy));
    }
  });
});

Deno.test("acp C7: an additional root counts as workspace, a link out of it does not", async () => {
  await withGuard(async (rig) => {
    const { guard, cwd, user } = rig;
    Deno.mkdirSync(`${user}/more`);
    Deno.symlinkSync(`${user}/more`, `${cwd}/linked`);
    const context = rig.context({ editPolicy: "workspace_session" });
    const wider = rig.context({ editPolicy: "workspace_session", roots: [cwd, `${user}/more`] });
    assertEquals((await guard.reviewEdit(proposalFor(`${cwd}/linked/a.txt`), context)).type, "ask");
    assertEquals((await guard.reviewEdit(proposalFor(`${cwd}/linked/a.txt`), wider)).type, "allow");
    assertEquals((await guard.reviewEdit(proposalFor(`${user}/more/a.txt`), context)).type, "ask");
  });
});

Deno.test("FC-15: a sensitive name is asked about under every policy, in either order of a patch", async () => {
  const names = [
    ".env",
    ".ENV",
    ".env.local",
    ".env.production",
    ".env.anything",
    "sub/.env",
    ".git/config",
    ".git/hooks/pre-commit",
    ".GIT/config",
    ".ssh/config",
    "id_rsa",
    "id_ed25519",
    "id_dsa",
    "id_ecdsa",
    "server.pem",
    "server.KEY",
    "a.p12",
    "a.pfx",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".aws/credentials",
    ".kube/config",
    ".docker/config.json",
    "AGENTS.md",
  ];
  await withGuard(async (rig) => {
    const { guard, cwd } = rig;
    for (const policy of EVERY_POLICY) {
      for (const name of names) {
        const secret = `${cwd}/${name}`;
        for (const paths of [[secret], [`${cwd}/a.txt`, secret], [secret, `${cwd}/a.txt`]]) {
          const verdict = await guard.reviewEdit(proposalFor(...paths), withPolicy(rig, policy));
          assert(verdict.type === "ask" && verdict.payload.kind === "edit", `${policy} ${paths}`);
          assertMatch(verdict.payload.description, /^sensitive file: \//);
          assertEquals(verdict.payload.choices, ["once", "deny"]);
          assert(verdict.targets.includes(secret));
        }
      }
    }
    for (
      const name of [".env.example", ".env.sample", ".env.template", "env", "keys.ts", "pem.txt", "my.git/a"]
    ) {
      assertEquals(
        (await guard.reviewEdit(proposalFor(`${cwd}/${name}`), withPolicy(rig, "session"))).type,
        "allow",
        name,
      );
    }
  });
});

Deno.test("FC-15: the path an edit names outside `paths` is judged too", async () => {
  await withGuard(async (rig) => {
    const { guard, cwd } = rig;
    const proposal = { ...proposalFor(`${cwd}/a.txt`, `${cwd}/.env`), paths: [`${cwd}/a.txt`] };
    assertEquals((await guard.reviewEdit(proposal, withPolicy(rig, "session"))).type, "ask");
  });
});

Deno.test("FC-15: links are followed: to a file, to a folder, to nowhere, in a circle", async () => {
  await withGuard(async (rig) => {
    const { guard, cwd, user } = rig;
    Deno.writeTextFileSync(`${cwd}/.env`, "A=1");
    Deno.mkdirSync(`${user}/keys/.ssh`, { recursive: true });
    Deno.symlinkSync(`${cwd}/.env`, `${cwd}/plain.txt`);
    Deno.symlinkSync(`${user}/keys/.ssh`, `${cwd}/folder`);
    Deno.symlinkSync(`${cwd}/.env.local`, `${cwd}/dangling.txt`);
    Deno.symlinkSync(`${cwd}/circle.txt`, `${cwd}/circle.txt`);
    Deno.symlinkSync(`${cwd}/plain.txt`, `${cwd}/twice.txt`);
    Deno.writeTextFileSync(`${cwd}/target.txt`, "");
    Deno.symlinkSync(`${cwd}/target.txt`, `${cwd}/harmless.txt`);
    for (
      const name of [
        "plain.txt",
        "folder/new.txt",
        "folder/deep/new.txt",
        "dangling.txt",
        "circle.txt",
        "twice.txt",
      ]
    ) {
      assertEquals(
        (await guard.reviewEdit(proposalFor(`${cwd}/${name}`), withPolicy(rig, "session"))).type,
        "ask",
        name,
      );
    }
    assertEquals(
      (await guard.reviewEdit(proposalFor(`${cwd}/harmless.txt`), withPolicy(rig, "session"))).type,
      "allow",
    );
    const verdict = await guard.reviewEdit(proposalFor(`${cwd}/plain.txt`), withPolicy(rig, "session"));
    assert(verdict.type === "ask" && verdict.targets.includes(`${cwd}/.env`), "the real file is a target");
  });
});

Deno.test("core 45: a protected file is refused without diff questions, also through a link; on ACP it is asked about", async () => {
  await withGuard(async (rig) => {
    const { guard, cwd, user, home } = rig;
    Deno.mkdirSync(`${user}/.ssh`);
    Deno.symlinkSync(`${user}/.ssh`, `${cwd}/notes`);
    const protectedPaths = [
      `${user}/.ssh/authorized_keys`,
      `${cwd}/notes/authorized_keys`,
      `${user}/.aws/credentials`,
      `${user}/.config/gh/hosts.yml`,
      `${user}/.netrc`,
      `${home}/.env`,
      `${home}/auth.json`,
      `${home}/config.jsonc`,
      `${home}/mcp-tokens/a.json`,
      "/etc/hosts",
      "/etc/sudoers.d/x",
      "/boot/grub.cfg",
      `${cwd}/../user/.ssh/config`,
    ];
    for (const path of protectedPaths) {
      const refused = await guard.reviewEdit(proposalFor(path), withPolicy(rig, null));
      assert(refused.type === "block", path);
      assertMatch(JSON.parse(refused.content).error, /protected .*The file is unchanged/);
      for (const policy of ["ask", "workspace_session", "session"] as const) {
        assertEquals((await guard.reviewEdit(proposalFor(path), withPolicy(rig, policy))).type, "ask", path);
      }
    }
  });
});

Deno.test("reviewEdit() asks about anything else in the data folder, everywhere", async () => {
  await withGuard(async (rig) => {
    for (const policy of EVERY_POLICY) {
      const verdict = await rig.guard.reviewEdit(
        proposalFor(`${rig.home}/skills/x.md`),
        withPolicy(rig, policy),
      );
      assertEquals(verdict.type, "ask");
    }
  });
});

Deno.test("reviewEdit() blocks as unattended where nobody can be asked, yolo or not", async () => {
  await withGuard(async (rig) => {
    const { guard, cwd } = rig;
    for (const yolo of [false, true]) {
      const secret = await guard.reviewEdit(proposalFor(`${cwd}/.env`), rig.context({ canAsk: false, yolo }));
      assert(secret.type === "block");
      assertEquals(JSON.parse(secret.content).outcome, "unattended");
    }
    const ordinary = await guard.reviewEdit(
      proposalFor(`${cwd}/a`),
      rig.context({ canAsk: false, editPolicy: "ask" }),
    );
    assertEquals(ordinary.type, "block");
    assertEquals(
      (await guard.reviewEdit(proposalFor(`${cwd}/a`), rig.context({ canAsk: false }))).type,
      "allow",
    );
  });
});

Deno.test("security.protected_instruction_files: false makes AGENTS.md an ordinary file", async () => {
  await withGuard(async (rig) => {
    const verdict = await rig.guard.reviewEdit(
      proposalFor(`${rig.cwd}/AGENTS.md`),
      withPolicy(rig, "session"),
    );
    assertEquals(verdict.type, "allow");
  }, { config: `{ "security": { "protected_instruction_files": false } }` });
});

Deno.test("HERMES_WRITE_SAFE_ROOT refuses every write outside, also through a link", async () => {
  const base = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    await withGuard(async (rig) => {
      const { guard, cwd } = rig;
      Deno.symlinkSync(cwd, `${base}/out`);
      for (const policy of EVERY_POLICY) {
        const context = withPolicy(rig, policy);
        assertEquals((await guard.reviewEdit(proposalFor(`${cwd}/a.txt`), context)).type, "block");
        assertEquals((await guard.reviewEdit(proposalFor(`${base}/out/a.txt`), context)).type, "block");
        assertEquals(
          (await guard.reviewEdit(proposalFor(`${base}/a.txt`, `${cwd}/a.txt`), context)).type,
          "block",
        );
        assert((await guard.reviewEdit(proposalFor(`${base}/sub/a.txt`), context)).type !== "block");
      }
    }, { env: { HERMES_WRITE_SAFE_ROOT: `/nowhere:${base}` } });
  } finally {
    Deno.removeSync(base, { recursive: true });
  }
});

Deno.test("FC-13: absolutePath() resolves against the session's cwd, with ~ and ..", async () => {
  await withGuard(({ platform, cwd, user }) => {
    assertEquals(absolutePath(platform, "a/../b.txt", cwd), `${cwd}/b.txt`);
    assertEquals(absolutePath(platform, "~/x", cwd), `${user}/x`);
    assertEquals(absolutePath(platform, "/a//b/./c/../../../..", cwd), "/");
  });
});
