/** `policy.rules`: precedence, globs, links, surfaces, scopes, and what a rule can never widen. */
import type { GuardContext, Verdict } from "@/core/mod.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { type GuardRig, proposalFor, withGuard } from "./guard_support.ts";

type Rule = Record<string, unknown>;
const config = (...rules: Rule[]) => JSON.stringify({ policy: { rules } });

function shown(verdict: Verdict): string {
  if (verdict.type === "block") return `block ${/rule \d+/.exec(verdict.reason)?.[0] ?? verdict.reason}`;
  if (verdict.type === "allow") {
    return `allow ${/rule \d+/.exec(verdict.note ?? "")?.[0] ?? verdict.note ?? ""}`.trim();
  }
  const text = "description" in verdict.payload ? verdict.payload.description : "";
  return `ask ${/rule \d+/.exec(text)?.[0] ?? text}`;
}

interface Case {
  readonly name: string;
  readonly rules: Rule[];
  /** Command → verdict. */
  readonly commands: Record<string, string>;
  readonly context?: Partial<GuardContext>;
}

const CASES: Case[] = [
  {
    name: "deny wins over an earlier allow and ask",
    rules: [
      { effect: "allow", command: "git *" },
      { effect: "ask", command: "git push*" },
      { effect: "deny", command: "git push --force*" },
    ],
    commands: {
      "git status": "allow rule 1",
      "git push": "allow rule 1",
      "git push --force": "block rule 3",
      "ls": "allow",
    },
  },
  {
    name: "else the first match decides",
    rules: [{ effect: "ask", command: "git push*" }, { effect: "allow", command: "git *" }],
    commands: { "git push": "ask rule 1", "git reset --hard": "allow rule 2" },
  },
  {
    name: "else the built-in rules",
    rules: [{ effect: "allow", command: "make *" }],
    commands: { "make clean": "allow rule 1", "rm -rf build": "ask recursive delete", "true": "allow" },
  },
  {
    name: "an allow covers one plain command and nothing behind it",
    rules: [{ effect: "allow", command: "git *" }],
    commands: {
      "git status; rm -rf build": "ask recursive delete",
      "git status && rm -rf build": "ask recursive delete",
      "git log $(rm -rf build)": "ask recursive delete",
      "git log > /etc/passwd": "ask overwrite system config",
      "git status\nrm -rf build": "ask recursive delete",
    },
  },
  {
    name: "a deny finds its command behind wrappers, quotes, chains and paths",
    rules: [{ effect: "deny", command: "curl *" }],
    commands: {
      "curl http://x": "block rule 1",
      "cd /tmp && curl http://x": "block rule 1",
      "sudo curl http://x": "block rule 1",
      "/usr/bin/curl http://x": "block rule 1",
      "c'u'rl http://x": "block rule 1",
      "bash -c 'curl http://x'": "block rule 1",
      "echo $(curl http://x)": "block rule 1",
      "env A=1 curl http://x | cat": "block rule 1",
      "echo curl": "allow",
    },
  },
  {
    name: "no rule allows what is blocked outright, nor what approvals.deny forbids",
    rules: [{ effect: "allow", tool: "terminal" }, { effect: "allow", command: "*" }],
    commands: {
      "rm -rf /": "block hard block: removes the root, a system directory or the home directory",
      "shutdown now": "block hard block: stops the machine",
      "rm -rf build": "allow rule 1",
    },
  },
  {
    name: "no rule spares the question about secrets and settings",
    rules: [{ effect: "allow", tool: "terminal" }],
    commands: {
      "echo KEY=1 > .env": "ask overwrite project secrets",
      "echo x >> ~/.ssh/authorized_keys": "ask overwrite personal config",
      "hermes config set policy.rules []": "ask change the settings of hermes",
      "git push --force": "allow rule 1",
    },
  },
  {
    name: "yolo does not take away a rule that asks or forbids",
    rules: [{ effect: "ask", command: "git push*" }, { effect: "deny", command: "npm publish*" }],
    context: { yolo: true },
    commands: { "git push": "ask rule 1", "npm publish": "block rule 2", "rm -rf build": "allow yolo" },
  },
  {
    name: "an ask where nobody can be asked is blocked, also under yolo",
    rules: [{ effect: "ask", command: "git push*" }],
    context: { canAsk: false, yolo: true },
    commands: { "git push": "block rule 1", "rm -rf build": "allow yolo" },
  },
  {
    name: "a surface is called as people call it, and globs hold",
    rules: [
      { effect: "deny", command: "a*", surface: "gateway" },
      { effect: "deny", command: "b*", surface: "cli" },
      { effect: "deny", command: "c*", surface: "*" },
    ],
    context: { surface: "tui" },
    commands: { "a 1": "block rule 1", "b 1": "allow", "c 1": "block rule 3" },
  },
  {
    name: "until a time: then the rule is not there",
    rules: [
      { effect: "deny", command: "a*", scope: { until: "2999-01-01" } },
      { effect: "deny", command: "b*", scope: { until: "2001-01-01T00:00:00Z" } },
      { effect: "allow", command: "rm -rf c*", scope: { until: "2001-01-01T00:00:00+02:00" } },
    ],
    commands: { "a 1": "block rule 1", "b 1": "allow", "rm -rf c": "ask recursive delete" },
  },
  {
    name: "a path forbids commands that name it, and never allows one",
    rules: [{ effect: "deny", path: "secrets/**" }, { effect: "allow", path: "out/**" }],
    commands: {
      "cat secrets/key": "block rule 1",
      "cat ./x/../secrets/key": "block rule 1",
      "cd secrets && cat key": "block rule 1",
      "tar --file=secrets/a.tar": "block rule 1",
      "echo x > secrets/key": "block rule 1",
      "sort < secrets/key": "block rule 1",
      "cat secretsx": "allow",
      "rm -rf out/a": "ask recursive delete",
    },
  },
  {
    name: "a tool glob decides on commands too",
    rules: [{ effect: "deny", tool: "term*" }],
    commands: { "true": "block rule 1" },
  },
];

