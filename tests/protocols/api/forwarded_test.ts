import { readForwarded } from "../../../src/protocols/api/forwarded.ts";
import { assertEquals } from "../../support/assert.ts";

function read(peer: string, trusted: string[], xff: string, host = "a.example") {
  return readForwarded(new Headers({ "X-Forwarded-For": xff, "X-Forwarded-Host": host }), peer, trusted);
}

Deno.test("readForwarded() hears trusted peers only", () => {
  const told = { peer: "203.0.113.9", host: "a.example" };
  for (
    const [peer, trusted] of [
      ["127.0.0.1", ["127.0.0.1"]],
      ["10.1.2.3", ["10.0.0.0/8"]],
      ["::ffff:10.1.2.3", ["10.0.0.0/8"]],
      ["fd00::17", ["fd00::/8"]],
      ["::1", ["::1"]],
      ["10.1.2.3", ["0.0.0.0/0"]],
    ] as const
  ) assertEquals([peer, read(peer, [...trusted], "203.0.113.9")], [peer, told]);
  for (
    const [peer, trusted] of [
      ["127.0.0.1", []],
      ["127.0.0.2", ["127.0.0.1"]],
      ["11.0.0.1", ["10.0.0.0/8"]],
      ["10.0.0.1", ["10.0.0.0/99", "nonsense", "10.0.0/8", ""]],
      ["10.1.2.3", ["fd00::/8"]],
      ["", ["0.0.0.0/0"]],
    ] as const
  ) assertEquals([peer, read(peer, [...trusted], "203.0.113.9")], [peer, { peer, host: null }]);
});

Deno.test("readForwarded() takes the nearest address that is no proxy of ours; what stands before it may be made up", () => {
  const trusted = ["10.0.0.0/8"];
  const client = (xff: string) => read("10.0.0.1", trusted, xff).peer;
  assertEquals(client("1.2.3.4, 203.0.113.9, 10.0.0.7"), "203.0.113.9");
  assertEquals(client("10.0.0.9, 10.0.0.7"), "10.0.0.9");
  assertEquals(client("evil\u0020text"), "10.0.0.1");
  assertEquals(client(""), "10.0.0.1");
  assertEquals(read("10.0.0.1", trusted, "", "first.example, last.example").host, "last.example");
});
