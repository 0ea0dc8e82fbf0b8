import { assertEquals } from "../../support/assert.ts";
import type { Clock } from "../../../src/platform/mod.ts";
import { Audience, Dialects } from "../../../src/protocols/gateway/audience.ts";
import { eventHead } from "../../../src/protocols/gateway/frame.ts";
import type { Client } from "../../../src/protocols/gateway/peer.ts";
import type { Socket } from "../../../src/protocols/gateway/ws_client.ts";
import { SocketClient } from "../../../src/protocols/gateway/ws_client.ts";
import { eventually } from "../../support/program.ts";

class FakeSocket implements Socket {
  readyState: number = WebSocket.OPEN;
  bufferedAmount = 0;
  readonly sent: string[] = [];
  closed: number | null = null;

  send(text: string): void {
    const frame = JSON.parse(text);
    this.sent.push(frame.params?.payload?.text ?? frame.params?.type ?? frame.id);
  }
  close(code: number): void {
    this.closed = code;
    this.readyState = WebSocket.CLOSING;
  }
}

/** Goes on by itself only in `delay`. */
class FakeClock implements Clock {
  at = 0;
  now = () => this.at;
  monotonic = () => this.at;
  delay(ms: number): Promise<void> {
    this.at += ms;
    return Promise.resolve();
  }
}

function make(): { socket: FakeSocket; clock: FakeClock; client: SocketClient; dropped: () => number } {
  const [socket, clock] = [new FakeSocket(), new FakeClock()];
  let dropped = 0;
  const client = new SocketClient(socket, { clock, onDropped: () => dropped++ });
  return { socket, clock, client, dropped: () => dropped };
}

function delta(text: string, type = "message.delta"): string {
  return `${eventHead(type, "5f2c9a10")},"payload":{"text":${JSON.stringify(text)}},"seq":1}}\n`;
}

Deno.test("deltas: the first goes out at once, those close behind it together, each as a message of its own", async () => {
  const { socket, clock, client } = make();
  client.send(delta("a"));
  assertEquals(socket.sent, ["a"]);
  clock.at = 5;
  client.send(delta("b"));
  client.send(delta("c", "reasoning.delta"));
  assertEquals(socket.sent, ["a"]);
  await eventually(() => socket.sent.length === 3 || undefined, 5_000, "the held ones");
  assertEquals(socket.sent, ["a", "b", "c"]);
  clock.at += 33;
  client.send(delta("d"));
  assertEquals(socket.sent.at(-1), "d");
});

Deno.test("deltas: any other frame takes the held ones along, so the order never changes", () => {
  const { socket, client } = make();
  for (const text of ["a", "b", "c"]) client.send(delta(text));
  client.send('{"jsonrpc":"2.0","id":7,"result":{}}\n');
  client.send(delta("d"));
  client.send(`${eventHead("message.complete", "5f2c9a10")},"seq":9}}\n`);
  assertEquals(socket.sent, ["a", "b", "c", 7, "d", "message.complete"]);
  client.send(delta("e"));
  client.close();
  assertEquals(socket.sent.length, 6);
});

Deno.test("room(): waits while too much lies unread, and goes on when it was read", async () => {
  const { socket, client, dropped } = make();
  assertEquals(client.room(), null);
  socket.bufferedAmount = 9 << 20;
  const wait = client.room();
  assertEquals(client.room(), wait);
  socket.bufferedAmount = 1 << 20;
  await wait;
  assertEquals([client.room(), dropped(), socket.closed], [null, 0, null]);
});

Deno.test("room(): who takes nothing for too long is given up, once, and holds up nothing any more", async () => {
  const { socket, client, clock, dropped } = make();
  socket.bufferedAmount = 9 << 20;
  await client.room();
  assertEquals([dropped(), socket.closed, client.gone, client.room()], [1, 1013, true, null]);
  assertEquals(clock.at > 10_000 && clock.at < 11_000, true);
  socket.readyState = WebSocket.OPEN;
  client.send(delta("late"));
  assertEquals([socket.sent, dropped()], [[], 1]);
});

Deno.test("send(): far too much unread is given up at once", () => {
  const { socket, client, dropped } = make();
  socket.bufferedAmount = 65 << 20;
  client.send(delta("a"));
  assertEquals([dropped(), socket.closed, client.gone], [1, 1013, true]);
});

Deno.test("Audience.room(): one slow listener of several holds up nobody", () => {
  const dialects = new Dialects();
  const audience = new Audience(dialects);
  const listener = (wait: Promise<void> | null): Client => ({ send: () => {}, room: () => wait });
  const [slow, fast] = [listener(new Promise(() => {})), listener(null)];
  for (const client of [slow, fast]) dialects.set(client, "requests");
  assertEquals(audience.room(), null);
  audience.add(slow);
  assertEquals(audience.room() instanceof Promise, true);
  audience.add(fast);
  assertEquals(audience.room(), null);
});