for (const { name, rules, commands, context } of CASES) {
  Deno.test(`policy.rules on commands: ${name}`, async () => {
    await withGuard((rig) => {
      const got = Object.fromEntries(
        Object.keys(commands).map((
          text,
        ) => [text, shown(rig.guard.reviewCommand(text, rig.context(context)))]),
      );
      assertEquals(got, commands);
    }, { config: config(...rules) });
  });
}

Deno.test("policy.rules: approvals.deny stands above a rule that allows", async () => {
  const text = JSON.stringify({
    approvals: { deny: ["git push*"] },
    policy: { rules: [{ effect: "allow", command: "git *" }] },
  });
  await withGuard(({ guard, context }) => {
    assertEquals(shown(guard.reviewCommand("git push", context())), "block approvals.deny: git push*");
  }, { config: text });
});

Deno.test("policy.rules: scope always asks every time; session remembers one consent, also for an allow", async () => {
  const rules = [
    { effect: "ask", command: "a*" },
    { effect: "ask", command: "b*", scope: "session" },
    { effect: "allow", command: "rm -rf c*", scope: "session" },
  ];
  await withGuard(async ({ guard, context }) => {
    const choices: Record<string, unknown> = {};
    for (const command of ["a 1", "b 1", "rm -rf c"]) {
      const verdict = guard.reviewCommand(command, context());
      assert(verdict.type === "ask" && verdict.payload.kind === "approval", command);
      choices[command] = verdict.payload.choices;
      await guard.grant(verdict.payload, { type: "choice", choice: "session" }, context());
    }
    assertEquals(choices, {
      "a 1": ["once", "deny"],
      "b 1": ["once", "session", "deny"],
      "rm -rf c": ["once", "session", "deny"],
    });
    assertEquals(shown(guard.reviewCommand("a 1", context())), "ask rule 1");
    assertEquals(shown(guard.reviewCommand("b 2", context())), "allow rule 2");
    assertEquals(shown(guard.reviewCommand("rm -rf cc", context())), "allow rule 3");
    assertEquals(shown(guard.reviewCommand("b 2", context({ scope: "s2" }))), "ask rule 2");
  }, { config: config(...rules) });
});

Deno.test("policy.rules: a consent to a rule is no consent to a danger that comes with it", async () => {
  await withGuard(async ({ guard, context }) => {
    const first = guard.reviewCommand("git push", context());
    assert(first.type === "ask");
    await guard.grant(first.payload, { type: "choice", choice: "session" }, context());
    assertEquals(shown(guard.reviewCommand("git push origin", context())), "allow rule 1");
    assertEquals(shown(guard.reviewCommand("git push --force", context())), "ask git force push");
  }, { config: config({ effect: "ask", command: "git push*", scope: "session" }) });
});

