/** `hermes policy` against the real program. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { makeRig, runProgram } from "../../support/program.ts";

const RULES = [
  { effect: "allow", command: "git *" },
  { effect: "deny", command: "git push*", reason: "releases go through CI" },
  { effect: "ask", path: "docs/**", surface: "gateway" },
  { effect: "deny", mcp_server: "github" },
  { effect: "deny", tool: "read_file", path: "private/**" },
];

Deno.test("policy explain says which rule decides and why, and exits 0", async () => {
  await using rig = await makeRig({ config: { policy: { rules: RULES } } });
  const explain = async (...args: string[]) => {
    const { code, stdout } = await runProgram(["policy", "explain", "-C", rig.workspace, ...args], { rig });
    assertEquals(code, 0, args.join(" "));
    return stdout;
  };
  assertEquals(
    await explain("git push origin"),
    "deny  git push origin\n" +
      '  decided by: policy rule 2 (deny command "git push*"): releases go through CI\n' +
      '  also matches: policy rule 1 (allow command "git *"); a deny wins\n',
  );
  assertEquals(
    await explain("--", "git", "status"),
    'allow  git status\n  decided by: policy rule 1 (allow command "git *")\n',
  );
  assertEquals(
    await explain("rm -rf build"),
    "ask  rm -rf build\n  decided by: built-in rules: recursive delete\n" +
      "  where nobody can be asked: it is not done\n",
  );
  assertEquals(await explain("true"), "allow  true\n  decided by: built-in rules\n");
  assertMatch(await explain("--path", "docs/a.md", "--surface", "gateway"), /^ask {2}.*\n.*policy rule 3/);
  assertMatch(await explain("--path", "docs/a.md", "--tool", "write_file"), /^allow {2}.*\n.*built-in rules/);
  assertMatch(await explain("--path", "private/a", "--tool", "read_file"), /^deny {2}.*\n.*policy rule 5/);
  assertMatch(
    await explain("--mcp-server", "github", "--tool", "merge"),
    /^deny {2}github merge\n.*policy rule 4/,
  );
  assertEquals(JSON.parse(await explain("git push", "--json")), {
    call: "git push",
    effect: "deny",
    decided_by: 2,
    config_key: "policy.rules",
    reason: 'policy rule 2 (deny command "git push*"): releases go through CI',
    matching: [1, 2],
  });
});

Deno.test("policy explain names the setting of the config that decides, where it is not a rule", async () => {
  const config = { approvals: { deny: ["git push*"] }, command_allowlist: ["recursive delete"] };
  await using rig = await makeRig({ config });
  const explain = async (...args: string[]) =>
    (await runProgram(["policy", "explain", ...args], { rig })).stdout;
  const path = `${rig.home}/config.jsonc`;
  assertEquals(
    await explain("git push origin"),
    `deny  git push origin\n  decided by: approvals.deny: git push*  (${path})\n`,
  );
  assertEquals(
    await explain("rm -rf build"),
    `allow  rm -rf build\n  decided by: command_allowlist: recursive delete  (${path})\n`,
  );
  assertEquals(JSON.parse(await explain("--json", "git push")), {
    call: "git push",
    effect: "deny",
    decided_by: null,
    config_key: "approvals.deny",
    reason: "approvals.deny: git push*",
    matching: [],
  });
  assertEquals(JSON.parse(await explain("--json", "true")).config_key, null);
});

Deno.test("policy list shows the rules in order and warns of what it cannot read", async () => {
  const rules = [RULES[0]!, { effect: "maybe" }, { ...RULES[1]!, scope: { until: "2001-01-01" } }];
  await using rig = await makeRig({ config: { policy: { rules } } });
  const { code, stdout, stderr } = await runProgram(["policy", "list"], { rig });
  assertEquals(code, 0);
  assertEquals(
    stdout,
    '  1  allow command "git *"\n' +
      '  3  deny command "git push*" until 2001-01-01  (over)  # releases go through CI\n',
  );
  assertMatch(stderr, /policy\.rules: rule 2 is ignored: effect must be/);
});

Deno.test("policy explain without a call is a usage error", async () => {
  await using rig = await makeRig();
  const { code, stderr } = await runProgram(["policy", "explain"], { rig });
  assertEquals(code, 2);
  assertMatch(stderr, /needs a call/);
});
