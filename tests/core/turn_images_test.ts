/** Which images of a turn are made smaller, and what the model and the store get then (core.md B.10, A.11). */
import {
  type Content,
  type CoreEvent,
  type FitImage,
  ImageRefusal,
  NOBODY_TO_ASK,
  SENDABLE,
} from "@/core/mod.ts";
import type { ImageLimits } from "@/lib/image_head.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { base64, png } from "../support/images.ts";
import {
  makeScriptedCore,
  openSession,
  type Reply,
  say,
  type ScriptedCore,
} from "../support/scripted_core.ts";

const url = (bytes: Uint8Array) => `data:image/png;base64,${base64(bytes)}`;
const part = (address: string) => ({ type: "image_url" as const, image_url: { url: address } });
const small = url(png(2, 2));
const wide = url(png(7_901, 1));
const fittedPng = png(7_900, 1);

interface Scene {
  readonly core: ScriptedCore;
  readonly asked: ImageLimits[];
  turn(content: Content): Promise<{ events: CoreEvent[]; outcome: string; stored: Content | null }>;
  /** Image URLs and texts of the newest user message in a request. */
  seen(request: number): string[];
}

async function withImages(answer: FitImage | null, run: (scene: Scene) => Promise<void>): Promise<void> {
  await using core = await makeScriptedCore({
    settings: (settings) => ({ ...settings, agent: { ...settings.agent, image_input_mode: "native" } }),
  });
  const asked: ImageLimits[] = [];
  if (answer) {
    const fitImage: FitImage = (image, limits, signal) => {
      asked.push(limits);
      return answer(image, limits, signal);
    };
    Object.assign(core.services, { fitImage });
  }
  const { session, events } = await openSession(core);
  await run({
    core,
    asked,
    turn: async (content) => {
      const from = events.length;
      const { outcome } = await session.submit({ content }, { asks: NOBODY_TO_ASK }).done;
      const stored = session.history().findLast((message) => message.role === "user")!.content;
      return { events: events.slice(from), outcome, stored };
    },
    seen: (request) => {
      const content = core.requests[request]!.messages.findLast((message) => message.role === "user")!
        .content!;
      if (typeof content === "string") return [content];
      return content.map((one) => one.type === "text" ? one.text : one.image_url.url);
    },
  });
}

const fits: FitImage = () => Promise.resolve({ bytes: fittedPng, from: [7_901, 1], to: [7_900, 1] });

Deno.test("B.10: an image within the limits is sent and stored byte for byte", async () => {
  await withImages(fits, async ({ core, asked, turn, seen }) => {
    core.push(say("ok"));
    const content = [{ type: "text" as const, text: "look" }, part(small), part("https://a.test/huge.png")];
    const { stored } = await turn(content);
    assertEquals([stored, seen(0), asked.length], [content, ["look", small, "https://a.test/huge.png"], 0]);
  });
});

Deno.test("B.10: a larger one is made smaller once, in the request and in the store, and that is told", async () => {
  await withImages(fits, async ({ core, asked, turn, seen }) => {
    core.push(say("ok"), say("ok"));
    const { stored, events } = await turn([part(wide), part(small), part(wide)]);
    const fitted = url(fittedPng);
    assertEquals([seen(0), asked], [[fitted, small, fitted], [SENDABLE]]);
    assertEquals(stored, [part(fitted), part(small), part(fitted)]);
    const told = events.flatMap((event) => event.type === "status" ? [event.text] : []);
    assertEquals(told, ["Making a large image smaller"]);
    await turn("and now?");
    assertEquals(asked.length, 1);
  });
});

Deno.test("B.10: one that cannot be made smaller is left out in words, and the turn goes on", async () => {
  const refuse: FitImage = () => Promise.reject(new ImageRefusal("unreadable", "it is damaged"));
  await withImages(refuse, async ({ core, turn, seen }) => {
    core.push(say("ok"));
    const { events, outcome } = await turn([part(wide), part(small)]);
    assertEquals([outcome, seen(0)], ["completed", ["[An image was left out: it is damaged]", small]]);
    const warned = events.flatMap((event) =>
      event.type === "status" && event.kind === "warn" ? [event.text] : []
    );
    assertEquals(warned, ["An image was left out: it is damaged"]);
  });
});

Deno.test("B.10: a vector image is left out in words, whatever type it came under", async () => {
  await withImages(fits, async ({ core, asked, turn, seen }) => {
    core.push(say("ok"));
    const svg = base64(new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"/>'));
    const xml = base64(new TextEncoder().encode('<?xml version="1.0"?><svg/>'));
    await turn([
      part(`data:image/svg+xml;base64,${svg}`),
      part(`data:image/png;base64,${xml}`),
      part("data:image/svg+xml,<svg/>"),
      part(small),
    ]);
    const note = "[An image was left out: it is a vector image (SVG), which models do not look at: " +
      "make a PNG of it, or have its text read]";
    assertEquals([seen(0), asked.length], [[note, note, note, small], 0]);
  });
});

const refuses: Reply = [[{
  type: "error",
  toolInFlight: false,
  failure: {
    kind: "format_error",
    message: "image exceeds 5 MB maximum",
    imageTooLarge: true,
    provider: "fake",
    model: "m",
    retryable: false,
  },
}]];

Deno.test("A.11 image_too_large: images are made smaller than 5 MB and sent once more; the store keeps those", async () => {
  const heavy = `data:image/png;base64,${base64(png(9, 9))}${"A".repeat(6 << 20)}`;
  await withImages(fits, async ({ core, asked, turn, seen }) => {
    core.push(refuses, say("seen"));
    const { outcome, stored } = await turn([part(heavy), part(small)]);
    assertEquals([outcome, core.requests.length], ["completed", 2]);
    assertEquals([seen(0), seen(1)], [[heavy, small], [url(fittedPng), small]]);
    assertEquals(asked, [{ maxSide: 7_900, maxBytes: 3_932_160 }]);
    assertEquals(stored, [part(url(fittedPng)), part(small)]);
    assertEquals(core.requests.map(({ shrinks }) => shrinks), [true, undefined]);
  });
  // What is small already is not sent again, nor is anything a third time.
  for (const [image, sent] of [[small, 1], [heavy, 2]] as const) {
    await withImages(fits, async ({ core, turn }) => {
      core.push(refuses, refuses, refuses);
      assertEquals([(await turn([part(image)])).outcome, core.requests.length], ["failed", sent]);
    });
  }
});

Deno.test("B.10: a cancel while an image is made smaller ends the turn as cancelled, and nothing is sent", async () => {
  let begun = () => {};
  const hangs: FitImage = (_image, _limits, signal) => {
    begun();
    return new Promise((_, reject) =>
      signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")))
    );
  };
  await withImages(hangs, async ({ core }) => {
    const { session } = await openSession(core);
    const started = new Promise<void>((resolve) => begun = resolve);
    const handle = session.submit({ content: [part(wide)] }, { asks: NOBODY_TO_ASK });
    await started;
    session.interrupt();
    assertEquals([(await handle.done).outcome, core.requests.length], ["cancelled", 0]);
    assert(session.history().length > 0);
  });
});
