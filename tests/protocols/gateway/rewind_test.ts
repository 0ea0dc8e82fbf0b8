import { assertEquals } from "../../support/assert.ts";
import type { Hermes } from "../../../src/app/mod.ts";
import type { Message } from "../../../src/core/mod.ts";
import { RpcError } from "../../../src/protocols/gateway/errors.ts";
import type { LiveSession } from "../../../src/protocols/gateway/live.ts";
import { checkRewind, type RewindParams } from "../../../src/protocols/gateway/methods/rewind.ts";

const ANCESTOR: Message[] = [{ role: "user", content: "old", rowId: 1 }, {
  role: "assistant",
  content: "…",
  rowId: 2,
}];
const OWN: Message[] = [
  { role: "user", content: "one", rowId: 11 },
  { role: "assistant", content: "1", rowId: 12 },
  { role: "user", content: "[System: …]", displayKind: "model_switch", rowId: 13 },
  { role: "user", content: "two", rowId: 14 },
  { role: "assistant", content: "2", rowId: 15 },
  { role: "user", content: "three", rowId: 16 },
  { role: "assistant", content: "3", rowId: 17 },
];

interface Setting {
  readonly busy?: boolean;
  readonly stored?: boolean;
  readonly ancestors?: readonly Message[];
}

function check(params: RewindParams, setting: Setting = {}): unknown {
  const { busy = false, stored = true, ancestors = [] } = setting;
  const hermes = {
    store: () => ({ loadMessages: () => OWN, loadLineage: () => [...ancestors, ...OWN] }),
    isReady: true,
  } as unknown as Hermes;
  const session = { stored, headId: "s", running: busy, history: () => OWN };
  try {
    return checkRewind(hermes, { busy, session } as unknown as LiveSession, params);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return error.data === undefined ? error.code : [error.code, error.data];
  }
}

Deno.test("an ordinary submit is no rewind", () => {
  assertEquals(check({}), null);
  assertEquals(check({ confirm_empty_truncate: true }), null);
  assertEquals(check({ truncate_before_row_id: null, confirm_truncate: false }), null);
});

Deno.test("gateway 51: a rewind during a turn is 4009, whatever else it says", () => {
  assertEquals(check({ truncate_before_row_id: 14, confirm_truncate: true }, { busy: true }), 4009);
  assertEquals(check({ confirm_truncate: true }, { busy: true }), 4009);
});

Deno.test("gateway 43: confirm_truncate without a target is 4004", () => {
  assertEquals(check({ confirm_truncate: true }), 4004);
});

Deno.test("gateway 44: booleans and fractions are no integers; decimal strings are", () => {
  for (const value of [true, false, 1.5, "1.5", "x", "", {}, [], 1e300]) {
    assertEquals(check({ truncate_before_user_ordinal: value, confirm_truncate: true }), 4004, String(value));
    assertEquals(check({ truncate_before_row_id: value, confirm_truncate: true }), 4004, String(value));
  }
  assertEquals(check({ truncate_before_row_id: "14", confirm_truncate: true }), {
    rowId: 14,
    ordinal: 1,
    at: 0,
  });
});

Deno.test("gateway 42, FC-11: a target without truthy confirm_truncate is 4029", () => {
  for (const confirm_truncate of [undefined, false, "no", 0]) {
    assertEquals(check({ truncate_before_row_id: 14, confirm_truncate }), 4029);
    assertEquals(check({ truncate_before_user_ordinal: 2, confirm_truncate }), 4029);
    assertEquals(check({ truncate_before_message_id: "14", confirm_truncate }), 4029);
  }
});

Deno.test("gateway 46: an unknown row is 4018 with data and never falls back to the ordinal", () => {
  assertEquals(
    check({ truncate_before_row_id: 99, truncate_before_user_ordinal: 1, confirm_truncate: true }),
    [4018, { user_turn_count: 3, ordinal: 1, segment_ordinal: 1, prefix_user_count: 0 }],
  );
});

Deno.test("gateway 50: rows of the assistant and of the timeline are no targets", () => {
  for (const row of [12, 13]) {
    assertEquals((check({ truncate_before_row_id: row, confirm_truncate: true }) as unknown[])[0], 4018);
  }
});

Deno.test("gateway 47: a row and an ordinal that disagree are 4030; ancestors may be counted or not", () => {
  const params = { truncate_before_row_id: 14, confirm_truncate: true };
  assertEquals(check({ ...params, truncate_before_user_ordinal: 0 }), 4030);
  assertEquals(check({ ...params, truncate_before_user_ordinal: 1 }), { rowId: 14, ordinal: 1, at: 0 });
  const ancestors = ANCESTOR;
  assertEquals(check({ ...params, truncate_before_user_ordinal: 2 }, { ancestors }), {
    rowId: 14,
    ordinal: 1,
    at: 0,
  });
  assertEquals(check({ ...params, truncate_before_user_ordinal: 0 }, { ancestors }), 4030);
});

Deno.test("gateway 45: an ordinal alone is 4004 on a stored session, 4018 outside the segment, and works before", () => {
  const ordinal = (value: number) => ({ truncate_before_user_ordinal: value, confirm_truncate: true });
  assertEquals(check(ordinal(1)), 4004);
  assertEquals((check(ordinal(3)) as unknown[])[0], 4018);
  assertEquals((check(ordinal(-1)) as unknown[])[0], 4018);
  assertEquals(check(ordinal(0), { ancestors: ANCESTOR }), [
    4018,
    { user_turn_count: 4, ordinal: 0, segment_ordinal: -1, prefix_user_count: 1 },
  ]);
  assertEquals(check(ordinal(1), { stored: false }), { rowId: 14, ordinal: 1, at: 0 });
});

Deno.test("gateway 49: emptying the conversation needs its own confirmation", () => {
  const params = { truncate_before_row_id: 11, confirm_truncate: true };
  assertEquals(check(params), 4028);
  assertEquals(check({ ...params, confirm_empty_truncate: true }), { rowId: 11, ordinal: 0, at: 0 });
});
