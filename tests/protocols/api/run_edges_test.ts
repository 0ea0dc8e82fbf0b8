/** Ends of a run's life that only happen when something goes wrong (api-server.md B4.6, E2). */
import { assertEquals } from "../../support/assert.ts";
import { eventually } from "../../support/program.ts";
import { createClient, createFakeHermes, resultOf } from "./fake_hermes.ts";

/** A run that is running until `end` is called. */
async function running() {
  const fake = createFakeHermes();
  Object.assign(fake.hermes, { processes: () => ({ list: () => [] }) });
  const { promise, resolve: end } = Promise.withResolvers<void>();
  fake.play = async ({ publish }) => {
    await publish({ type: "turn.start", text: "go", userRowId: 1 });
    await promise;
    return resultOf();
  };
  const client = createClient(fake);
  const ask = async (path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await client.call(path, body === undefined ? {} : { body, headers });
    return {
      status: response.status,
      retry: response.headers.get("x-should-retry"),
      body: await response.json(),
    };
  };
  const id: string = (await ask("/v1/runs", { input: "go" }, { "Idempotency-Key": "k1" })).body.run_id;
  const until = (status: string) =>
    eventually(async () => (await ask(`/v1/runs/${id}`)).body.status === status || undefined);
  await until("running");
  const session = fake.hermes.sessions.live()[0]!;
  const steer = (take: () => boolean) => {
    Object.assign(session, { steer: take });
    return ask(`/v1/runs/${id}/steer`, { input: "x" });
  };
  return { id, fake, ask, until, steer, end };
}

Deno.test("B4.6: an agent that does not take the text is 409 steer_not_accepted, one that throws 500 steer_failed", async () => {
  const { steer, until, end } = await running();
  const refused = await steer(() => false);
  assertEquals([refused.status, refused.body.error.code], [409, "steer_not_accepted"]);
  const failed = await steer(() => {
    throw new Error("no room for sk-secret-0123456789");
  });
  assertEquals([failed.status, failed.retry, failed.body.error], [500, "false", {
    message: "The text could not be handed to the run: no room for ***",
    type: "server_error",
    param: null,
    code: "steer_failed",
  }]);
  assertEquals((await steer(() => true)).status, 200);
  end();
  await until("completed");
});

Deno.test("E2: when only the status of a run is left, its events are 404 run_events_expired", async () => {
  const { id, fake, ask, until, end } = await running();
  end();
  await until("completed");
  const { runs } = fake.hermes.store();
  await eventually(() => runs.get(id)?.terminal === true || undefined);
  await runs.prune(Date.now() / 1000 + 1, 0);
  assertEquals((await ask(`/v1/runs/${id}`)).body.status, "completed");
  const { status, body } = await ask(`/v1/runs/${id}/events`);
  assertEquals([status, body.error.code], [404, "run_events_expired"]);
});
