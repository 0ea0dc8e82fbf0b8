import { assertEquals } from "../support/assert.ts";
import { type Checkpoint, findCheckpoint } from "../../src/core/mod.ts";

const one = (id: string): Checkpoint => ({ id, at: 1, text: "", files: 1 });
const LIST = ["aaaaaaaa11111111", "aaaaaaaa22222222", "0123456789abcdef"].map(one);
const found = (ref: string) => findCheckpoint(LIST, ref)?.id.slice(-4) ?? null;

Deno.test("findCheckpoint() by number from 1, by id, and by a beginning that only one has", () => {
  assertEquals([found("1"), found("3"), found("0"), found("4"), found("-1")], [
    "1111",
    "cdef",
    null,
    null,
    null,
  ]);
  assertEquals([found("aaaaaaaa22222222"), found("aaaaaaaa2"), found("aaaaaaaa")], ["2222", "2222", null]);
  assertEquals([found("012345"), found("01234"), found(""), found("nope")], ["cdef", null, null, null]);
});