async function edits(rig: GuardRig, paths: string[], changes: Partial<GuardContext> = {}): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    found.push(shown(await rig.guard.reviewEdit(proposalFor(path), rig.context(changes))));
  }
  return found;
}

Deno.test("policy.rules on edits: globs by name, by folder, from the root and from the home", async () => {
  const rules = [
    { effect: "deny", path: "*.lock" },
    { effect: "deny", path: "dist" },
    { effect: "allow", path: "src/**" },
    { effect: "ask", path: "docs/*.md" },
    { effect: "deny", path: "~/notes/**" },
    { effect: "allow", path: "*.txt" },
  ];
  await withGuard(async (rig) => {
    const { cwd, user } = rig;
    const paths = [
      `${cwd}/deep/a.lock`,
      "/elsewhere/b.lock",
      `${cwd}/dist/x.js`,
      `${cwd}/src/a/b.ts`,
      `${cwd}/src`,
      `${cwd}/docs/a.md`,
      `${cwd}/docs/sub/b.md`,
      `${user}/notes/x`,
      `${cwd}/a/b.txt`,
      `${user}/b.txt`,
      `${cwd}/srcs/a.ts`,
    ];
    assertEquals(await edits(rig, paths, { editPolicy: "ask" }), [
      "block rule 1",
      "block rule 1",
      "block rule 2",
      "allow rule 3",
      "allow rule 3",
      "ask rule 4",
      "ask edit",
      "block rule 5",
      "allow rule 6",
      "ask edit",
      "ask edit",
    ]);
  }, { config: config(...rules) });
});

Deno.test("policy.rules on edits: a link neither carries an allow out nor hides a denied target", async () => {
  const rules = [{ effect: "allow", path: "src/**" }, { effect: "deny", path: "vault/**" }];
  await withGuard(async (rig) => {
    const { cwd, user } = rig;
    for (const folder of [`${cwd}/src`, `${cwd}/vault`, `${user}/far`]) Deno.mkdirSync(folder);
    Deno.symlinkSync(`${user}/far`, `${cwd}/src/out`);
    Deno.symlinkSync(`${cwd}/vault`, `${cwd}/src/in`);
    Deno.symlinkSync(`${cwd}/nowhere`, `${cwd}/src/broken`);
    const paths = [`${cwd}/src/a`, `${cwd}/src/out/a`, `${cwd}/src/in/a`, `${cwd}/src/broken`];
    assertEquals(await edits(rig, paths, { editPolicy: "workspace_session" }), [
      "allow rule 1",
      "ask edit",
      "block rule 2",
      `ask sensitive file: ${cwd}/src/broken (behind a broken link)`,
    ]);
    assertEquals(shown(rig.guard.reviewCommand("cat src/in/key", rig.context())), "block rule 2");
    Deno.symlinkSync(cwd, `${user}/linked`);
    const linked = { cwd: `${user}/linked`, roots: [`${user}/linked`], editPolicy: "ask" as const };
    assertEquals(await edits(rig, [`${user}/linked/src/a`, `${user}/linked/vault/a`], linked), [
      "allow rule 1",
      "block rule 2",
    ]);
  }, { config: config(...rules) });
});

Deno.test("policy.rules on edits: several files need every one allowed, and one denied is enough", async () => {
  const rules = [{ effect: "allow", path: "src/**" }, { effect: "deny", path: "gen/**" }];
  await withGuard(async (rig) => {
    const { cwd, guard } = rig;
    const context = rig.context({ editPolicy: "ask" });
    const of = async (...names: string[]) =>
      shown(await guard.reviewEdit(proposalFor(...names.map((name) => `${cwd}/${name}`)), context));
    assertEquals(await of("src/a", "src/b"), "allow rule 1");
    assertEquals(await of("src/a", "other"), "ask edit");
    assertEquals(await of("src/a", "gen/b"), "block rule 2");
  }, { config: config(...rules) });
});

Deno.test("policy.rules on edits: no rule allows a sensitive file or one outside HERMES_WRITE_SAFE_ROOT", async () => {
  const rules = [{ effect: "allow", tool: "*" }];
  await withGuard(async (rig) => {
    const { cwd, user } = rig;
    const [env, ssh, plain] = await edits(rig, [`${cwd}/.env`, `${user}/.ssh/config`, `${cwd}/a`]);
    assertMatch(env!, /^ask sensitive file/);
    assertMatch(ssh!, /^block sensitive file/);
    assertEquals(plain, "allow rule 1");
  }, { config: config(...rules) });
  await withGuard(async (rig) => {
    assertEquals(await edits(rig, [`${rig.cwd}/a`]), ["block outside HERMES_WRITE_SAFE_ROOT"]);
  }, { config: config(...rules), env: { HERMES_WRITE_SAFE_ROOT: "/nowhere" } });
});

