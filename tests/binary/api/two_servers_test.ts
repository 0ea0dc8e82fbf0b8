/** Two servers on one home (FC-09, FC-24): who comes second finds what the first has made, and nobody is turned away. */
import { type ApiServer, startApi } from "../../support/api_driver.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { query } from "../../support/core_driver.ts";
import { type ModelServer, startModelServer } from "../../support/model_server.ts";
import { makeRig, type Rig } from "../../support/program.ts";
import { ask, startRun, untilStatus } from "./run_scene.ts";

const ROUNDS = 8;

async function withTwoServers(
  test: (servers: readonly ApiServer[], rig: Rig, model: ModelServer) => Promise<void>,
): Promise<void> {
  await using model = await startModelServer({
    respond: ({ body }) => `echo: ${JSON.stringify(body.messages.at(-1).content)}`,
  });
  await using rig = await makeRig();
  await using first = await startApi({ rig, model });
  await using second = await startApi({ rig, model });
  await test([first, second], rig, model);
}

function chat(api: ApiServer, content: string, headers: Record<string, string> = {}) {
  return ask(api, "/v1/chat/completions", { body: { messages: [{ role: "user", content }] }, headers });
}

/** It is one conversation: what the other has asked meanwhile may stand before it. */
const endsWith = (round: number, n: number) => new RegExp(`${round} from ${n}"$`);

function sessionsOf(rig: Rig): string[] {
  return query<{ id: string }>(rig, "SELECT id FROM sessions ORDER BY id").map(({ id }) => id);
}

Deno.test("FC-09, FC-24: a session id that both servers get at once is one session, and both are answered", async () => {
  await withTwoServers(async (servers, rig) => {
    for (let round = 0; round < ROUNDS; round++) {
      const headers = { "X-Hermes-Session-Id": `shared-${round}` };
      const answers = await Promise.all(servers.map((api, n) => chat(api, `${round} from ${n}`, headers)));
      for (const [n, { status, body }] of answers.entries()) {
        assertEquals(status, 200, JSON.stringify(body));
        assertMatch(body.choices[0].message.content, endsWith(round, n));
      }
      for (const [n, api] of servers.entries()) {
        assertEquals((await chat(api, `${round} again ${n}`, headers)).status, 200);
      }
    }
    assertEquals(sessionsOf(rig), Array.from({ length: ROUNDS }, (_, round) => `shared-${round}`));
    const prompts = query<{ content: string }>(rig, "SELECT content FROM messages WHERE role = 'user'");
    assertEquals(prompts.length, 4 * ROUNDS);
  });
});

Deno.test("FC-09: the same first words through both servers at once are two conversations", async () => {
  await withTwoServers(async (servers, rig, model) => {
    for (let round = 0; round < ROUNDS; round++) {
      const answers = await Promise.all(servers.map((api) => chat(api, `hello ${round}`)));
      assertEquals(answers.map(({ status }) => status), [200, 200]);
      const ids = answers.map(({ headers }) => headers.get("x-hermes-session-id"));
      assertEquals(new Set(ids).size, 2, ids.join());
    }
    assertEquals(sessionsOf(rig).length, 2 * ROUNDS);
    const asked = model.calls().map(({ body }) =>
      body.messages.filter((m: { role: string }) => m.role !== "system")
    );
    assertEquals(asked.every((messages) => messages.length === 1), true);
  });
});

Deno.test("FC-24: two runs that name one new session on two servers both end well", async () => {
  await withTwoServers(async (servers, rig) => {
    for (let round = 0; round < ROUNDS; round++) {
      const session_id = `run-${round}`;
      const ids = await Promise.all(
        servers.map((api, n) => startRun(api, { input: `${round} from ${n}`, session_id })),
      );
      for (const [n, api] of servers.entries()) {
        const run = await untilStatus(api, ids[n]!, "completed", "failed");
        assertEquals(run.status, "completed", JSON.stringify(run));
        assertMatch(run.output, endsWith(round, n));
      }
    }
    assertEquals(sessionsOf(rig).length, ROUNDS);
  });
});
