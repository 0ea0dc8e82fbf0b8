/** What a server behind a URL may send of one message. */
import { trackedFetch } from "../../src/mcp/http_fetch.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";

interface Asked {
  readonly response: Response;
  /** Pieces that were taken of the server. */
  readonly taken: () => number;
  readonly left: () => boolean;
}

async function ask(type: string, pieces: Iterable<string>): Promise<Asked> {
  const source = pieces[Symbol.iterator]();
  let taken = 0;
  let left = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = source.next();
      if (done) return controller.close();
      taken++;
      controller.enqueue(new TextEncoder().encode(value));
    },
    cancel: () => void (left = true),
  });
  const answer = new Response(body as BodyInit, { headers: { "content-type": type } });
  const fetch = trackedFetch({ fetch: () => Promise.resolve(answer) }, 1_000);
  return { response: await fetch("http://server.test/"), taken: () => taken, left: () => left };
}

function* endless(...pieces: string[]): Generator<string> {
  for (;;) yield* pieces;
}

Deno.test("core G.3: a message without an end is given up, as an answer and as an event", async () => {
  const cases: [string, Iterable<string>][] = [
    ["application/json", endless("[[[[[[[[[[")],
    ["text/event-stream", endless("data: 0123456789\n")],
    ["text/event-stream", endless("data: 0123456789\r", "\n")],
    ["text/event-stream", endless("data: 0123456789\n", "x\n")],
    ["text/event-stream; charset=utf-8", endless("0123456789")],
  ];
  for (const [type, pieces] of cases) {
    const { response, taken, left } = await ask(type, pieces);
    await assertRejects(() => response.text(), /a message of the server has more than 1000 bytes/);
    assert(taken() < 300 && left(), type);
  }
});

Deno.test("core G.3: a stream of many events goes on, however they are cut", async () => {
  const event = "data: 0123456789\n\n";
  for (const end of ["\n", "\r\n"]) {
    const text = event.replaceAll("\n", end).repeat(200);
    for (const size of [1, 3, 700]) {
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g"))!;
      const { response } = await ask("text/event-stream", pieces);
      assertEquals(await response.text(), text);
    }
  }
});
