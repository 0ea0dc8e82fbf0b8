import { jsonBody } from "@/lib/json_slices.ts";
import { assert, assertEquals } from "../support/assert.ts";

const text = (body: string | Uint8Array<ArrayBuffer>) =>
  typeof body === "string" ? body : new TextDecoder().decode(body);

Deno.test("jsonBody() is what JSON.stringify() says, with lists short and long", async () => {
  const odd = [
    undefined,
    null,
    "a\u2028\ud800",
    () => 1,
    { x: undefined, y: [1, undefined] },
    new Date(0),
    NaN,
  ];
  for (const times of [1, 30]) {
    const record = {
      model: "m",
      stream: true,
      gone: undefined,
      call: () => 1,
      'a"b': odd,
      list: Array(times).fill(odd).flat(),
    };
    assertEquals(text(await jsonBody(record)), JSON.stringify(record));
  }
  assertEquals(await jsonBody({}), "{}");
  const own = Object.assign(Array(100).fill(1), { toJSON: () => "own" });
  assertEquals(await jsonBody({ own }), '{"own":"own"}');
});

Deno.test("jsonBody() of a long conversation lets others have their turn, and is bytes in the end", async () => {
  const messages = Array.from(
    { length: 40_000 },
    (_, n) => ({ role: "user", content: `${n} ${"wörter ".repeat(40)}` }),
  );
  let turns = 0;
  let isOver = false;
  const tick = () => {
    turns++;
    if (!isOver) setTimeout(tick, 0);
  };
  setTimeout(tick, 0);
  const body = await jsonBody({ model: "m", messages });
  isOver = true;
  assert(body instanceof Uint8Array, "a long body is bytes");
  assertEquals(text(body), JSON.stringify({ model: "m", messages }));
  assert(turns >= 4, `the others had ${turns} turns`);
  await new Promise((resolve) => setTimeout(resolve, 5));
});
