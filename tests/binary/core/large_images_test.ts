/**
 * Images that are larger than models take (core.md B.10, A.11), through the doors of the real program: what the model's
 * server gets is looked at by its bytes.
 */
import { withAcp } from "../../support/acp_driver.ts";
import { startApi } from "../../support/api_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { call, calling, failing, type Json, sent, withCore } from "../../support/core_driver.ts";
import { base64, bmp, factsOf, gif, jpeg, noise, type Paint, png, webp } from "../../support/images.ts";
import { startModelServer } from "../../support/model_server.ts";
import { processesOfHome, processesWith } from "../../support/processes.ts";
import { eventually, makeRig, startProgram } from "../../support/program.ts";

const stripes: Paint = (x) => [x & 255, 50, 200, x % 2 ? 255 : 128];
const wide = png(8_000, 40, stripes);

/** Images of the newest message of the user: type, pixels, bytes. */
function images(request: { body: Json } | undefined) {
  const content = sent(request).findLast((message) => message.role === "user")!.content;
  return imagesIn(content);
}

function imagesIn(content: Json) {
  return (content as Json[]).filter((part) => part.type === "image_url").map(({ image_url: { url } }) => {
    const bytes = Uint8Array.from(
      atob(url.slice(url.indexOf(",") + 1)),
      (char: string) => char.charCodeAt(0),
    );
    const { type, size } = factsOf(bytes);
    assertEquals(url.slice(0, url.indexOf(",")), `data:${type};base64`);
    return { type, size, bytes };
  });
}

Deno.test("B.10: gateway: an attached image of 8,000 pixels arrives with 7,900 and its opacity, others byte for byte", async () => {
  await withCore({ model: { turns: ["a", "b"] } }, async ({ host, model, rig, open }) => {
    const { sid } = await open();
    const small = png(7_900, 2, stripes);
    await Deno.writeFile(`${rig.workspace}/wide.png`, wide);
    const attached = await host.request("image.attach", { session_id: sid, path: "wide.png" });
    assertEquals([attached.width, attached.height], [8_000, 40]);
    await host.request("image.attach_bytes", { session_id: sid, content_base64: base64(small) });
    assertEquals((await host.turn(sid, "look")).text, "a");
    const [first, second] = images(model.calls()[0]);
    assertEquals([first!.type, first!.size, first!.bytes[25]], ["image/png", [7_900, 39], 6]);
    assertEquals(second!.bytes, small);
    // The conversation keeps the one that was sent.
    await host.turn(sid, "again");
    const kept = imagesIn(sent(model.calls()[1]).find((message) => message.role === "user")!.content);
    assertEquals(kept.map(({ bytes }) => bytes), [first!.bytes, second!.bytes]);
  });
});

Deno.test("B.10: API: an image part is made smaller, and so is the same one in a history that comes again", async () => {
  await using model = await startModelServer({ turns: ["a", "b"] });
  await using api = await startApi({ model });
  const photo = jpeg(8_100, 60, stripes, { orientation: 6 });
  const url = `data:image/jpeg;base64,${base64(photo)}`;
  const opening = {
    role: "user",
    content: [{ type: "text", text: "look" }, { type: "image_url", image_url: { url, detail: "high" } }],
  };
  const ask = async (messages: Json[]) => {
    const response = await api.chat({ model: "hermes-agent", messages });
    return (await response.json()).choices[0].message.content;
  };
  assertEquals(await ask([opening]), "a");
  const [first] = images(model.calls()[0]);
  // Turned upright, as the camera was held.
  assertEquals([first!.type, first!.size], ["image/jpeg", [58, 7_900]]);
  const part = sent(model.calls()[0]).at(-1)!.content.find((one: Json) => one.type === "image_url");
  assertEquals(part.image_url.detail, "high");
  assertEquals(
    await ask([opening, { role: "assistant", content: "a" }, { role: "user", content: "sure?" }]),
    "b",
  );
  const again = sent(model.calls()[1]).find((message) => message.role === "user")!.content;
  assertEquals(imagesIn(again)[0]!.bytes, first!.bytes);
});

