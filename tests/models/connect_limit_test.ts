/** The time that a connection may take (core.md A.5, A.11 `timeout`), in every wire. */
import { CONNECT_MS } from "@/models/providers/time_limits.ts";
import type { ModelClient } from "@/core/mod.ts";
import type { Platform, Reach } from "@/platform/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { startModelServer } from "../support/model_server.ts";
import { patient } from "../support/patience.ts";
import { eventually } from "../support/program.ts";
import { hasSilentAddresses, openSilentAddress } from "../support/silent_address.ts";
import { makeModels, platform, play, type Played, requestOf } from "./helpers.ts";

const WIRES = ["chat_completions", "codex_responses", "anthropic_messages"] as const;
type Wire = typeof WIRES[number];

/** Half of it is waited, in the other half somebody asks. */
const LIMIT_MS = 600;

function clientOf(
  wire: Wire,
  url: string,
  more: { platform?: Platform; connectMs?: number } = {},
): ModelClient {
  const box = { base_url: url, api_key: "zz-0123456789abcdef", api_mode: wire, model: "scripted" };
  const models = makeModels({ config: { providers: { box } }, connectMs: LIMIT_MS, ...more });
  return models.client(models.resolve({ provider: "custom:box" }));
}

/** Ends a call that no limit has ended. */
function bound(): AbortSignal {
  return AbortSignal.timeout(patient(10_000));
}

function outcome({ text, failure }: Played): unknown[] {
  return [text, failure?.kind, failure?.retryable, failure?.message];
}

function silentTest(name: string, run: () => Promise<void>): void {
  Deno.test({ name, ignore: !hasSilentAddresses, fn: run });
}

Deno.test("core.md A.5: a connection may take 30 s", () => {
  assertEquals(CONNECT_MS, 30_000);
});

for (const wire of WIRES) {
  silentTest(`${wire}: an address that takes no connection ends as a timeout that names it`, async () => {
    await using silent = await openSilentAddress();
    const client = clientOf(wire, `http://127.0.0.1:${silent.port}/v1`);
    const begun = performance.now();
    const played = await play(client, requestOf("x"), bound());
    const took = performance.now() - begun;
    assertEquals(outcome(played), [
      "",
      "timeout",
      true,
      `Cannot connect to 127.0.0.1:${silent.port} within 1 s: nothing answers there ` +
      "(check the base URL, the network and the firewall)",
    ]);
    assert(took >= LIMIT_MS - 5 && took < patient(LIMIT_MS), `${took} ms`);
    // Neither the request nor the question goes on behind the answer.
    await eventually(async () => await silent.attempts() === 0, 2_000, "the attempts to end");
  });

  silentTest(`${wire}: a cancel ends the call at once, before and while the address is asked`, async () => {
    await using silent = await openSilentAddress();
    // The request alone; the request and the question.
    for (const [connectMs, attempts] of [[400_000, 1], [6_000, 2]] as const) {
      const client = clientOf(wire, `http://127.0.0.1:${silent.port}/v1`, { connectMs });
      const controller = new AbortController();
      const playing = play(client, requestOf("x"), controller.signal);
      await eventually(async () => await silent.attempts() === attempts, 6_000, "the attempts");
      controller.abort();
      const { failure, done, batches } = await playing;
      assertEquals([failure, done, batches], [null, null, 0]);
      await eventually(async () => await silent.attempts() === 0, 2_000, "the attempts to end");
    }
  });

  Deno.test(`${wire}: a server that takes the connection and is slow to answer is waited for`, async () => {
    const asked = Promise.withResolvers<void>();
    const found: Reach[] = [];
    const watched: Platform = {
      ...platform,
      reach: async (url, options) => {
        found.push(await platform.reach(url, options));
        asked.resolve();
        return found[0]!;
      },
    };
    await using server = await startModelServer({
      respond: async () => {
        await asked.promise;
        // The whole limit is over before a byte comes.
        await platform.clock.delay(LIMIT_MS);
        return { steps: [{ text: "late" }] };
      },
    });
    const played = await play(clientOf(wire, server.url, { platform: watched }), requestOf("x"), bound());
    assertEquals(outcome(played), ["late", undefined, undefined, undefined]);
    assertEquals(found, [{ address: `127.0.0.1:${server.port}`, isProxy: false, isSilent: false }]);
  });
}

Deno.test("core.md A.5: an answer that comes in time leads to no question", async () => {
  let questions = 0;
  const counted: Platform = {
    ...platform,
    reach: (url, options) => {
      questions++;
      return platform.reach(url, options);
    },
  };
  await using server = await startModelServer({
    turns: [{ steps: [{ text: "a" }, { delay_ms: 3 * LIMIT_MS }, { text: "b" }] }],
  });
  const played = await play(clientOf("chat_completions", server.url, { platform: counted }), requestOf("x"));
  assertEquals([played.text, questions], ["ab", 0]);
});

Deno.test("core.md A.5: behind a silent proxy the message names the proxy and its variables", async () => {
  await using server = await startModelServer({ turns: [{ steps: [{ stall: true }] }] });
  const proxied: Platform = {
    ...platform,
    fetch: (_, init) =>
      new Promise((_, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal!.reason))),
    reach: () => Promise.resolve({ address: "proxy.test:3128", isProxy: true, isSilent: true }),
  };
  const { failure } = await play(
    clientOf("chat_completions", server.url, { platform: proxied }),
    requestOf("x"),
    bound(),
  );
  assertEquals([failure?.kind, failure?.message], [
    "timeout",
    `Cannot connect to 127.0.0.1:${server.port} within 1 s: the proxy proxy.test:3128 does not answer ` +
    "(check HTTPS_PROXY, HTTP_PROXY and NO_PROXY, and the network)",
  ]);
});
