/** Pages over https through the real program (core.md C.11), which trusts the test's authority as it does a company's. */
import { call, calling, results, withCore } from "../../support/core_driver.ts";
import { assert, assertMatch } from "../../support/assert.ts";
import { writeNamedCertificate } from "../../support/named_certificate.ts";

Deno.test("core C.11: a page over https is read at the address that was checked, under the name of its certificate", async () => {
  const dir = await Deno.makeTempDir();
  const { ca, cert, key } = await writeNamedCertificate(dir);
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", cert, key, onListen: () => {} }, (request) => {
    const { pathname, port } = new URL(request.url);
    return pathname === "/moved"
      ? Response.redirect(`https://localhost:${port}/page`)
      : new Response("<h1>Safe and sound</h1>", { headers: { "content-type": "text/html" } });
  });
  const { port } = server.addr;
  try {
    const read = (url: string) => calling(call("web_extract", { urls: [url] }));
    await withCore({
      model: {
        turns: [read(`https://localhost:${port}/moved`), "ok", read(`https://127.0.0.1:${port}/page`), "ok"],
      },
      config: { security: { allow_private_urls: true } },
      env: { DENO_CERT: ca },
    }, async ({ model, host, open }) => {
      const { sid } = await open();
      await host.turn(sid, "read it");
      const page = results(model.calls()[1]).at(-1)!;
      assert(page.includes("Safe and sound"), page);
      await host.turn(sid, "and there");
      assertMatch(results(model.calls()[3]).at(-1)!, /certificate/);
    });
  } finally {
    await server.shutdown();
    await Deno.remove(dir, { recursive: true });
  }
});
