import { isLoopbackHost, keyWeakness, settleKey } from "@/protocols/api/key.ts";
import { assertEquals, assertMatch, assertRejects } from "../../support/assert.ts";
import { createFakeHermes } from "./fake_hermes.ts";

const NOBODY = () => Promise.reject(new Error("no such host"));

Deno.test("isLoopbackHost() knows the loopback addresses and no others", async () => {
  for (const host of ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "::ffff:127.0.0.1"]) {
    assertEquals([host, await isLoopbackHost(host, NOBODY)], [host, true]);
  }
  for (const host of ["0.0.0.0", "::", "10.0.0.1", "::ffff:10.0.0.1", "128.0.0.1", "nowhere.test"]) {
    assertEquals([host, await isLoopbackHost(host, NOBODY)], [host, false]);
  }
});

Deno.test("isLoopbackHost() takes a name only when all its addresses are loopback", async () => {
  const resolve = (...addresses: string[]) => () => Promise.resolve(addresses);
  assertEquals(await isLoopbackHost("localhost", resolve("127.0.0.1", "::1")), true);
  assertEquals(await isLoopbackHost("box", resolve("127.0.0.1", "10.0.0.1")), false);
  assertEquals(await isLoopbackHost("box", resolve()), false);
});

Deno.test("keyWeakness() refuses placeholders and short keys", () => {
  for (const key of ["changeme", " CHANGEME ", "your_api_key_here", "***", "none"]) {
    assertEquals([key, keyWeakness(key)], [key, "it is a placeholder"]);
  }
  assertEquals(keyWeakness("123456789012345"), "it is shorter than 16 characters");
  assertEquals(keyWeakness("1234567890123456"), null);
});

Deno.test("settleKey() makes and stores a key of 32 random bytes on loopback only", async () => {
  const { hermes, written } = createFakeHermes();
  const { key, made } = await settleKey(hermes, "", { host: "127.0.0.1", loopback: true });
  assertEquals(made, true);
  assertMatch(key, /^[A-Za-z0-9_-]{43}$/);
  assertEquals(written, { API_SERVER_KEY: key });
  await assertRejects(
    () => settleKey(hermes, "", { host: "0.0.0.0", loopback: false }),
    /Cannot serve on 0\.0\.0\.0 without a key/,
  );
  await assertRejects(
    () => settleKey(hermes, "changeme", { host: "127.0.0.1", loopback: true }),
    /Cannot use API_SERVER_KEY: it is a placeholder/,
  );
  assertEquals(await settleKey(hermes, " 1234567890123456\n", { host: "x", loopback: false }), {
    key: "1234567890123456",
    made: false,
  });
});
