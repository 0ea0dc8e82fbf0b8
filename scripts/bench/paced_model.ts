/**
 * The model of the stream benchmark, in a process of its own: as little work per token as can be, on an absolute
 * schedule, so that a late timer does not make the rest late. The last user message says what to answer:
 * `paced N M` = N tokens, token i due at i × M ms; anything else = the one word "ok" at once, streamed or whole.
 */
import { createServer, type Socket } from "node:net";

const HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** The text of token `i`; the client of the benchmark expects exactly these. */
export function tokenAt(i: number): string {
  return `t${i} `;
}

function chunked(data: string): string {
  return `${data.length.toString(16)}\r\n${data}\r\n`;
}

function delta(choice: Record<string, unknown>, more: Record<string, unknown> = {}): string {
  const body = {
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [choice],
    ...more,
  };
  return `data: ${JSON.stringify(body)}\n\n`;
}

function textDelta(content: string): string {
  return delta({ index: 0, delta: { content }, finish_reason: null });
}

const END =
  chunked(delta({ index: 0, delta: {}, finish_reason: "stop" }, { usage: USAGE }) + "data: [DONE]\n\n") +
  "0\r\n\r\n";

function pace(socket: Socket, count: number, everyMs: number): void {
  const start = performance.now();
  let sent = 0;
  const tick = () => {
    const due = Math.min(count, Math.floor((performance.now() - start) / everyMs));
    // One write per token, also when several are due: that is how a provider sends them.
    while (sent < due) socket.write(chunked(textDelta(tokenAt(sent++))));
    if (sent === count) socket.write(END);
    else if (!socket.destroyed) setTimeout(tick, start + (sent + 1) * everyMs - performance.now());
  };
  socket.write(HEAD);
  tick();
}

function whole(): string {
  const message = { role: "assistant", content: "ok" };
  const body = JSON.stringify({
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: USAGE,
  });
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

interface Ask {
  readonly stream?: boolean;
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
}

function answer(socket: Socket, ask: Ask): void {
  const last = ask.messages?.findLast((message) => message.role === "user")?.content;
  const [, count, every] = /paced (\d+) (\d+)$/.exec(typeof last === "string" ? last : "") ?? [];
  if (count !== undefined) return pace(socket, Number(count), Number(every));
  if (ask.stream) socket.write(HEAD + chunked(textDelta("ok")) + END);
  else socket.write(whole());
}

/** Requests of one connection, one after the other, as clients of HTTP/1.1 send them. */
function serve(socket: Socket): void {
  socket.setNoDelay(true);
  let text = "";
  socket.setEncoding("latin1");
  socket.on("error", () => socket.destroy());
  socket.on("data", (piece) => {
    text += piece;
    const end = text.indexOf("\r\n\r\n");
    if (end === -1) return;
    const length = Number(/^content-length: (\d+)/im.exec(text.slice(0, end))?.[1] ?? 0);
    if (text.length < end + 4 + length) return;
    const body = text.slice(end + 4, end + 4 + length);
    text = text.slice(end + 4 + length);
    answer(socket, body === "" ? {} : JSON.parse(body) as Ask);
  });
}

if (import.meta.main) {
  const server = createServer(serve);
  server.listen(0, "127.0.0.1", 1024, () => {
    const { port } = server.address() as { port: number };
    Deno.stdout.writeSync(new TextEncoder().encode(`${port}\n`));
  });
  // Ends with its parent: stdin closes.
  for await (const _ of Deno.stdin.readable);
  Deno.exit(0);
}
