/** The personality of a session (core A.4, H.2; tui-gateway B.14) against the real program: its words stand once. */
import { assertEquals } from "../../support/assert.ts";
import type { GatewayHost } from "../../support/gateway_driver.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import type { ModelServer } from "../../support/model_server.ts";
import { runProgram } from "../../support/program.ts";
import { withGateway } from "./scene.ts";

const personalities = {
  p: "Words of p.",
  q: { prompt: "Words of q.", tone: "dry", style: "short" },
  described: { description: "Words of a description." },
};
const config = { personalities, display: { personality: "p" } };

/** How often each of these stands in the system message of the latest request. */
function counted(model: ModelServer, ...words: string[]): number[] {
  const system = model.calls().at(-1)!.body.messages[0].content as string;
  return words.map((text) => system.split(text).length - 1);
}

const P = "Words of p.";
const Q = "Words of q.\nTone: dry\nStyle: short";

async function choose(host: GatewayHost, sid: string, name: string): Promise<string> {
  return (await host.request("slash.exec", { session_id: sid, command: `/personality ${name}` })).output;
}

Deno.test("core A.4: p of the config stands once, /personality none takes it away, q takes its place", async () => {
  await withGateway({ config, model: { respond: () => "ok" } }, async ({ host, model }) => {
    const { sid } = await host.session();
    const say = async () => {
      await host.turn(sid, "hi");
      return counted(model, P, Q);
    };
    assertEquals(await say(), [1, 0]);
    assertEquals([await choose(host, sid, "none"), await say()], ["Personality: none", [0, 0]]);
    assertEquals([await choose(host, sid, "q"), await say()], ["Personality: q", [0, 1]]);
    assertEquals([await choose(host, sid, "Default"), await say()], ["Personality: none", [0, 0]]);
    assertEquals([await choose(host, sid, "p"), await say()], ["Personality: p", [1, 0]]);
    assertEquals(await choose(host, sid, "described"), "Personality: described");
    await host.turn(sid, "hi");
    assertEquals(counted(model, P, Q, "Words of a description."), [0, 0, 1]);
  });
});

Deno.test("core A.4: the words stand in the context layer, after /prompt and before the facts of the day", async () => {
  await withGateway({ config, model: { respond: () => "ok" } }, async ({ host, model }) => {
    const { sid } = await host.session();
    await host.request("config.set", { key: "prompt", value: "Words of the host." });
    await host.turn(sid, "hi");
    const system = model.calls().at(-1)!.body.messages[0].content as string;
    const places = ["Words of the host.", P, "Conversation started:"].map((text) => system.indexOf(text));
    assertEquals(places.includes(-1), false);
    assertEquals(places, places.toSorted((a, b) => a - b));
  });
});

Deno.test("/personality knows the built-in ones in any case, and names them where it knows none", async () => {
  await withGateway(
    { config: { personalities }, model: { respond: () => "ok" } },
    async ({ host, model }) => {
      const { sid } = await host.session();
      assertEquals(await choose(host, sid, "Teacher"), "Personality: teacher");
      await host.turn(sid, "hi");
      assertEquals(counted(model, "Explain as a patient teacher"), [1]);
      const refused = await host.refused("slash.exec", { session_id: sid, command: "/personality nobody" });
      assertEquals(
        [refused.code, refused.message],
        [
          5001,
          'unknown personality "nobody"; known: none, concise, technical, teacher, creative, friendly, p, q, described',
        ],
      );
      assertEquals(
        (await host.request("config.get", { key: "personality", session_id: sid })).value,
        "teacher",
      );
      await host.request("config.set", { key: "personality", value: "CONCISE" });
      assertEquals((await host.request("config.get", { key: "personality" })).value, "concise");
      const other = await host.session();
      await host.turn(other.sid, "hi");
      assertEquals(counted(model, "Answer in as few words", "patient teacher"), [1, 0]);
    },
  );
});

Deno.test("a conversation that goes on after a restart has the words once, too", async () => {
  await withGateway({ config, model: { respond: () => "ok" } }, async ({ host, rig, model }) => {
    const { sid, stored } = await host.session();
    await choose(host, sid, "q");
    await host.turn(sid, "hi");
    assertEquals(counted(model, P, Q), [0, 1]);
    await host.end();
    await using other = await startGateway({ rig });
    const { session_id, info } = await other.request("session.resume", { session_id: stored });
    assertEquals(info.personality, "p");
    await other.turn(session_id, "again");
    assertEquals(counted(model, P, Q), [1, 0]);
  });
});

Deno.test("core H.2: a door without /personality has the configured words once, also in a conversation of the gateway's", async () => {
  await withGateway({ config, model: { respond: () => "ok" } }, async ({ host, rig, model }) => {
    assertEquals((await runProgram(["run", "hi"], { rig })).code, 0);
    assertEquals(counted(model, P, Q), [1, 0]);
    const { sid, stored } = await host.session();
    await choose(host, sid, "q");
    await host.turn(sid, "hi");
    await host.end();
    assertEquals((await runProgram(["run", "--session", stored, "on"], { rig })).code, 0);
    assertEquals(counted(model, P, Q), [1, 0]);
  });
});

Deno.test("B.12: a background prompt has the personality of its session, not that of the config", async () => {
  await withGateway({ config, model: { respond: () => "ok" } }, async ({ host, model }) => {
    const { sid } = await host.session();
    let done = 0;
    const aside = async () => {
      await host.request("prompt.background", { session_id: sid, text: "aside" });
      await host.event("background.complete", sid, done++);
      return counted(model, P, Q);
    };
    assertEquals(await aside(), [1, 0]);
    await choose(host, sid, "q");
    assertEquals(await aside(), [0, 1]);
    await choose(host, sid, "none");
    assertEquals(await aside(), [0, 0]);
  });
});
