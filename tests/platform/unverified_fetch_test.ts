/** Servers whose certificate is not checked, and which do not behave. */
import { createServer, type TLSSocket } from "node:tls";
import { fetchUnverified } from "../../src/platform/unverified_fetch.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { writeCertificates } from "../support/tls.ts";

/** Gives every connection to `talk`. */
async function withServer(
  talk: (socket: TLSSocket) => void,
  test: (url: string) => Promise<void>,
): Promise<void> {
  const dir = await Deno.makeTempDir();
  const { server: { cert, key } } = await writeCertificates(dir);
  const [certText, keyText] = await Promise.all([Deno.readTextFile(cert), Deno.readTextFile(key)]);
  const open = new Set<TLSSocket>();
  const server = createServer({ cert: certText, key: keyText }, (socket) => {
    open.add(socket);
    socket.on("error", () => {/* the client has left */});
    socket.once("data", () => talk(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await test(`https://127.0.0.1:${(server.address() as { port: number }).port}/`);
  } finally {
    for (const socket of open) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("fetchUnverified: a server that only ever says that it will answer is left", async () => {
  const talk = (socket: TLSSocket) => {
    const more = () => {
      while (!socket.destroyed && socket.write("HTTP/1.1 100 Continue\r\n\r\n"));
    };
    socket.on("drain", more);
    more();
  };
  await withServer(talk, async (url) => {
    const signal = AbortSignal.timeout(10_000);
    await assertRejects(() => fetchUnverified(url, { signal }, null), /again and again/);
  });
});

Deno.test("fetchUnverified: an interim answer is passed over", async () => {
  const talk = (socket: TLSSocket) => {
    socket.end("HTTP/1.1 103 Early Hints\r\nX-A: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  };
  await withServer(talk, async (url) => {
    const response = await fetchUnverified(url, {}, null);
    assertEquals([response.status, response.headers.get("x-a"), await response.text()], [200, null, "hi"]);
  });
});
