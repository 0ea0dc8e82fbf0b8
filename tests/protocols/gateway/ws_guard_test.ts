import { assertEquals, assertMatch } from "../../support/assert.ts";
import {
  isLoopback,
  openWarning,
  refuseUpgrade,
  type UpgradeFacts,
} from "../../../src/protocols/gateway/ws_guard.ts";

const GOOD: UpgradeFacts = {
  bind: "127.0.0.1",
  peer: "127.0.0.1",
  host: "127.0.0.1:9119",
  origin: null,
  authorization: null,
  queryToken: "secret",
  token: "secret",
  allowedHosts: [],
};

function verdict(facts: Partial<UpgradeFacts>): string | null {
  return refuseUpgrade({ ...GOOD, ...facts })?.code ?? null;
}

Deno.test("isLoopback() knows every spelling of this machine, and no other", () => {
  const yes = ["127.0.0.1", "127.1.2.3", "localhost", "LOCALHOST", "::1", "[::1]", "::ffff:127.0.0.1"];
  const no = ["", "10.0.0.1", "127.0.0.1.evil.test", "localhost.evil.test", "0.0.0.0", "1270.0.0.1"];
  assertEquals(yes.map(isLoopback), yes.map(() => true));
  assertEquals(no.map(isLoopback), no.map(() => false));
});

Deno.test("openWarning() warns of every bind that others can reach, by its address alone (A.2 Peer check)", () => {
  for (const bind of ["127.0.0.1", "127.9.9.9", "localhost", "::1", "[::1]", "::ffff:127.0.0.1"]) {
    assertEquals(openWarning(bind), null, bind);
  }
  for (
    const bind of [
      "0.0.0.0",
      "::",
      "10.0.0.5",
      "192.168.1.2",
      "fe80::1",
      "host.example",
      "localhost.example",
      "",
    ]
  ) {
    assertMatch(openWarning(bind) ?? "none", /^WARNING: .*reached from the network.*without a sandbox/, bind);
  }
});

Deno.test("refuseUpgrade() wants a Host that fits the bind (A.2 Host check)", () => {
  assertEquals(verdict({}), null);
  for (const host of ["localhost:1", "[::1]:9", "127.0.0.1"]) assertEquals(verdict({ host }), null, host);
  for (const host of [null, "", "evil.test", "127.0.0.1.evil.test", "localhost@evil.test"]) {
    assertEquals(verdict({ host }), "host_not_allowed", String(host));
  }
  assertEquals(verdict({ host: "IDE.example:80", allowedHosts: ["ide.example"] }), null);
  for (const allowed of ["fe80::1", "[FE80::1]", "[fe80::1]:9119"]) {
    assertEquals(verdict({ host: "[fe80::1]:9119", allowedHosts: [allowed] }), null, allowed);
    assertEquals(verdict({ host: "[fe80::2]:9119", allowedHosts: [allowed] }), "host_not_allowed", allowed);
  }
  assertEquals(verdict({ bind: "fe80::1", peer: "fe80::9", host: "[fe80::1]:9119" }), null);
  assertEquals(verdict({ bind: "10.0.0.5", peer: "10.0.0.9", host: "10.0.0.5:9119" }), null);
  assertEquals(verdict({ bind: "10.0.0.5", peer: "10.0.0.9", host: "localhost" }), "host_not_allowed");
  assertEquals(verdict({ bind: "0.0.0.0", peer: "10.0.0.9", host: "anything.test" }), null);
  assertEquals(verdict({ bind: "::", peer: "10.0.0.9", host: "anything.test" }), null);
});

Deno.test("refuseUpgrade() lets only this machine connect to a loopback bind", () => {
  assertEquals(verdict({ peer: "10.0.0.9" }), "peer_not_allowed");
  assertEquals(verdict({ peer: "" }), "peer_not_allowed");
});

Deno.test("refuseUpgrade() judges web origins by their host and leaves others to the token", () => {
  for (const origin of ["http://localhost:3000", "https://127.0.0.1", "null", "file://", "app://x"]) {
    assertEquals(verdict({ origin }), null, origin);
  }
  assertEquals(verdict({ origin: "https://attacker.example" }), "origin_not_allowed");
  assertEquals(verdict({ origin: "https://ide.example", allowedHosts: ["ide.example"] }), null);
});

Deno.test("refuseUpgrade() takes the token from the query or as a bearer, and only the right one", () => {
  assertEquals(verdict({ queryToken: null, authorization: "bearer secret" }), null);
  for (const queryToken of [null, "", "secre", "secrets", "SECRET"]) {
    assertEquals(verdict({ queryToken }), "unauthorized", String(queryToken));
  }
  assertEquals(verdict({ queryToken: "wrong", authorization: "Bearer secret" }), "unauthorized");
});
