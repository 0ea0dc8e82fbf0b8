/** Consent: who is asked, what an answer is remembered for, and what the model reads when there is none. */
import type { AskOutcome, AskPayload, Verdict } from "@/core/mod.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { proposalFor, withGuard } from "./guard_support.ts";

type Asked = Extract<Verdict, { type: "ask" }>;
type Approval = Extract<AskPayload, { kind: "approval" }>;

function asked(verdict: Verdict): Asked & { payload: Approval } {
  assert(verdict.type === "ask" && verdict.payload.kind === "approval", `asked, not ${verdict.type}`);
  return verdict as Asked & { payload: Approval };
}

Deno.test("core 39: reviewCommand() asks about rm -rf build, and asks again after once", async () => {
  await withGuard(async ({ guard, context }) => {
    const { payload } = asked(guard.reviewCommand("rm -rf build", context()));
    assertEquals(payload, {
      kind: "approval",
      command: "rm -rf build",
      description: "recursive delete",
      patternKey: "recursive delete",
      patternKeys: ["recursive delete"],
      choices: ["once", "session", "always", "deny"],
    });
    await guard.grant(payload, { type: "choice", choice: "once" }, context());
    assertEquals(guard.reviewCommand("rm -rf build", context()).type, "ask");
  });
});

Deno.test("core 40, core 41: a session grant covers its own scope only and dies with it", async () => {
  await withGuard(async ({ guard, context }) => {
    const { payload } = asked(guard.reviewCommand("rm -rf build", context()));
    await guard.grant(payload, { type: "choice", choice: "session" }, context());
    assertEquals(guard.reviewCommand("rm -r other", context()).type, "allow");
    assertEquals(guard.reviewCommand("rm -r other", context({ scope: "s2" })).type, "ask");
    assertEquals(guard.reviewCommand("git push -f", context()).type, "ask");
    guard.dropScope("s1");
    assertEquals(guard.reviewCommand("rm -r other", context()).type, "ask");
  });
});

Deno.test("core 40: an always grant is in command_allowlist and holds in another process", async () => {
  await withGuard(async (rig) => {
    const { payload } = asked(rig.guard.reviewCommand("rm -rf build && git push -f", rig.context()));
    assertEquals(payload.patternKeys, ["recursive delete", "git force push"]);
    assertEquals(payload.description, "recursive delete; git force push");
    await rig.guard.grant(payload, { type: "choice", choice: "always" }, rig.context());
    assertEquals(rig.settings().command_allowlist, ["old entry", "recursive delete", "git force push"]);
    assertEquals(rig.again().reviewCommand("rm -r x", rig.context({ scope: "s9" })).type, "allow");
    assertMatch(Deno.readTextFileSync(`${rig.home}/config.jsonc`), /\/\/ mine/);
  }, { config: `{\n  "command_allowlist": ["old entry"], // mine\n}\n` });
});

Deno.test("grant() of always still counts here when the config cannot be written, and says so", async () => {
  await withGuard(async (rig) => {
    const { payload } = asked(rig.guard.reviewCommand("rm -rf build", rig.context()));
    await rig.guard.grant(payload, { type: "choice", choice: "always" }, rig.context());
    assertEquals(rig.guard.reviewCommand("rm -r x", rig.context({ scope: "s2" })).type, "allow");
    assertEquals(rig.warnings.length, 1);
    assertMatch(rig.warnings[0] ?? "", /Cannot store the approval: .*cannot be read/);
  }, { config: "{ broken" });
});

Deno.test("FC-14: grant() of a choice that was not offered, or of another kind of answer, grants nothing", async () => {
  await withGuard(async ({ guard, context }) => {
    const { payload } = asked(guard.reviewCommand("rm -rf build", context()));
    const narrow: AskPayload = { ...payload, choices: ["once", "deny"] };
    await guard.grant(narrow, { type: "choice", choice: "always" }, context());
    await guard.grant(narrow, { type: "choice", choice: "session" }, context());
    await guard.grant(payload, { type: "choice", choice: "deny" }, context());
    await guard.grant(payload, { type: "text", text: "session" }, context());
    await guard.grant(payload, { type: "cancel" }, context());
    assertEquals(guard.reviewCommand("rm -rf build", context()).type, "ask");
  });
});

Deno.test("FC-14: targets name the command in its plain form and the files it would change", async () => {
  await withGuard(({ guard, context, cwd, user }) => {
    const first = asked(guard.reviewCommand("rm -rf  'build'", context()));
    assertEquals(first.targets, ["rm -rf build", `${cwd}/build`]);
    assertEquals(asked(guard.reviewCommand("r\\m -rf build", context())).targets, first.targets);
    const quiet = asked(guard.reviewCommand("rm -rf build > /dev/null 2>&1 2>/dev/null", context()));
    assertEquals(quiet.targets.slice(1), [`${cwd}/build`]);
    assertEquals(
      asked(guard.reviewCommand("cd ~/.ssh; echo k >> authorized_keys", context())).targets.slice(1),
      [
        `${user}/.ssh/authorized_keys`,
      ],
    );
  });
});

