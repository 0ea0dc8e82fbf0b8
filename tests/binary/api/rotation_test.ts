/** A conversation that is compressed while clients go on under the id they know (api-server.md A9, B2.2, B10). */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { startApi } from "../../support/api_driver.ts";
import { type ModelServerRequest, startModelServer } from "../../support/model_server.ts";
import { ask, type Wire } from "./run_scene.ts";

const LONG = "word ".repeat(3_000);
const CONFIG = { compression: { threshold_tokens: 40_000 } };
const isSummary = ({ body }: ModelServerRequest) =>
  JSON.stringify(body.messages).includes("Summarise the conversation");

Deno.test("A9: after a rotation the client's id goes on with the live transcript, is echoed, and is the public one", async () => {
  await using model = await startModelServer({
    respond: (request) => isSummary(request) ? "SUMMARY OF ALL" : `answer ${LONG}`,
  });
  await using api = await startApi({ model, config: CONFIG });
  const say = async (n: number) => {
    const response = await api.chat({ messages: [{ role: "user", content: `question ${n}` }] }, {
      headers: { "X-Hermes-Session-Id": "mine" },
    });
    await response.body?.cancel();
    assertEquals([response.status, response.headers.get("x-hermes-session-id")], [200, "mine"]);
  };
  let n = 0;
  while (!model.calls().some(isSummary) && n < 14) await say(n++);
  assert(n > 4 && n < 14, `${n}`);
  await say(n);
  const sent = JSON.stringify(model.calls().at(-1)!.body.messages);
  assertMatch(sent, /SUMMARY OF ALL/);
  assertMatch(sent, new RegExp(`question ${n}"`));
  const { body: one } = await ask(api, "/api/sessions/mine");
  assertEquals([one.session.id, one.session.end_reason], ["mine", null]);
  const { body: list } = await ask(api, "/api/sessions");
  assertEquals(list.data.map((row: Wire) => row.id), ["mine"]);
  const { body: messages } = await ask(api, "/api/sessions/mine/messages?order=latest&limit=2");
  assertEquals(messages.data.map((row: Wire) => [row.session_id, row.role]), [
    ["mine", "assistant"],
    ["mine", "user"],
  ]);
  assertEquals(messages.data[1].content, `question ${n}`);
});

Deno.test("B2.2: a chain of responses keeps its public session over a rotation, and has the compressed history", async () => {
  await using model = await startModelServer({
    respond: (request) => isSummary(request) ? "SUMMARY OF ALL" : `answer ${LONG}`,
  });
  await using api = await startApi({ model, config: CONFIG });
  const sessions = new Set<string | null>();
  let [n, previous] = [0, null as string | null];
  const next = async () => {
    const body = {
      input: `question ${n++}`,
      ...(previous === null ? {} : { previous_response_id: previous }),
    };
    const answer = await ask(api, "/v1/responses", { body });
    assertEquals([answer.status, answer.body.status], [200, "completed"]);
    sessions.add(answer.headers.get("x-hermes-session-id"));
    previous = answer.body.id;
  };
  while (!model.calls().some(isSummary) && n < 14) await next();
  await next();
  assertEquals(sessions.size, 1);
  const sent = JSON.stringify(model.calls().at(-1)!.body.messages);
  assertMatch(sent, /SUMMARY OF ALL/);
  assertEquals(/question 2"/.test(sent), false);
});
