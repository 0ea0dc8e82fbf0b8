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

async function check(params: RewindParams, setting: Setting = {}): Promise<unknown> {
  const { busy = false, stored = true, ancestors = [] } = setting;
  const lineage = [...ancestors, ...OWN];
  const hermes = {
    store: () => ({
      fetchMessages: () => Promise.resolve(OWN),
      fetchLineage: () => Promise.resolve(lineage),
    }),
    isReady: true,
  } as unknown as Hermes;
  const session = { stored, headId: "s", running: busy, history: () => OWN };
  try {
    const target = await checkRewind(hermes, { busy, session } as unknown as LiveSession, params);
    return target && { rowId: target.rowId, ordinal: target.ordinal, at: target.at };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return error.data === undefined ? error.code : [error.code, error.data];
  }
}

Deno.test("an ordinary submit is no rewind", async () => {
  assertEquals(await check({}), null);
  assertEquals(await check({ confirm_empty_truncate: true }), null);
  assertEquals(await check({ truncate_before_row_id: null, confirm_truncate: false }), null);
});

Deno.test("gateway 51: a rewind during a turn is 4009, whatever else it says", async () => {
  assertEquals(await check({ truncate_before_row_id: 14, confirm_truncate: true }, { busy: true }), 4009);
  assertEquals(await check({ confirm_truncate: true }, { busy: true }), 4009);
});

Deno.test("gateway 43: confirm_truncate without a target is 4004", async () => {
  assertEquals(await check({ confirm_truncate: true }), 4004);
});

Deno.test("gateway 44: booleans and fractions are no integers; decimal strings are", async () => {
  for (const value of [true, false, 1.5, "1.5", "x", "", {}, [], 1e300]) {
    assertEquals(
      await check({ truncate_before_user_ordinal: value, confirm_truncate: true }),
      4004,
      String(value),
    );
    assertEquals(await check({ truncate_before_row_id: value, confirm_truncate: true }), 4004, String(value));
  }
  assertEquals(await check({ truncate_before_row_id: "14", confirm_truncate: true }), {
    rowId: 14,
    ordinal: 1,
    at: 0,
  });
});

Deno.test("gateway 42, FC-11: a target without truthy confirm_truncate is 4029", async () => {
  for (const confirm_truncate of [undefined, false, "no", 0]) {
    assertEquals(await check({ truncate_before_row_id: 14, confirm_truncate }), 4029);
    assertEquals(await check({ truncate_before_user_ordinal: 2, confirm_truncate }), 4029);
    assertEquals(await check({ truncate_before_message_id: "14", confirm_truncate }), 4029);
  }
});

Deno.test("gateway 46: an unknown row is 4018 with data and never falls back to the ordinal", async () => {
  assertEquals(
    await check({ truncate_before_row_id: 99, truncate_before_user_ordinal: 1, confirm_truncate: true }),
    [4018, { user_turn_count: 3, ordinal: 1, segment_ordinal: 1, prefix_user_count: 0 }],
  );
});

Deno.test("gateway 50: rows of the assistant and of the timeline are no targets", async () => {
  for (const row of [12, 13]) {
    assertEquals(
      (await check({ truncate_before_row_id: row, confirm_truncate: true }) as unknown[])[0],
      4018,
    );
  }
});

Deno.test("gateway 47: a row and an ordinal that disagree are 4030; ancestors may be counted or not", async () => {
  const params = { truncate_before_row_id: 14, confirm_truncate: true };
  assertEquals(await check({ ...params, truncate_before_user_ordinal: 0 }), 4030);
  assertEquals(await check({ ...params, truncate_before_user_ordinal: 1 }), { rowId: 14, ordinal: 1, at: 0 });
  const ancestors = ANCESTOR;
  assertEquals(await check({ ...params, truncate_before_user_ordinal: 2 }, { ancestors }), {
    rowId: 14,
    ordinal: 1,
    at: 0,
  });
  assertEquals(await check({ ...params, truncate_before_user_ordinal: 0 }, { ancestors }), 4030);
});

Deno.test("gateway 45: an ordinal alone is 4004 on a stored session, 4018 outside the segment, and works before", async () => {
  const ordinal = (value: number) => ({ truncate_before_user_ordinal: value, confirm_truncate: true });
  assertEquals(await check(ordinal(1)), 4004);
  assertEquals((await check(ordinal(3)) as unknown[])[0], 4018);
  assertEquals((await check(ordinal(-1)) as unknown[])[0], 4018);
  assertEquals(await check(ordinal(0), { ancestors: ANCESTOR }), [
    4018,
    { user_turn_count: 4, ordinal: 0, segment_ordinal: -1, prefix_user_count: 1 },
  ]);
  assertEquals(await check(ordinal(1), { stored: false }), { rowId: 14, ordinal: 1, at: 0 });
});

Deno.test("gateway 49: emptying the conversation needs its own confirmation", async () => {
  const params = { truncate_before_row_id: 11, confirm_truncate: true };
  assertEquals(await check(params), 4028);
  assertEquals(await check({ ...params, confirm_empty_truncate: true }), { rowId: 11, ordinal: 0, at: 0 });
});

/** A session whose conversation is changed by `change` while it is read. */
async function checkWhile(change: (facts: { busy: boolean; rows: Message[] }) => void): Promise<unknown> {
  const facts = { busy: false, rows: [...OWN] };
  const store = {
    fetchMessages: () => {
      const rows = [...facts.rows];
      change(facts);
      return Promise.resolve(rows);
    },
    fetchLineage: () => Promise.resolve([...facts.rows]),
    loadMessages: () => facts.rows,
    loadLineage: () => facts.rows,
  };
  const live = {
    get busy() {
      return facts.busy;
    },
    session: { stored: true, headId: "s", running: false, history: () => facts.rows },
  };
  const params = { truncate_before_row_id: 14, truncate_before_user_ordinal: 1, confirm_truncate: true };
  return await checkRewind(
    { store: () => store } as unknown as Hermes,
    live as unknown as LiveSession,
    params,
  );
}

Deno.test("gateway 51: a turn that starts while the target is looked for is 4009, too", async () => {
  const error = await checkWhile((facts) => facts.busy = true).catch((error: RpcError) => error) as RpcError;
  assertEquals(error.code, 4009);
});

Deno.test("B.11: rows that come while the target is looked for are read again, and the counts agree", async () => {
  const late: Message = { role: "user", content: "four", rowId: 18 };
  assertEquals(await checkWhile((facts) => facts.rows.push(late)), {
    rowId: 14,
    ordinal: 1,
    at: 0,
    shown: [11, 14, 16, 18],
    own: new Set([11, 14, 16, 18]),
  });
});