Deno.test("B.10: ACP: an image block is made smaller, and shown so when the session is loaded", async () => {
  await withAcp({ turns: ["a"] }, async ({ acp, model, rig, sessionId, again }) => {
    await acp.prompt(sessionId, [{ type: "image", data: base64(wide), mimeType: "image/png" }]);
    const [seen] = images(model.calls()[0]);
    assertEquals(seen!.size, [7_900, 39]);
    await using next = await again();
    await next.request("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
    const shown = next.updates(sessionId).filter((update) => update.content?.type === "image");
    assertEquals(shown.map((update) => update.content.data), [base64(seen!.bytes)]);
  });
});

Deno.test("B.10: vision_analyze: the describing model gets a smaller image", async () => {
  const turns = [
    calling(call("vision_analyze", { image_url: "wide.png", question: "What?" })),
    "stripes",
    "ok",
  ];
  await withCore({ model: { turns } }, async ({ host, model, rig, open }) => {
    const { sid } = await open();
    await Deno.writeFile(`${rig.workspace}/wide.png`, wide);
    assertEquals((await host.turn(sid, "look")).text, "ok");
    assertEquals(images(model.calls()[1]).map(({ size }) => size), [[7_900, 39]]);
    assertEquals(JSON.parse(sent(model.calls()[2]).at(-1)!.content), { success: true, analysis: "stripes" });
  });
});

Deno.test("B.10: a bomb and a damaged image are left out in words that say what to do; the turn goes on", async () => {
  await withCore({ model: { turns: ["a"] } }, async ({ host, model, open }) => {
    const { sid } = await open();
    const bomb = png(10, 10);
    new DataView(bomb.buffer).setUint32(16, 2_000_000_000);
    const attach = (bytes: Uint8Array) =>
      host.request("image.attach_bytes", { session_id: sid, content_base64: base64(bytes) });
    await attach(bomb);
    await attach(wide.subarray(0, wide.length - 60));
    assertEquals((await host.turn(sid, "look")).text, "a");
    const texts = sent(model.calls()[0]).at(-1)!.content.map((part: Json) => part.text ?? part.type);
    assertEquals(texts.length, 3);
    const told = host.eventsOf("status.update", sid).map(({ payload }: Json) => payload);
    const warned = told.filter(({ kind }: Json) => kind === "warn").map(({ text }: Json) => `[${text}]`);
    assertEquals(warned, texts.slice(1));
    assert(told.some(({ text }: Json) => text === "Making a large image smaller"));
    assertMatch(
      texts[1],
      /^\[An image was left out: it has 2000000000×10 pixels, more than the 100 million .* at most 7900 pixels a side\]$/,
    );
    assertMatch(
      texts[2],
      /^\[An image was left out: it is damaged .*: save it again as PNG or JPEG, at most 7,900 pixels a side\]$/,
    );
  });
});

Deno.test("B.10: an interrupt while an image is made smaller ends the process and sends nothing", async () => {
  await withCore({ model: { turns: ["after"] } }, async ({ host, model, rig, open }) => {
    const { sid } = await open();
    const working = async () => {
      const here = await processesOfHome(rig.home);
      return (await processesWith("image-fit")).filter((pid) => here.includes(pid));
    };
    // Much to do, quickly made: one bit a pixel.
    await Deno.writeFile(`${rig.workspace}/vast.png`, png(9_990, 9_990, null, { colour: 0, depth: 1 }));
    await host.request("image.attach", { session_id: sid, path: "vast.png" });
    await host.request("prompt.submit", { session_id: sid, text: "look" });
    await eventually(
      async () => (await working()).length > 0,
      5_000,
      "the process that makes images smaller",
    );
    await host.request("session.interrupt", { session_id: sid });
    assertEquals((await host.event("message.complete", sid, 0)).status, "interrupted");
    await eventually(async () => (await working()).length === 0, 3_000, "its end");
    assertEquals(model.calls().length, 0);
  });
});

Deno.test("B.10: the process opens every format that models take, and says of all else that it is unreadable", async () => {
  await using rig = await makeRig();
  const fit = async (input: Uint8Array, ...args: string[]) => {
    const child = startProgram(["image-fit", ...args], { rig });
    const writer = child.stdin.getWriter();
    await writer.write(input).then(() => writer.close()).catch(() => {/* it has ended */});
    const { code, stdout, stderr } = await child.output();
    return { code, stdout, said: new TextDecoder().decode(stderr).trim().split("\n").at(-1) };
  };
  const facts = async (input: Uint8Array) => {
    const { code, stdout } = await fit(input, "100", "100000");
    return [code, ...Object.values(factsOf(stdout))];
  };
  assertEquals(await facts(png(200, 50, stripes)), [0, "image/png", [100, 25]]);
  assertEquals(await facts(jpeg(200, 50, stripes, { orientation: 8 })), [0, "image/jpeg", [25, 100]]);
  assertEquals(await facts(gif(200, 50, [[1, 2, 3], [4, 5, 6]], 1)), [0, "image/png", [100, 25]]);
  assertEquals(await facts(webp(200, 50, [1, 2, 3, 4])), [0, "image/png", [100, 25]]);
  assertEquals(await facts(bmp(200, 50, stripes)), [0, "image/png", [100, 25]]);
  for (
    const damaged of [new Uint8Array(0), jpeg(20, 20, stripes).subarray(0, 200), png(9, 9).subarray(0, 50)]
  ) {
    const { code, stdout, said } = await fit(damaged, "100", "100000");
    assertEquals([code, stdout.length, said], [1, 0, "unreadable"]);
  }
  assertEquals((await fit(new Uint8Array(0))).code, 2);
});

Deno.test("A.11 image_too_large: a provider that takes 5 MB gets the image once more, smaller, and keeps seeing it", async () => {
  const refusal = failing(
    400,
    "messages.0.content.1: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
  );
  const paint: Paint = (x, y) => [noise(x, y), noise(x + 5, y), noise(x, y + 5), 255];
  const heavy = png(1_400, 1_400, paint, { colour: 2, level: 1 });
  assert(heavy.length > 5 << 20);
  await withCore({ model: { turns: [refusal, "seen", "still"] } }, async ({ host, model, rig, open }) => {
    const { sid } = await open();
    await Deno.writeFile(`${rig.workspace}/heavy.png`, heavy);
    await host.request("image.attach", { session_id: sid, path: "heavy.png" });
    assertEquals((await host.turn(sid, "look")).text, "seen");
    assertEquals(images(model.calls()[0])[0]!.bytes.length, heavy.length);
    const [smaller] = images(model.calls()[1]);
    assert(base64(smaller!.bytes).length <= 5 << 20, `${smaller!.bytes.length} bytes`);
    assertEquals([smaller!.type, smaller!.size], ["image/jpeg", [1_400, 1_400]]);
    assertEquals((await host.turn(sid, "and now?")).text, "still");
    const kept = imagesIn(sent(model.calls()[2]).find((message) => message.role === "user")!.content);
    assertEquals(kept[0]!.bytes, smaller!.bytes);
  });
});
