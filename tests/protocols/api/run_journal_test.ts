import { RunJournal } from "@/protocols/api/run_journal.ts";
import { assertEquals } from "../../support/assert.ts";
import { collectSse, readSse } from "../../support/api_driver.ts";
import { createClient, createFakeHermes, resultOf } from "./fake_hermes.ts";

function filled(count: number): RunJournal {
  const journal = new RunJournal();
  for (let n = 0; n < count; n++) journal.append({ event: "x", n });
  return journal;
}

Deno.test("after() gives what is retained beyond a place, in order and at most so many", () => {
  const journal = filled(5);
  assertEquals(journal.after(-1, 2).map(({ seq }) => seq), [0, 1]);
  assertEquals(journal.after(2, 10).map(({ data }) => JSON.parse(data)), [
    { event: "x", n: 3, seq: 3 },
    { event: "x", n: 4, seq: 4 },
  ]);
  assertEquals(journal.after(4, 10), []);
  assertEquals(journal.after(99, 10), []);
});

Deno.test("append() keeps the newest 1,000 however many come", () => {
  for (const count of [1000, 1001, 1999, 2001, 3500]) {
    const kept = filled(count).after(-1, 5000);
    assertEquals([kept.length, kept[0]!.seq, kept.at(-1)!.seq], [1000, count - 1000, count - 1]);
  }
});

Deno.test("takeUnsaved() hands each event out once, and again when it comes back", () => {
  const journal = filled(2);
  const taken = journal.takeUnsaved();
  assertEquals([taken.length, journal.unsaved], [2, 0]);
  journal.append({ event: "later" });
  journal.returnUnsaved(taken);
  assertEquals(journal.takeUnsaved().map(({ seq }) => seq), [0, 1, 2]);
});

Deno.test("changed() resolves with the next event and with the end", async () => {
  const journal = new RunJournal();
  const [one, two] = [journal.changed(), journal.changed()];
  journal.append({ event: "x" });
  await Promise.all([one, two]);
  const last = journal.changed();
  journal.end();
  await last;
  assertEquals(journal.ended, true);
});

Deno.test("E2: a reader that stops reading is let go and may come back; the others lose nothing", async () => {
  const fake = createFakeHermes();
  const go = Promise.withResolvers<void>();
  fake.play = async ({ publish }) => {
    await go.promise;
    for (let n = 0; n < 900; n++) {
      await publish({ type: "text.delta", text: "x".repeat(1000) });
      if (n % 50 === 0) await new Promise((resolve) => setTimeout(resolve));
    }
    return resultOf();
  };
  const { call } = createClient(fake);
  const { run_id } = await (await call("/v1/runs", { body: { input: "go" } })).json();
  const slow = await call(`/v1/runs/${run_id}/events`);
  const quick = collectSse(await call(`/v1/runs/${run_id}/events`));
  go.resolve();
  const all = (await quick).flatMap((frame) => frame.json?.seq ?? []);
  assertEquals(all, Array.from({ length: 901 }, (_, seq) => seq));
  let last = -1;
  let closed = false;
  for await (const frame of readSse(slow)) {
    last = frame.json?.seq ?? last;
    closed ||= frame.comment === "stream closed";
  }
  assertEquals([closed, last < 900], [false, true]);
  const rest = await collectSse(
    await call(`/v1/runs/${run_id}/events`, { headers: { "Last-Event-ID": `${last}` } }),
  );
  assertEquals(rest.flatMap((frame) => frame.json?.seq ?? [])[0], last + 1);
  assertEquals(rest.at(-1)!.comment, "stream closed");
});
