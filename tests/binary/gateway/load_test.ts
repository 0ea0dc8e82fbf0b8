/** Many things at once (issue bars of tui-gateway.md A.5): exact texts of 64 streams, and nothing that delays a stop. */
import { assert, assertEquals } from "../../support/assert.ts";
import type { ModelServerOptions } from "../../support/model_server.ts";
import { withGateway } from "./scene.ts";
import { withWsGateway } from "./ws_scene.ts";

const SESSIONS = 64;
const PIECES = 40;

function pieces(name: string): string[] {
  return Array.from({ length: PIECES }, (_, at) => `${name}.${at} `);
}

/** Answers only when all sessions have asked, each with pieces that name it. */
function together(): ModelServerOptions {
  const all = Promise.withResolvers<void>();
  let asked = 0;
  return {
    respond: async ({ body }) => {
      if (++asked === SESSIONS) all.resolve();
      await all.promise;
      const said: string = body.messages.at(-1).content;
      return { steps: pieces(said.split(" ").at(-1)!).map((text) => ({ text, delay_ms: 1 })) };
    },
  };
}

const NAMES = Array.from({ length: SESSIONS }, (_, at) => `s${at}`);

Deno.test("gateway 54: 64 sessions stream at once on stdio, each its own text, in order and complete", async () => {
  await withGateway({ model: together(), config: { max_live_sessions: 100 } }, async ({ host }) => {
    const sids = await Promise.all(NAMES.map(async () => (await host.session()).sid));
    assertEquals(new Set(sids).size, SESSIONS);
    const done = await Promise.all(sids.map((sid, at) => host.turn(sid, `say ${NAMES[at]}`, 60_000)));
    for (const [at, sid] of sids.entries()) {
      const text = pieces(NAMES[at]!).join("");
      assertEquals([done[at].status, done[at].text.trim()], ["complete", text.trim()]);
      assertEquals(host.streamed(sid), text);
      const seqs = host.events.filter((event) => event.session_id === sid).map((event) => event.seq);
      assertEquals(seqs, seqs.map((_, n) => n + 1), "no number of the session is missing or twice");
    }
  });
});

Deno.test("gateway 54: 64 sessions stream at once over four WebSockets, each to its own host", async () => {
  await withWsGateway({ model: together(), config: { max_live_sessions: 100 } }, async ({ connect }) => {
    const hosts = await Promise.all([connect(), connect(), connect(), connect()]);
    const opened = await Promise.all(NAMES.map(async (name, at) => {
      const host = hosts[at % hosts.length]!;
      return { name, host, sid: (await host.request("session.create")).session_id as string };
    }));
    await Promise.all(
      opened.map(({ host, sid, name }) =>
        host.request("prompt.submit", { session_id: sid, text: `say ${name}` })
      ),
    );
    for (const { host, sid, name } of opened) {
      assertEquals((await host.event("message.complete", sid)).status, "complete");
      assertEquals(host.streamed(sid), pieces(name).join(""));
      for (const other of hosts) {
        if (other !== host) assert(!other.events.some((event) => event.session_id === sid), name);
      }
    }
  });
});

Deno.test("A.5: with every worker busy and more waiting, an interrupt is answered and works at once", async () => {
  const turns = [{ steps: [{ text: "begin " }, { text: "never", delay_ms: 60_000 }] }];
  await withGateway({ model: { turns } }, async ({ host, rig }) => {
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await host.event("message.delta", sid);
    const gate = `${rig.workspace}/gate`;
    const slow = `until [ -e ${gate} ]; do sleep 0.05; done`;
    const ids = await Promise.all(
      Array.from({ length: 20 }, () => host.post("shell.exec", { command: slow })),
    );
    const stop = await host.post("session.interrupt", { session_id: sid });
    assertEquals((await host.response(stop)).result, { status: "interrupted" });
    assertEquals((await host.event("message.complete", sid)).status, "interrupted");
    assertEquals(ids.filter((id) => host.indexOfResponse(id) !== -1), []);
    await Deno.writeTextFile(gate, "");
    for (const id of ids) assertEquals((await host.response(id)).result.code, 0);
  });
});
