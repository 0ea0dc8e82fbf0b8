/** Answers as servers send them, byte by byte and all at once, whole and broken. */
import { HttpReader } from "../../src/platform/http_reader.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size: number): Promise<[number, string, string]> {
  const reader = new HttpReader(inPieces(text, size));
  const { status, headers } = await reader.head();
  let body = "";
  for await (const piece of reader.body(headers)) body += new TextDecoder().decode(piece);
  return [status, headers.get("x-mark") ?? "", body];
}

const OK = "HTTP/1.1 200 OK\r\nX-Mark: a: b\r\n";

Deno.test("HttpReader reads bodies by length, in chunks and until the end, however the bytes come", async () => {
  for (const size of [1, 2, 7, 1_000]) {
    const whole: [number, string, string] = [200, "a: b", "hello"];
    assertEquals(await read(`${OK}Content-Length: 5\r\n\r\nhello, and more`, size), whole);
    assertEquals(await read(`${OK}\r\nhello`, size), whole);
    const chunked = `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n`;
    assertEquals(await read(chunked, size), whole);
    assertEquals(await read("HTTP/1.1 404\nX-Mark: lf\n\n", size), [404, "lf", ""]);
  }
});

Deno.test("HttpReader refuses what is broken, too long, or no HTTP", async () => {
  const cases: [string, RegExp][] = [
    ["SSH-2.0-OpenSSH\r\n\r\n", /does not speak HTTP/],
    ["", /broke off/],
    ["HTTP/1.1 200 OK\r\nX-Mark", /broke off/],
    ["HTTP/1.1 200 OK\r\nno colon\r\n\r\n", /head of the answer is broken/],
    [`HTTP/1.1 200 OK\r\n${"X-A: b\r\n".repeat(20_000)}\r\n`, /too long/],
    ["x".repeat(70_000), /too long/],
    [`${OK}Content-Length: 5\r\n\r\nhel`, /broke off/],
    [`${OK}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, /chunk of the answer is broken/],
    [`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhe`, /broke off/],
    // Two readings of one answer: neither may be taken for a whole one.
    [`${OK}Content-Length: five\r\n\r\nhello`, /length of the answer is broken/],
    [`${OK}Content-Length: -5\r\n\r\nhello`, /length of the answer is broken/],
    [`${OK}Content-Length: 5\r\nContent-Length: 2\r\n\r\nhello`, /length of the answer is broken/],
    [`${OK}Transfer-Encoding: chunked\r\n\r\n2zz\r\nhe\r\n0\r\n\r\n`, /chunk of the answer is broken/],
    [`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n`, /chunk of the answer is broken/],
    [`${OK} X-Folded: b\r\n\r\n`, /head of the answer is broken/],
    [`${OK}X-Spaced : b\r\n\r\n`, /head of the answer is broken/],
  ];
  for (const [text, pattern] of cases) await assertRejects(() => read(text, 512), pattern);
});
