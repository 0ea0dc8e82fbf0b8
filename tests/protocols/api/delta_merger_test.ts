import { DeltaMerger } from "@/protocols/api/delta_merger.ts";
import { assertEquals } from "../../support/assert.ts";
import { eventually } from "../../support/program.ts";

Deno.test("add() sends the first text at once and joins what follows closely", async () => {
  const sent: string[] = [];
  const merger = new DeltaMerger(20, (text) => void sent.push(text));
  for (const text of ["a", "b", "c"]) merger.add(text);
  assertEquals(sent, ["a"]);
  await eventually(() => sent.length === 2);
  assertEquals(sent, ["a", "bc"]);
  merger.close();
});

Deno.test("flush() and close() send what waits; nothing is sent twice", () => {
  const sent: string[] = [];
  const merger = new DeltaMerger(1000, (text) => void sent.push(text));
  merger.add("a");
  merger.add("b");
  merger.flush();
  merger.add("c");
  merger.close();
  merger.close();
  assertEquals(sent, ["a", "b", "c"]);
});

Deno.test("add() hands on that the reader is full, until it is not", async () => {
  const room = Promise.withResolvers<void>();
  const merger = new DeltaMerger(1000, () => room.promise);
  const full = merger.add("a");
  assertEquals(full instanceof Promise, true);
  room.resolve();
  await full;
  await room.promise;
  assertEquals(merger.add("b"), undefined);
  merger.close();
});
