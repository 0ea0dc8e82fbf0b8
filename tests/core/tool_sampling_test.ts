/** What a server of the outside is told when the model gives it no answer (core.md G.1 `sampling`). */
import { createRedactor } from "@/lib/redact.ts";
import { AbortError } from "@/lib/abort.ts";
import type { SampleRequest } from "../../src/core/sampler.ts";
import { sampleFor } from "../../src/core/tool_sampling.ts";
import type { Running } from "../../src/core/tool_running.ts";
import type { TurnScope } from "../../src/core/turn_scope.ts";
import type { FitImage, Message } from "@/core/mod.ts";
import { ImageRefusal } from "@/core/mod.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { base64, png } from "../support/images.ts";

const KEY = "zz-secret-key-0123456789";
const REQUEST = {
  server: "box",
  tool: "mcp__box__sampling",
  title: "?",
  messages: [],
} as unknown as SampleRequest;

function failing(error: Error): Promise<unknown> {
  const guard = {
    redact: createRedactor({ knownSecrets: () => [KEY], enabled: true }),
    reviewCall: () => ({ type: "allow" }),
  };
  const scope = { guard, guardContext: () => ({}), sampler: () => Promise.reject(error) };
  return sampleFor({} as Running, REQUEST, scope as unknown as TurnScope);
}

Deno.test("sampleFor(): why the model failed is told without the keys that the provider repeats; a cancel stays one", async () => {
  const error = await failing(new Error(`Incorrect key: ${KEY}`)).catch((error: Error) => error) as Error;
  assert(error.message.startsWith("Incorrect key: ") && !error.message.includes(KEY), error.message);
  await assertRejects(() => failing(new AbortError()), /abort/i);
});

Deno.test("sampleFor(): images that are larger than models take are made smaller, and why one cannot be is told", async () => {
  const url = (bytes: Uint8Array) => `data:image/png;base64,${base64(bytes)}`;
  const image = (bytes: Uint8Array) => ({
    type: "image_url" as const,
    image_url: { url: url(bytes), detail: "high" },
  });
  const [small, wide, fitted] = [png(9, 9), png(7_901, 1), png(7_900, 1)];
  const messages: Message[] = [
    { role: "user", content: "plain" },
    { role: "user", content: [{ type: "text", text: "look" }, image(wide), image(small)] },
  ];
  const asked: SampleRequest[] = [];
  const scopeWith = (fitImage: FitImage) => ({
    guard: { redact: (text: string) => text, reviewCall: () => ({ type: "allow" }) },
    guardContext: () => ({}),
    sampler: (request: SampleRequest) => Promise.resolve(void asked.push(request)),
    fitImage,
  } as unknown as TurnScope);
  const { signal } = new AbortController();
  const request = { ...REQUEST, messages, signal };
  const fits = scopeWith(() => Promise.resolve({ bytes: fitted, from: [7_901, 1], to: [7_900, 1] }));
  await sampleFor({} as Running, request, fits);
  assertEquals(asked[0]!.messages, [
    messages[0]!,
    { role: "user", content: [{ type: "text", text: "look" }, image(fitted), image(small)] },
  ]);
  const plain = { ...request, messages: [messages[0]!] };
  await sampleFor({} as Running, plain, fits);
  assertEquals(asked[1] === plain, true);
  const refuses = scopeWith(() => Promise.reject(new ImageRefusal("unreadable", "it is damaged")));
  await assertRejects(() => sampleFor({} as Running, request, refuses), /^Error: it is damaged$/);
});
