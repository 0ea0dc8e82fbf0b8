/** Tools that a door brings for one turn: offered, run in the loop like any other, and gone with the turn. */
import { NOBODY_TO_ASK, type Tool } from "@/core/mod.ts";
import { assertEquals } from "../support/assert.ts";
import { callTool, makeScriptedCore, openSession, say } from "../support/scripted_core.ts";

function brought(name: string, ran: string[]): Tool {
  return {
    name,
    toolset: "browser",
    description: "brought by the door",
    parameters: { type: "object", properties: {} },
    parallel: "never",
    describe: () => ({ title: name, label: "", kind: "read", locations: [], startText: "" }),
    execute: () => {
      ran.push(name);
      return Promise.resolve({ content: "from the door", isError: false });
    },
  };
}

Deno.test("doorTools: run in the loop for their turn alone, and win a name over the session's own", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  const own = core.services.toolSpecs("tui")[0]!.name;
  const ran: string[] = [];
  core.push(callTool("borrowed", {}), callTool(own, {}), say("done"), callTool("borrowed", {}), say("sorry"));
  const result = await session.submit({ content: "go" }, {
    asks: NOBODY_TO_ASK,
    doorTools: [brought("borrowed", ran), brought(own, ran)],
  }).done;
  assertEquals([result.outcome, result.text, ran], ["completed", "done", ["borrowed", own]]);
  assertEquals(core.ran, []);
  const offered = core.requests[0]!.tools.map((tool) => [tool.name, tool.description]);
  assertEquals(offered.filter(([name]) => name === own || name === "borrowed"), [
    ["borrowed", "brought by the door"],
    [own, "brought by the door"],
  ]);
  const results = core.requests[2]!.messages.filter((message) => message.role === "tool");
  assertEquals(results.map((message) => message.content), ["from the door", "from the door"]);
  await session.submit({ content: "again" }, { asks: NOBODY_TO_ASK }).done;
  assertEquals(core.requests[3]!.tools.some((tool) => tool.name === "borrowed"), false);
  assertEquals(ran.length, 2);
});

Deno.test("doorTools: what is not available in the turn is not offered", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(say("done"));
  await session.submit({ content: "go" }, {
    asks: NOBODY_TO_ASK,
    doorTools: [{ ...brought("borrowed", []), available: () => false }, brought("kept", [])],
  }).done;
  const names = core.requests[0]!.tools.map((tool) => tool.name);
  assertEquals([names.includes("borrowed"), names.at(-1)], [false, "kept"]);
});
