/** What a conversation of a scoped key may learn of others through the agent's own tools. */
import { createTools } from "@/tools/mod.ts";
import { agent, makeStore, sessionRow, user } from "../store/rig.ts";
import { assertEquals } from "../support/assert.ts";
import { type Json, makeBench } from "../tools/context.ts";

Deno.test("api B8: session_search of a scoped key finds the conversations of this key alone", async () => {
  await using rig = await makeStore();
  await using bench = await makeBench();
  const owners = { mine1: "k1", mine2: "k1", theirs: "k2", free: null };
  for (const [id, key] of Object.entries(owners)) {
    if (key !== null) await rig.store.owners.claimSession(id, key);
    await rig.store.createSession(sessionRow(id, { title: `Title of ${id}` }));
    await rig.store.appendMessages(id, [user(`the zebra of ${id}`), agent("yes")]);
  }
  await rig.store.createSession(sessionRow("theirs-child", { parentId: "theirs", title: "Child" }));
  await rig.store.appendMessages("theirs-child", [user("the zebra of a child"), agent("yes")]);
  const tool = createTools({ sessions: () => rig.store }).find(({ name }) => name === "session_search")!;
  const ask = async (session: string, args: Json): Promise<Json> =>
    JSON.parse((await tool.execute(args, bench.context({ session }))).content as string);
  const idsOf = (answer: Json) => answer.results.map((one: Json) => one.session_id).sort();

  for (const args of [{}, { query: "zebra", limit: 10 }, { query: "Title of", limit: 10 }]) {
    assertEquals(idsOf(await ask("mine1", args)), ["mine2"], JSON.stringify(args));
  }
  for (const id of ["theirs", "free", "theirs-child", "Title of theirs", "theirs-ch"]) {
    const answer = await ask("mine1", { session_id: id });
    assertEquals(answer.error, `Session '${id}' not found. Without arguments this tool lists the newest`);
  }
  assertEquals((await ask("mine1", { session_id: "mine2" })).session_id, "mine2");
  // The person at the machine and the full key see everything.
  assertEquals(idsOf(await ask("free", { query: "zebra", limit: 10 })), ["mine1", "mine2", "theirs"]);
});
