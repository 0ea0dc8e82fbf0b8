import {
  isScope,
  keyIdOf,
  keyNameProblem,
  makeScopedKey,
  matches,
  readKeys,
} from "../../../src/protocols/api/api_keys.ts";
import { createDenoPlatform } from "../../../src/platform/deno.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";

const { ids } = createDenoPlatform();
const HASH = `sha256:${"a".repeat(32)}:${"b".repeat(64)}`;

Deno.test("makeScopedKey() gives a key that only its own hash matches, and a hash without the key", async () => {
  const [one, two] = [await makeScopedKey(ids), await makeScopedKey(ids)];
  assertMatch(one.key, /^hk_[0-9a-f]{12}_[A-Za-z0-9_-]{43}$/);
  assertEquals([keyIdOf(one.key), keyIdOf(two.key)], [one.id, two.id]);
  assertEquals([await matches(one.key, one.hash), await matches(two.key, two.hash)], [true, true]);
  assertEquals([await matches(two.key, one.hash), await matches(one.key, two.hash)], [false, false]);
  assertEquals(one.hash.includes(one.key.slice(16)), false);
  assert(one.hash.split(":")[1] !== two.hash.split(":")[1]);
});

Deno.test("matches() refuses a hash that it cannot read", async () => {
  const { key, hash } = await makeScopedKey(ids);
  for (const broken of ["", "sha256", hash.replace("sha256", "md5"), hash.slice(0, -1), `${hash}0`]) {
    assertEquals([broken, await matches(key, broken)], [broken, false]);
  }
});

Deno.test("keyIdOf() is null for anything but the exact form", async () => {
  const { key } = await makeScopedKey(ids);
  for (const text of ["", "hk_", key.slice(1), key.slice(0, -1), `${key}x`, ` ${key}`, key.toUpperCase()]) {
    assertEquals([text, keyIdOf(text)], [text, null]);
  }
});

Deno.test("readKeys() takes what is whole and tells of the rest; a broken entry is no key", () => {
  const good = { id: "0123456789ab", hash: HASH, scopes: ["chat"] };
  const { keys, problems } = readKeys({
    good: { ...good, workspace: "/work", rate_limit: 5 },
    twin: good,
    "bad name": { ...good, id: "000000000001" },
    scope: { ...good, id: "000000000002", scopes: ["chat", "root"] },
    none: { ...good, id: "000000000003", scopes: [] },
    hash: { ...good, id: "000000000004", hash: "secret" },
    place: { ...good, id: "000000000005", workspace: "relative" },
    rate: { ...good, id: "000000000006", rate_limit: 0 },
  });
  assertEquals(keys, [{
    name: "good",
    id: "0123456789ab",
    hash: HASH,
    scopes: ["chat"],
    workspace: "/work",
    rateLimit: 5,
  }]);
  assertEquals(problems.length, 7);
  assertEquals(problems[0], "gateway.api_server.keys.twin opens nothing: its id is taken");
  assertEquals(readKeys(undefined), { keys: [], problems: [] });
});

Deno.test("scopes and names are closed lists and forms", () => {
  assertEquals(["chat", "runs:read", "admin", "Chat", "*", ""].map(isScope), [
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  assertEquals(
    ["ci", "CI-2_x", "-x", "a b", "", "x".repeat(65)].map((name) => keyNameProblem(name) === null),
    [
      true,
      true,
      false,
      false,
      false,
      false,
    ],
  );
});
