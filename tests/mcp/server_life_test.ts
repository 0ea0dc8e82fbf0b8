/** One server's life against a connection that the test holds in its hand, with time that the test makes pass. */
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { textOf } from "@/core/mod.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import type { Connect, Connection } from "../../src/mcp/connection.ts";
import { type FailureKind, McpFailure } from "../../src/mcp/failure.ts";
import { eventually } from "../support/program.ts";
import { makeBench } from "./mcp_support.ts";

interface Hand {
  readonly connect: Connect;
  readonly opened: number;
  /** How the next attempts and calls go; `null` = well. */
  refuse: FailureKind | null;
  fail: FailureKind | null;
  calls: number;
  /** Calls are answered when this has settled. */
  hold: Promise<void> | null;
  /** The server goes away. */
  drop(): void;
}

function makeHand(): Hand {
  let drop = () => {};
  const hand = {
    opened: 0,
    refuse: null as FailureKind | null,
    fail: null as FailureKind | null,
    calls: 0,
    hold: null as Promise<void> | null,
    drop: () => drop(),
    connect: (() => {
      hand.opened++;
      if (hand.refuse) return Promise.reject(new McpFailure(hand.refuse, "not today"));
      const closed = Promise.withResolvers<string>();
      drop = () => closed.resolve("the server went away");
      const connection: Connection = {
        offers: { tools: true, resources: false, prompts: false },
        closed: closed.promise,
        listAll: () => Promise.resolve([{ name: "do" }]),
        request: async (method) => {
          if (method === "tools/call") hand.calls++;
          await hand.hold;
          if (hand.fail) throw new McpFailure(hand.fail, "no luck");
          return { content: [{ type: "text", text: "well" }] };
        },
        close: () => {
          closed.resolve("closed");
          return Promise.resolve();
        },
      };
      return Promise.resolve(connection);
    }) as Connect,
  };
  return hand;
}

/** Waits are over when the test says how much time has passed; `slept` lists what was asked for. */
function makeClock() {
  const real = createDenoPlatform().clock;
  let now = 0;
  let waits: { until: number; resolve: () => void }[] = [];
  const slept: number[] = [];
  return {
    slept,
    pass: (ms: number) => {
      now += ms;
      for (const wait of waits) if (wait.until <= now) wait.resolve();
      waits = waits.filter((wait) => wait.until > now);
    },
    clock: {
      now: () => real.now(),
      monotonic: () => now,
      delay: (ms: number, options: { signal?: AbortSignal | undefined } = {}) => {
        slept.push(ms);
        return new Promise<void>((resolve, reject) => {
          waits.push({ until: now + ms, resolve });
          options.signal?.addEventListener("abort", () => reject(new DOMException("stop", "AbortError")));
        });
      },
    },
  };
}

const KEEPALIVE = 180_000;

async function withServer(
  prepare: (hand: Hand) => void,
  test: (parts: {
    hand: Hand;
    time: ReturnType<typeof makeClock>;
    seat: ReturnType<Awaited<ReturnType<typeof makeBench>>["session"]>;
    status(): string;
  }) => Promise<void>,
  more: Record<string, unknown> = {},
): Promise<void> {
  const hand = makeHand();
  const time = makeClock();
  prepare(hand);
  await using bench = await makeBench({
    servers: { box: { command: "x", ...more } },
    deps: { connect: hand.connect },
    clock: time.clock,
  });
  const seat = bench.session();
  await test({ hand, time, seat, status: () => seat.tools.status()[0]?.status ?? "none" });
}

Deno.test("core G.3: the first connection is tried three times with 1 s and 2 s between, then parked", async () => {
  await withServer((hand) => hand.refuse = "connection", async ({ hand, time, seat, status }) => {
    await eventually(() => time.slept.length === 1, 1_000, "the first wait");
    assertEquals([hand.opened, status()], [1, "connecting"]);
    time.pass(1_000);
    await eventually(() => time.slept.length === 2, 1_000, "the second wait");
    time.pass(2_000);
    await eventually(() => status() === "failed", 1_000, "the end of the tries");
    assertEquals([hand.opened, time.slept], [3, [1_000, 2_000, 300_000]]);
    assertEquals(seat.reports, ['MCP server "box" cannot be used: not today']);
    hand.refuse = null;
    time.pass(300_000);
    await seat.offered("mcp__box__do");
    assertEquals([hand.opened, status()], [4, "connected"]);
  });
});

Deno.test("core G.3: what waiting does not mend is not tried again", async () => {
  await withServer((hand) => hand.refuse = "hopeless", async ({ hand, status }) => {
    await eventually(() => status() === "failed", 1_000, "the end");
    assertEquals(hand.opened, 1);
  });
});

Deno.test("core G.3: a lost connection is tried five times, its tools stay until it is parked", async () => {
  await withServer(() => {}, async ({ hand, time, seat, status }) => {
    await seat.offered("mcp__box__do");
    time.pass(20_000);
    hand.refuse = "connection";
    hand.drop();
    for (const [n, ms] of [1_000, 2_000, 4_000, 8_000, 16_000].entries()) {
      await eventually(() => time.slept.length === n + 2, 1_000, `wait ${n}`);
      assertEquals(seat.names(), ["mcp__box__do"]);
      time.pass(ms);
    }
    await eventually(() => status() === "failed", 1_000, "the end of the tries");
    assertEquals(time.slept, [KEEPALIVE, 1_000, 2_000, 4_000, 8_000, 16_000, 300_000]);
    assertEquals([hand.opened, seat.names(), seat.reports], [6, [], [
      'MCP server "box" cannot be used: not today',
    ]]);
  });
});

