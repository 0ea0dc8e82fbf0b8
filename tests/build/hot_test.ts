/** Functions that are compiled with their module are the same functions. */
import { compiledEarly } from "../../scripts/pack/hot.ts";
import { assert, assertEquals } from "../support/assert.ts";

const CODE = `import {join as j}from'node:path';const early=twice(2);` +
  `function twice(n){return n*2}async function later(n){return twice(n)}` +
  `function*some(n){yield n;yield twice(n)}function cold(a){return a}` +
  `export{early,twice,later,some,cold,j};`;

type Module = Record<string, unknown>;

async function load(code: string): Promise<Module> {
  return await import(`data:text/javascript,${encodeURIComponent(code)}`);
}

/** Where the parameters of these functions begin. */
function placesOf(...names: string[]): Set<number> {
  return new Set(names.map((name) => CODE.indexOf("(", CODE.search(new RegExp(`function[ *]${name}`)))));
}

Deno.test("hot functions: marked for the engine, with names and results as before", async () => {
  const { code, count } = compiledEarly(CODE, placesOf("twice", "later", "some"));
  assertEquals(count, 3);
  for (const head of ["twice=(function(n)", "later=(async function(n)", "some=(function*(n)"]) {
    assert(code.includes(head), code);
  }
  const before = await load(CODE);
  const after = await load(code);
  assertEquals(after["early"], 4);
  assertEquals((after["twice"] as { name: string }).name, "twice");
  assertEquals(await (after["later"] as (n: number) => Promise<number>)(3), 6);
  assertEquals([...(after["some"] as (n: number) => Iterable<number>)(4)], [4, 8]);
  assertEquals(Object.keys(after).sort(), Object.keys(before).sort());
  assert(after["j"] === before["j"]);
});

Deno.test("hot functions: a module without one stays as it is", () => {
  assertEquals(compiledEarly(CODE, new Set()), { code: CODE, count: 0 });
  assertEquals(compiledEarly(CODE, new Set([3])), { code: CODE, count: 0 });
});
