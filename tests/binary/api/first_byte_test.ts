/** Nothing holds a small write back: the runtime's 40 ms on kept connections are gone (spec/README.md §5). */
import { assert, assertEquals } from "../../support/assert.ts";
import { API_KEY, startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";

const BODY = JSON.stringify({ messages: [{ role: "user", content: "hi" }], stream: true });
const REQUEST =
  `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${API_KEY}\r\n` +
  `Content-Length: ${BODY.length}\r\n\r\n${BODY}`;

const ROUNDS = 100;

/** Milliseconds to the first delta of one streamed answer; the connection is kept. */
async function timeToFirstDelta(connection: Deno.Conn): Promise<number> {
  const buffer = new Uint8Array(65536);
  const decoder = new TextDecoder();
  const before = performance.now();
  await connection.write(new TextEncoder().encode(REQUEST));
  let text = "";
  let first = 0;
  while (!text.endsWith("0\r\n\r\n")) {
    const n = await connection.read(buffer);
    if (n === null) throw new Error(`the server closed the connection after: ${text}`);
    text += decoder.decode(buffer.subarray(0, n));
    if (first === 0 && text.includes(`"content":"hello"`)) first = performance.now() - before;
  }
  assertEquals(/^HTTP\/1\.1 200/.test(text), true);
  return first;
}

Deno.test("the first delta on a kept connection does not wait for an acknowledgement", async () => {
  await using model = await startModelServer({ turns: ["hello"], loop: true });
  await using api = await startApi({ model });
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: api.port });
  await timeToFirstDelta(connection);
  // With Nagle's algorithm each round but the first waits for 40 ms; on a busy machine the best of many shows it.
  const times: number[] = [];
  while (times.length < ROUNDS && !(times.at(-1)! < 30)) times.push(await timeToFirstDelta(connection));
  assert(times.at(-1)! < 30, `first deltas after ${times.map((time) => time.toFixed(1)).join(", ")} ms`);
});