Deno.test("core G.3: three failures in a row keep calls away for 60 s; a refusal is no failure", async () => {
  await withServer(() => {}, async ({ hand, time, seat }) => {
    hand.fail = "refused";
    for (let n = 0; n < 4; n++) await seat.run("mcp__box__do");
    assertEquals(hand.calls, 4);
    hand.fail = "timeout";
    for (let n = 0; n < 3; n++) await seat.run("mcp__box__do");
    assertEquals(hand.calls, 7);
    const kept = await seat.run("mcp__box__do");
    assertEquals([hand.calls, kept.isError, kept.effect], [7, true, "none"]);
    assertMatch(textOf(kept.content), /failed 3 times in a row; do not retry yet, try again in 60 s/);
    hand.fail = null;
    time.pass(60_000);
    assertEquals((await seat.run("mcp__box__do")).isError, false);
    assertEquals(hand.calls, 8);
  });
});

Deno.test("core G.3: an expired session means one new connection and one more try", async () => {
  await withServer(() => {}, async ({ hand, seat }) => {
    await seat.offered("mcp__box__do");
    hand.fail = "expired";
    const outcome = await seat.run("mcp__box__do");
    assertEquals([outcome.isError, hand.calls, hand.opened], [true, 2, 2]);
  });
});

Deno.test("core G.3: a quiet connection is pinged, and given up when it does not answer", async () => {
  await withServer(() => {}, async ({ hand, time, seat }) => {
    await seat.offered("mcp__box__do");
    await eventually(() => time.slept.length === 1, 1_000, "the keep-alive");
    hand.fail = "timeout";
    time.pass(KEEPALIVE);
    await eventually(() => time.slept.length === 2, 1_000, "the wait before the next try");
    hand.fail = null;
    time.pass(1_000);
    await eventually(() => hand.opened === 2, 1_000, "the new connection");
    assert(seat.reports.length === 0);
  });
});

Deno.test("core G.1: a connection without calls rests after idle_timeout; its tools stay and the next call wakes it", async () => {
  await withServer(() => {}, async ({ hand, time, seat, status }) => {
    await seat.offered("mcp__box__do");
    await eventually(() => time.slept.includes(60_000), 1_000, "the watch");
    time.pass(30_000);
    await seat.run("mcp__box__do");
    time.pass(30_000);
    // The call counts from its end: another half minute is left.
    await eventually(() => time.slept.includes(30_000), 1_000, "the rest of the wait");
    assertEquals([status(), hand.opened], ["connected", 1]);
    time.pass(30_000);
    await eventually(() => status() === "configured", 1_000, "the rest");
    assertEquals([seat.names(), seat.reports], [["mcp__box__do"], []]);
    time.pass(3_600_000);
    assertEquals([status(), hand.opened], ["configured", 1]);
    assertEquals((await seat.run("mcp__box__do")).isError, false);
    assertEquals([status(), hand.opened], ["connected", 2]);
  }, { idle_timeout: 60 });
});

Deno.test("core G.1: a connection older than max_lifetime is replaced at once, but no call is cut", async () => {
  await withServer(() => {}, async ({ hand, time, seat, status }) => {
    await seat.offered("mcp__box__do");
    await eventually(() => time.slept.includes(100_000), 1_000, "the watch");
    const hold = Promise.withResolvers<void>();
    hand.hold = hold.promise;
    const running = seat.run("mcp__box__do");
    await eventually(() => hand.calls === 1, 1_000, "the call");
    time.pass(100_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assertEquals([status(), hand.opened], ["connected", 1]);
    hold.resolve();
    assertEquals((await running).isError, false);
    await eventually(() => hand.opened === 2 && status() === "connected", 1_000, "the next connection");
    assertEquals([seat.names(), seat.reports], [["mcp__box__do"], []]);
  }, { max_lifetime: 100 });
});

Deno.test("core G.1: a resting server ends with the program, and a failing one that is woken is an error of the call", async () => {
  await withServer(() => {}, async ({ hand, time, seat, status }) => {
    await seat.offered("mcp__box__do");
    await eventually(() => time.slept.includes(1_000), 1_000, "the watch");
    time.pass(1_000);
    await eventually(() => status() === "configured", 1_000, "the rest");
    hand.refuse = "connection";
    const outcome = await seat.run("mcp__box__do");
    assertEquals([outcome.isError, outcome.effect], [true, "none"]);
    assertMatch(textOf(outcome.content), /not today/);
    assertEquals(status(), "connecting");
  }, { idle_timeout: 1 });
});

Deno.test("core G.3: a parked server is tried again at once when somebody calls", async () => {
  await withServer(() => {}, async ({ hand, time, seat, status }) => {
    const tool = await seat.offered("mcp__box__do");
    hand.refuse = "hopeless";
    hand.drop();
    await eventually(() => time.slept.length >= 2, 1_000, "the wait before the next try");
    time.pass(60_000);
    await eventually(() => status() === "failed", 1_000, "the parking");
    assertEquals(seat.names(), []);
    hand.refuse = null;
    // The running turn was offered it before.
    const outcome = await tool.execute({}, seat.context());
    assertEquals([outcome.isError, status(), seat.names()], [false, "connected", ["mcp__box__do"]]);
  });
});
