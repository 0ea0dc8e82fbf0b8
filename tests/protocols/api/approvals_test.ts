import type { ApprovalChoice, Ask, AskPayload } from "@/core/mod.ts";
import { fileDiff } from "@/protocols/api/render/approval.ts";
import { assertEquals } from "../../support/assert.ts";
import { collectSse } from "../../support/api_driver.ts";
import { eventually } from "../../support/program.ts";
import { createClient, createFakeHermes, resultOf, userSays } from "./fake_hermes.ts";

function askOf(id: string, turnId: string, choices: readonly ApprovalChoice[]): Ask {
  const payload: AskPayload = {
    kind: "approval",
    command: "rm -rf build",
    description: "recursive delete",
    patternKey: "rm",
    patternKeys: ["rm"],
    choices,
  };
  return {
    id,
    sessionId: "s",
    turnId,
    callId: "c",
    toolName: "terminal",
    payload,
    timeoutMs: 60_000,
    openedAt: 0,
  };
}

/** A chat stream whose turn asks these questions and ends when all are settled. */
async function startAsking(asks: Record<string, readonly ApprovalChoice[]>) {
  const fake = createFakeHermes();
  const outcomes: Record<string, unknown> = {};
  fake.play = async ({ ask, turnId }) => {
    await Promise.all(
      Object.entries(asks).map(async ([id, choices]) => outcomes[id] = await ask(askOf(id, turnId, choices))),
    );
    return resultOf();
  };
  const client = createClient(fake);
  const response = await client.chat({ ...userSays("hi"), stream: true });
  const id = fake.submitted[0]!.options.scope!;
  const answer = async (body: unknown, run = id) => {
    const reply = await client.call(`/v1/runs/${run}/approval`, { body });
    const json = await reply.json();
    return [reply.status, reply.status === 200 ? json : json.error.code] as const;
  };
  const session = fake.hermes.sessions.live()[0]!;
  await eventually(() => session.asks().length === Object.keys(asks).length);
  return { id, answer, outcomes, response, client };
}

const ALL: readonly ApprovalChoice[] = ["once", "session", "always", "deny"];

Deno.test("FC-14: an answer settles the one request it names, once", async () => {
  const { id, answer, outcomes, response } = await startAsking({ p1: ALL, p2: ALL });
  assertEquals(await answer({ choice: "once" }), [400, "invalid_approval_request"]);
  assertEquals(await answer({ choice: "once", all: "false" }), [400, "invalid_approval_request"]);
  assertEquals(outcomes, {});
  assertEquals(await answer({ choice: "APPROVE", request_id: "p2" }), [200, {
    object: "hermes.run.approval_response",
    run_id: id,
    choice: "once",
    request_id: "p2",
    resolved: 1,
  }]);
  assertEquals(Object.keys(outcomes), ["p2"]);
  assertEquals(await answer({ choice: "once", request_id: "p2" }), [409, "approval_not_pending"]);
  assertEquals(await answer({ choice: "once", request_id: "nobody" }), [409, "approval_not_pending"]);
  assertEquals(await answer({ choice: "deny", reason: "not now" }), [200, {
    object: "hermes.run.approval_response",
    run_id: id,
    choice: "deny",
    resolved: 1,
  }]);
  await collectSse(response);
  assertEquals(outcomes.p1, {
    type: "answered",
    answer: { type: "choice", choice: "deny", reason: "not now" },
    by: "api",
  });
  assertEquals(await answer({ choice: "once" }), [409, "approval_not_active"]);
});

Deno.test("all resolves every waiting request, with a choice that each of them offers", async () => {
  const { answer, outcomes, response, id } = await startAsking({ p1: ALL, p2: ["once", "deny"] });
  assertEquals(await answer({ choice: "session", all: true }), [400, "invalid_approval_choice"]);
  assertEquals(outcomes, {});
  assertEquals(await answer({ choice: "once", resolve_all: "yes" }), [200, {
    object: "hermes.run.approval_response",
    run_id: id,
    choice: "once",
    resolved: 2,
  }]);
  await collectSse(response);
});

Deno.test("the checks of an approval come in the documented order", async () => {
  const { answer, outcomes, response } = await startAsking({ p1: ["once", "deny"] });
  assertEquals(await answer("{", "chatcmpl-unknown"), [404, "run_not_found"]);
  assertEquals(await answer("{"), [400, null]);
  for (const request_id of ["", 5, "x".repeat(257)]) {
    assertEquals(await answer({ choice: "once", request_id }), [400, "invalid_approval_request"]);
  }
  for (const choice of ["maybe", "", 1, undefined, "always"]) {
    assertEquals(await answer({ choice }), [400, "invalid_approval_choice"]);
  }
  assertEquals(outcomes, {});
  assertEquals((await answer({ choice: "allow" }))[0], 200);
  await collectSse(response);
});

Deno.test("a turn that is left while it asks ends as cancelled and takes no late answer", async () => {
  const { answer, outcomes, response } = await startAsking({ p1: ALL });
  await response.body!.cancel();
  await eventually(() => Object.keys(outcomes).length === 1);
  assertEquals(outcomes.p1, { type: "cancelled" });
  assertEquals(await answer({ choice: "once" }), [409, "approval_not_active"]);
});

Deno.test("fileDiff() shows the lines that differ with three lines around them", () => {
  const lines = (...changed: string[]) =>
    ["1", "2", "3", "4", ...changed, "6", "7", "8", "9"].join("\n") + "\n";
  assertEquals(
    fileDiff("/w/a", lines("5"), lines("five", "5b")),
    "--- /w/a\n+++ /w/a\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+5b\n 6\n 7\n 8",
  );
  assertEquals(fileDiff("/w/.env", null, "A=1\n"), "--- /dev/null\n+++ /w/.env\n@@ -0,0 +1,1 @@\n+A=1");
  assertEquals(fileDiff("/w/.env", "A=1\n", null), "--- /w/.env\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-A=1");
});
