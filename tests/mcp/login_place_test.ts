import { assertEquals, assertThrows } from "../support/assert.ts";
import { isSafePlace } from "../../src/lib/safe_place.ts";
import { refuseUnsafePlace } from "../../src/mcp/login_place.ts";

const SAFE = [
  "https://auth.example/token",
  "https://10.0.0.5/token",
  "http://127.0.0.1:8080/token",
  "http://127.9.9.9/token",
  "http://2130706433/token",
  "http://localhost/token",
  "http://LOCALHOST:1/token",
  "http://[::1]:9/token",
];
const UNSAFE = [
  "http://auth.example/token",
  "http://10.0.0.5/token",
  "http://0.0.0.0/token",
  "http://127.0.0.1.example/token",
  "http://localhost.example/token",
  "http://[fe80::1]/token",
  "ftp://127.0.0.1/token",
  "file:///token",
];

Deno.test("core G.3: logins and tokens go over https, and over plain http to this machine alone", () => {
  assertEquals(SAFE.map((url) => isSafePlace(new URL(url))), SAFE.map(() => true));
  assertEquals(UNSAFE.map((url) => isSafePlace(new URL(url))), UNSAFE.map(() => false));
  for (const url of SAFE) refuseUnsafePlace(url);
  for (const url of UNSAFE) {
    assertThrows(() => refuseUnsafePlace(url), /a login goes over https, or to this machine; not to /);
  }
});