Deno.test("policy.rules on edits: an ask where nobody can be asked leaves the file as it is", async () => {
  await withGuard(async (rig) => {
    const verdict = await rig.guard.reviewEdit(proposalFor(`${rig.cwd}/a`), rig.context({ canAsk: false }));
    assert(verdict.type === "block");
    assertEquals([shown(verdict), JSON.parse(verdict.content).outcome], ["block rule 1", "unattended"]);
  }, { config: config({ effect: "ask", tool: "write_file" }) });
});

Deno.test("policy.rules on other tools: by name, MCP server, path and surface", async () => {
  const rules = [
    { effect: "deny", mcp_server: "git*" },
    { effect: "ask", tool: "web_*", scope: "session" },
    { effect: "deny", path: "private/**", tool: "read_file" },
    { effect: "deny", command: "*" },
  ];
  await withGuard(async (rig) => {
    const { guard, cwd } = rig;
    const review = (tool: string, mcpServer: string | null = null, paths: string[] = []) =>
      guard.reviewCall!({ tool, mcpServer, title: tool, paths }, rig.context());
    assertEquals(shown(review("mcp__github__merge", "github")), "block rule 1");
    assertEquals(shown(review("github")), "allow");
    assertEquals(shown(review("read_file", null, [`${cwd}/private/a`])), "block rule 3");
    assertEquals(shown(review("read_file", null, [`${cwd}/a`])), "allow");
    const asked = review("web_search");
    assert(asked.type === "ask");
    assertEquals(shown(asked), "ask rule 2");
    await guard.grant(asked.payload, { type: "choice", choice: "session" }, rig.context());
    assertEquals(shown(review("web_search")), "allow rule 2");
    const alone = guard.reviewCall!(
      { tool: "web_x", mcpServer: null, title: "web_x", paths: [] },
      rig.context({ scope: "s2", canAsk: false }),
    );
    assertEquals(shown(alone), "block rule 2");
  }, { config: config(...rules) });
});

Deno.test("policy.rules: a rule that cannot be understood is a warning that names it, and does nothing", async () => {
  const bad: [Rule | string, RegExp][] = [
    ["deny", /rule 1 is ignored: it is not an object/],
    [{ effect: "forbid", command: "x" }, /rule 2 is ignored: effect must be/],
    [{ effect: "allow", comand: "rm *" }, /rule 3 is ignored: there is no field "comand"/],
    [{ effect: "allow" }, /rule 4 is ignored: an allow rule must say what/],
    [{ effect: "allow", surface: "cli" }, /rule 5 is ignored: an allow rule must say what/],
    [{ effect: "allow", tool: 7 }, /rule 6 is ignored: tool must be a text/],
    [{ effect: "allow", tool: "*", scope: { until: "tomorrow" } }, /rule 7 is ignored: scope is/],
    [{ effect: "allow", tool: "*", scope: { until: "2999-01-01T10:00" } }, /rule 8 is ignored: scope is/],
    [{ effect: "deny", tool: "*", surface: "gatway" }, /rule 9 is ignored: there is no surface "gatway"/],
  ];
  const text = JSON.stringify({
    policy: { rules: [...bad.map(([rule]) => rule), { effect: "ask", tool: "x" }] },
  });
  await withGuard(({ settings, guard, context, config }) => {
    const warnings = config.warnings();
    assertEquals(warnings.length, bad.length);
    bad.forEach(([, pattern], at) => assertMatch(warnings[at]!, pattern));
    assertEquals(settings().policy?.rules.map((rule) => rule.number), [10]);
    assertEquals(shown(guard.reviewCommand("rm -rf build", context())), "ask recursive delete");
  }, { config: text });
});

Deno.test("policy.rules that are no list are a warning and no rules", async () => {
  await withGuard(({ settings, config }) => {
    assertEquals(settings().policy?.rules, []);
    assertMatch(config.warnings().join(), /policy\.rules.*wanted a list of rules/);
  }, { config: JSON.stringify({ policy: { rules: { effect: "deny" } } }) });
});
