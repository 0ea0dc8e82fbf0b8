/** A WebSocket host that stops reading (tui-gateway.md A.2): it is given up, its turn ends, and nobody else waits. */
import { assertEquals } from "../../support/assert.ts";
import { TOKEN, withWsGateway } from "./ws_scene.ts";

const PIECE = "x".repeat(100_000);
const PIECES = 300;

/** A text frame as a client sends it, with a mask of zeros. */
function textFrame(text: string): Uint8Array {
  const body = new TextEncoder().encode(text);
  const head = body.length < 126
    ? [0x81, 0x80 | body.length, 0, 0, 0, 0]
    : [0x81, 0x80 | 126, body.length >> 8, body.length & 0xff, 0, 0, 0, 0];
  return new Uint8Array([...head, ...body]);
}

/** Connects and reads until `until` has come; afterwards nothing is read any more. */
async function connectByHand(
  port: number,
): Promise<{ conn: Deno.Conn; read(until: RegExp): Promise<RegExpExecArray> }> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  const lines = [
    `GET /api/ws?token=${TOKEN} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ];
  await conn.write(new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n`));
  let text = "";
  const buffer = new Uint8Array(4096);
  const read = async (until: RegExp) => {
    for (;;) {
      const found = until.exec(text);
      if (found) return found;
      const n = await conn.read(buffer);
      if (n === null) throw new Error(`the connection ended before ${until}`);
      text += new TextDecoder().decode(buffer.subarray(0, n));
    }
  };
  return { conn, read };
}

Deno.test("FC-20: who stops reading is given up within seconds; its turn is stored whole, others do not notice", async () => {
  const long = { steps: Array.from({ length: PIECES }, () => ({ text: PIECE })) };
  const respond = ({ body }: { body: { messages: { content: string }[] } }) =>
    body.messages.at(-1)!.content === "long" ? long : "short answer";
  await withWsGateway({ model: { respond } }, async ({ port, connect }) => {
    const slow = await connectByHand(port);
    await slow.read(/gateway\.ready/);
    await slow.conn.write(textFrame(JSON.stringify({ id: 1, method: "session.create", params: {} })));
    const [, sid, stored] = await slow.read(/"session_id":"([0-9a-f]{8})","stored_session_id":"([^"]+)"/);
    const prompt = { id: 2, method: "prompt.submit", params: { session_id: sid, text: "long" } };
    await slow.conn.write(textFrame(JSON.stringify(prompt)));

    const host = await connect();
    const own = (await host.request("session.create")).session_id;
    await host.request("prompt.submit", { session_id: own, text: "hi" });
    assertEquals((await host.event("message.complete", own)).text, "short answer");

    const done = await host.until(
      async () => {
        const { sessions } = await host.request("session.active_list");
        return sessions.find((row: { id: string; status: string }) => row.id === sid)?.status === "idle" ||
          undefined;
      },
      "the end of the turn whose host does not read",
      30_000,
    );
    assertEquals(done, true);
    const { messages } = await host.request("session.resume", { session_id: stored });
    assertEquals(messages.at(-1).text.length, PIECES * PIECE.length);
    slow.conn.close();
  });
});
