import type { Platform } from "@/platform/mod.ts";
import { Senders } from "../../src/models/providers/senders.ts";
import type { Wire } from "../../src/models/providers/wire.ts";
import type { Runtime } from "../../src/models/runtime.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";

const PLATFORM = {} as Platform;

function runtime(baseUrl: string, apiKey: string, headers: Record<string, string> = {}): Runtime {
  return { model: { apiMode: "chat_completions", baseUrl }, apiKey, headers } as unknown as Runtime;
}

function countingWire(fails = 0): { wire: Wire; made: () => number } {
  let made = 0;
  const createSender = () => {
    made++;
    if (made <= fails) return Promise.reject(new Error("no"));
    return Promise.resolve(() => Promise.reject(new Error("not sent here")));
  };
  return { wire: { createSender } as unknown as Wire, made: () => made };
}

Deno.test("Senders: one per endpoint, key and headers; another of these is another sender", async () => {
  const { wire, made } = countingWire();
  const senders = new Senders();
  const first = await senders.of(wire, runtime("http://a/v1", "k1"), PLATFORM);
  assertEquals(await senders.of(wire, runtime("http://a/v1", "k1"), PLATFORM), first);
  for (
    const other of [
      runtime("http://b/v1", "k1"),
      runtime("http://a/v1", "k2"),
      runtime("http://a/v1", "k1", { "x-title": "t" }),
    ]
  ) assert(await senders.of(wire, other, PLATFORM) !== first);
  assertEquals(made(), 4);
});

Deno.test("Senders: what could not be set up is tried again; of many the oldest is made anew", async () => {
  const { wire, made } = countingWire(1);
  const senders = new Senders();
  const a = runtime("http://a/v1", "k");
  await assertRejects(() => senders.of(wire, a, PLATFORM), /no/);
  await senders.of(wire, a, PLATFORM);
  for (let i = 0; i < 16; i++) await senders.of(wire, runtime(`http://${i}/v1`, "k"), PLATFORM);
  assertEquals(made(), 18);
  await senders.of(wire, a, PLATFORM);
  assertEquals(made(), 19);
});
