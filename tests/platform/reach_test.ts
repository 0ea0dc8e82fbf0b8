/** Whether anybody answers where a request would connect to (core.md A.5). */
import { reach } from "@/platform/reach.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { patient } from "../support/patience.ts";
import { eventually } from "../support/program.ts";
import { hasSilentAddresses, openSilentAddress } from "../support/silent_address.ts";

const literally = (host: string) => Promise.resolve([host]);

/** An end that is never waited for where somebody answers. */
function late(): AbortSignal {
  return AbortSignal.any([]);
}

Deno.test("a port that listens and one that is closed are not silent", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr as Deno.NetAddr;
  const url = `http://127.0.0.1:${port}/v1`;
  const expected = { address: `127.0.0.1:${port}`, isProxy: false, isSilent: false };
  const asked = reach(url, late(), {}, literally);
  const connection = await listener.accept();
  assertEquals(await asked, expected);
  // Nothing was sent, and it was closed.
  assertEquals(await connection.read(new Uint8Array(1)), null);
  connection.close();
  listener.close();
  assertEquals(await reach(url, late(), {}, literally), expected);
});

Deno.test("ports by protocol; names in brackets; what the environment names as a proxy", async () => {
  // A name that is not known settles at once.
  const unknown = () => Promise.reject(new Error("unknown"));
  const at = async (url: string, env: Record<string, string> = {}) => {
    const { address, isProxy, isSilent } = await reach(url, late(), env, unknown);
    return [address, isProxy, isSilent];
  };
  const env = { https_proxy: "http://proxy.test:3128", HTTP_PROXY: "proxy.test", NO_PROXY: "direct.test" };
  assertEquals(await at("https://api.test/v1"), ["api.test:443", false, false]);
  assertEquals(await at("http://[::1]/v1"), ["[::1]:80", false, false]);
  assertEquals(await at("https://api.test/v1", env), ["proxy.test:3128", true, false]);
  assertEquals(await at("http://api.test/v1", env), ["proxy.test:80", true, false]);
  assertEquals(await at("https://a.direct.test:8443/v1", env), ["a.direct.test:8443", false, false]);
  assertEquals(await at("https://api.test", { all_proxy: "socks5://p.test" }), ["p.test:1080", true, false]);
});

Deno.test({
  name: "an address that takes no connection is silent, and nothing goes on after the signal",
  ignore: !hasSilentAddresses,
  fn: async () => {
    await using silent = await openSilentAddress();
    const ask = (host: string, addresses: readonly string[], env = {}) =>
      reach(
        `http://${host}:${silent.port}/`,
        AbortSignal.timeout(300),
        env,
        () => Promise.resolve(addresses),
      );
    assertEquals((await ask("127.0.0.1", ["127.0.0.1"])).isSilent, true);
    // Behind a silent proxy it does not matter whether the host answers.
    const env = { http_proxy: `http://127.0.0.1:${silent.port}` };
    assertEquals(await reach("http://api.test/", AbortSignal.timeout(300), env, literally), {
      address: `127.0.0.1:${silent.port}`,
      isProxy: true,
      isSilent: true,
    });
    // Another address of the name that refuses changes nothing, one that takes the connection does, at once.
    const both = ["127.0.0.1", "127.0.0.2"];
    assertEquals((await ask("two.test", both)).isSilent, true);
    const listener = Deno.listen({ hostname: "127.0.0.2", port: silent.port });
    const begun = performance.now();
    const asked = reach(`http://two.test:${silent.port}/`, late(), {}, () => Promise.resolve(both));
    (await listener.accept()).close();
    listener.close();
    assertEquals((await asked).isSilent, false);
    assert(performance.now() - begun < patient(300));
    await eventually(async () => await silent.attempts() === 0, 2_000, "the attempts to end");
  },
});

Deno.test("a name that is looked up for too long is silence, one that nobody knows is not", async () => {
  const never = () => new Promise<readonly string[]>(() => {});
  assertEquals((await reach("https://slow.test/", AbortSignal.timeout(50), {}, never)).isSilent, true);
  const unknown = () => Promise.reject(new Error("unknown"));
  assertEquals((await reach("https://slow.test/", AbortSignal.timeout(50), {}, unknown)).isSilent, false);
});
