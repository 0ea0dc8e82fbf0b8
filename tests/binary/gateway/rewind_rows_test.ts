/** Rewinding where rows are not plain turns (tui-gateway.md B.11): branches, images, markers, compressed ancestors. */
import { assert, assertEquals } from "../../support/assert.ts";
import type { GatewayHost, Json } from "../../support/gateway_driver.ts";
import { sentTexts, withGateway } from "./scene.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function rows(host: GatewayHost, sid: string): Promise<Json[]> {
  return (await host.request("session.history", { session_id: sid })).messages;
}

async function texts(host: GatewayHost, sid: string): Promise<string[]> {
  return (await rows(host, sid)).map((row) => row.text);
}

function cut(sid: string, rowId: number, text = "instead"): Json {
  return { session_id: sid, text, truncate_before_row_id: rowId, confirm_truncate: true };
}

async function rewound(host: GatewayHost, params: Json): Promise<Json> {
  const before = host.eventsOf("message.complete", params.session_id).length;
  const result = await host.request("prompt.submit", params);
  await host.event("message.complete", params.session_id, before);
  await host.idle(params.session_id);
  return result;
}

Deno.test("B.11 in a branch: its own rows only, and the parent stays as it is", async () => {
  await withGateway({ model: { respond: () => "ok" } }, async ({ host }) => {
    const { sid } = await host.session();
    for (const text of ["a", "b", "c"]) await host.turn(sid, text);
    const parent = await rows(host, sid);
    const { session_id: branch } = await host.request("session.branch", { session_id: sid });
    await host.turn(branch, "d");
    assertEquals((await host.refused("prompt.submit", cut(branch, parent[2].row_id))).code, 4018);
    const own = (await rows(host, branch)).filter((row) => row.role === "user");
    const done = await rewound(host, cut(branch, own[2].row_id));
    assertEquals(done.survivor_user_row_ids.length, 2);
    assertEquals(await texts(host, branch), ["a", "ok", "b", "ok", "instead", "ok"]);
    assertEquals(await rows(host, sid), parent);
  });
});

Deno.test("B.11 with images: those that stay are sent again, those behind the cut are gone", async () => {
  await withGateway({ model: { respond: () => "ok" } }, async ({ host, model, rig }) => {
    const bytes = Uint8Array.from(atob(PNG), (c) => c.charCodeAt(0));
    for (const name of ["one", "two"]) await Deno.writeFile(`${rig.workspace}/${name}.png`, bytes);
    const { sid } = await host.session({ cwd: rig.workspace });
    for (const name of ["one", "two"]) {
      await host.request("image.attach", { session_id: sid, path: `${name}.png` });
      await host.turn(sid, `look at ${name}`);
    }
    const second = (await rows(host, sid))[2];
    assertEquals(second.text, "look at two\n[image: two.png]");
    // An image that waits goes with the new text; a refused rewind leaves it waiting.
    await host.request("image.attach", { session_id: sid, path: "two.png" });
    assertEquals((await host.refused("prompt.submit", cut(sid, 999))).code, 4018);
    await rewound(host, cut(sid, second.row_id));
    assertEquals(await texts(host, sid), [
      "look at one\n[image: one.png]",
      "ok",
      "instead\n[image: two.png]",
      "ok",
    ]);
    const sent = model.calls().at(-1)!.body.messages.filter((message: Json) => message.role === "user");
    const images = sent.map((message: Json) =>
      message.content.filter((part: Json) => part.type === "image_url").length
    );
    assertEquals(images, [1, 1]);
  });
});

Deno.test("B.11 with markers: they are no target and are not counted; one before the target stays", async () => {
  await withGateway(
    { model: { models: ["scripted", "other"], respond: () => "ok" } },
    async ({ host, model }) => {
      const { sid } = await host.session();
      await host.turn(sid, "a");
      await host.request("command.dispatch", { session_id: sid, command: "/model custom:other" });
      const hidden = { session_id: sid, text: "unseen", display_kind: "hidden" };
      await rewound(host, hidden);
      await host.turn(sid, "b");
      const [a, , , b] = await rows(host, sid);
      assertEquals([a.text, b.text], ["a", "b"]);
      for (let id = a.row_id + 2; id < b.row_id; id++) {
        assertEquals((await host.refused("prompt.submit", cut(sid, id))).code, 4018, String(id));
      }
      const wrong = { ...cut(sid, b.row_id), truncate_before_user_ordinal: 2 };
      assertEquals((await host.refused("prompt.submit", wrong)).code, 4030);
      const done = await rewound(host, { ...cut(sid, b.row_id), truncate_before_user_ordinal: 1 });
      assertEquals(done.survivor_user_row_ids.length, 1);
      const sent = sentTexts(model.calls().at(-1), "user").join("\n");
      assert(sent.includes("unseen") && sent.includes("instead") && !/^b$/m.test(sent), sent);
      assertEquals(model.calls().at(-1)!.body.model, "other");
    },
  );
});

Deno.test("B.11 behind a compression: ordinals of the lineage or of the segment agree; older turns are out of reach", async () => {
  const respond = () => "a short summary of it all";
  await withGateway({ model: { respond } }, async ({ host }) => {
    const { sid } = await host.session();
    for (let n = 0; n < 8; n++) await host.turn(sid, `turn ${n} ${"word ".repeat(200)}`);
    const first = (await rows(host, sid))[0];
    const { session_key: before } = await host.request("session.status", { session_id: sid });
    await host.request("session.compress", { session_id: sid });
    const { session_key: after } = await host.request("session.status", { session_id: sid });
    assert(before !== after);
    await host.turn(sid, "fresh");
    await host.turn(sid, "last");
    const users = (await rows(host, sid)).filter((row) =>
      row.role === "user" && row.display_kind === undefined
    );
    const last = users.at(-1)!;
    assertEquals(last.text, "last");
    const refused = await host.refused("prompt.submit", cut(sid, first.row_id));
    assertEquals(refused.code, 4018);
    const { prefix_user_count: ancestors, user_turn_count: count } = refused.data;
    assertEquals([refused.data.ordinal, refused.data.segment_ordinal], [0, -ancestors]);
    assert(ancestors > 0 && count === users.length, JSON.stringify(refused.data));
    const lineage = { ...cut(sid, last.row_id), truncate_before_user_ordinal: count - 1 };
    assertEquals(
      (await host.refused("prompt.submit", { ...lineage, truncate_before_user_ordinal: count - 2 })).code,
      4030,
    );
    const only = { session_id: sid, text: "x", confirm_truncate: true, truncate_before_user_ordinal: 0 };
    const old = await host.refused("prompt.submit", only);
    assertEquals([old.code, old.data.ordinal, old.data.segment_ordinal < 0], [4018, 0, true]);
    const done = await rewound(host, lineage);
    assertEquals(done.survivor_user_row_ids.length, count - 1);
    const again = (await rows(host, sid)).filter((row) =>
      row.role === "user" && row.display_kind === undefined
    );
    assertEquals(again.at(-1)!.text, "instead");
    assertEquals(done.survivor_user_row_ids, again.slice(0, -1).map((row) => row.row_id));
    const segment = {
      ...cut(sid, again.at(-1)!.row_id),
      truncate_before_user_ordinal: count - 1 - ancestors,
    };
    assertEquals((await rewound(host, segment)).status, "streaming");
  });
});