Deno.test("FC-14: a refused file is among the targets of a command that would write it", async () => {
  await withGuard(async ({ guard, context, cwd }) => {
    const edit = await guard.reviewEdit(proposalFor(`${cwd}/.env`), context());
    const command = guard.reviewCommand("echo A=1 > .env", context());
    assert(edit.type === "ask" && command.type === "ask");
    assert(edit.targets.includes(`${cwd}/.env`) && command.targets.includes(`${cwd}/.env`));
  });
});

Deno.test("yolo, mode off and the environment allow what would be asked", async () => {
  await withGuard(({ guard, context }) => {
    assertEquals(guard.reviewCommand("rm -rf build", context({ yolo: true })), {
      type: "allow",
      note: "yolo",
    });
  });
  await withGuard(({ guard, context }) => {
    assertEquals(guard.reviewCommand("rm -rf build", context()).type, "allow");
  }, { config: `{ "approvals": { "mode": "off" } }` });
  await withGuard(({ guard, context }) => {
    assertEquals(guard.reviewCommand("rm -rf build", context()).type, "allow");
  }, { env: { HERMES_YOLO_MODE: "1" } });
  await withGuard(({ guard, context }) => {
    assertEquals(guard.reviewCommand("rm -rf build", context()).type, "ask");
  }, { env: { HERMES_YOLO_MODE: "0" }, config: `{ "approvals": { "mode": "smart" } }` });
});

Deno.test("command_allowlist takes whole commands by pattern, but never behind a shell operator", async () => {
  const config = `{ "command_allowlist": ["rm -rf build", "git push -f *"] }`;
  await withGuard(({ guard, context }) => {
    for (const command of ["rm -rf build", "git push -f origin"]) {
      assertEquals(guard.reviewCommand(command, context()).type, "allow", command);
    }
    for (
      const command of [
        "rm -rf build2",
        "git push -f origin; rm -rf x",
        "git push -f $(rm -rf x)",
        "git push -f x > .env",
      ]
    ) {
      assertEquals(guard.reviewCommand(command, context()).type, "ask", command);
    }
  }, { config });
});

Deno.test("reviewCommand() blocks as unattended where nobody can be asked, unless it was allowed before", async () => {
  await withGuard(({ guard, context }) => {
    const verdict = guard.reviewCommand("rm -rf build", context({ canAsk: false }));
    assert(verdict.type === "block");
    const result = JSON.parse(verdict.content);
    assertEquals([result.status, result.outcome, result.exit_code, result.user_consent], [
      "blocked",
      "unattended",
      -1,
      false,
    ]);
    assertEquals(guard.reviewCommand("git push -f", context({ canAsk: false })).type, "allow");
    assertEquals(guard.reviewCommand("ls", context({ canAsk: false })).type, "allow");
  }, { config: `{ "command_allowlist": ["git force push"] }` });
});

Deno.test("gateway 28: the command of an approval is redacted", async () => {
  await withGuard(({ guard, context }) => {
    const token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    const { payload } = asked(
      guard.reviewCommand(`rm -rf x && curl -H 'Authorization: Bearer ${token}' y`, context()),
    );
    assert(!payload.command.includes(token));
    assertMatch(payload.command, /rm -rf x && curl/);
  });
});

Deno.test("core 42: refusal() tells a refusal, silence, nobody to ask and a cancelled turn apart", async () => {
  await withGuard(async ({ guard, context, cwd }) => {
    const { payload } = asked(guard.reviewCommand("rm -rf build", context()));
    const edit = await guard.reviewEdit(proposalFor(`${cwd}/.env`), context());
    assert(edit.type === "ask");
    const outcomes: [AskOutcome, string][] = [
      [{ type: "answered", answer: { type: "choice", choice: "deny", reason: "too early" } }, "denied"],
      [{ type: "timeout" }, "timeout"],
      [{ type: "unattended" }, "unattended"],
      [{ type: "cancelled" }, "cancelled"],
    ];
    for (const [outcome, name] of outcomes) {
      const result = JSON.parse(guard.refusal(payload, outcome));
      assertEquals([result.status, result.exit_code, result.outcome, result.user_consent], [
        "blocked",
        -1,
        name,
        false,
      ]);
      assertEquals(result.deny_reason, name === "denied" ? "too early" : undefined);
      const edited = JSON.parse(guard.refusal(edit.payload, outcome));
      assertEquals([edited.outcome, edited.exit_code], [name, undefined]);
      assertMatch(edited.error, /The file is unchanged/);
    }
    assertMatch(JSON.parse(guard.refusal(edit.payload, outcomes[0]![0])).error, /client refused/);
  });
});
