import { Lines } from "../../../src/protocols/api/lines.ts";
import { callerOf, FULL, privately } from "../../../src/protocols/api/callers.ts";
import { assertEquals, assertRejects } from "../../support/assert.ts";

Deno.test("Lines: one at a time and in order; names do not wait for each other", async () => {
  const lines = new Lines();
  const order: string[] = [];
  const leaveFirst = await lines.enter("a");
  const second = lines.enter("a").then((leave) => (order.push("second"), leave()));
  const third = lines.enter("a").then((leave) => (order.push("third"), leave()));
  (await lines.enter("b"))();
  order.push("first");
  leaveFirst();
  leaveFirst();
  await Promise.all([second, third]);
  (await lines.enter("a"))();
  assertEquals(order, ["first", "second", "third"]);
});

Deno.test("Lines: who gives up does not let those behind pass the one before", async () => {
  const lines = new Lines();
  const order: string[] = [];
  const leaveFirst = await lines.enter("a");
  const giving = new AbortController();
  const second = lines.enter("a", giving.signal);
  const third = lines.enter("a").then((leave) => (order.push("third"), leave()));
  giving.abort();
  await assertRejects(() => second, /aborted/);
  order.push("first");
  leaveFirst();
  await third;
  (await lines.enter("a", giving.signal))();
  assertEquals(order, ["first", "third"]);
});

Deno.test("privately: no name of one caller is spelled like that of another", () => {
  const key = callerOf({
    name: "ci",
    id: "0123456789ab",
    hash: "",
    scopes: ["chat"],
    workspace: null,
    rateLimit: null,
  });
  assertEquals(privately(FULL, "c"), "c");
  assertEquals(privately(key, "c"), "key:0123456789ab:c");
  assertEquals(privately(FULL, "key:0123456789ab:c"), "key::key:0123456789ab:c");
  assertEquals(privately(key, "key:x"), "key:0123456789ab:key:x");
});
