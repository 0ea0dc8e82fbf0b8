import { createFitImage, type Eyes, type Tool } from "@/core/mod.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { createVisionAnalyze } from "../../src/tools/vision_analyze.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "../support/assert.ts";
import { imageSize } from "@/lib/image_head.ts";
import { gif, join, png } from "../support/images.ts";
import { type Bench, type Json, makeBench } from "./context.ts";

const PNG_TEXT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PNG = Uint8Array.from(atob(PNG_TEXT), (char) => char.charCodeAt(0));
const tool: Tool = createVisionAnalyze();

/** A PNG that says it is so large. */
function sized(width: number, height: number): Uint8Array {
  const bytes = PNG.slice();
  const view = new DataView(bytes.buffer);
  view.setUint32(16, width);
  view.setUint32(20, height);
  return bytes;
}

interface Seen {
  readonly url: string;
  readonly question: string;
}

async function withVision(
  options: {
    native?: boolean;
    look?: () => Promise<string>;
    serve?(url: string): Response | Promise<Response>;
  },
  run: (scene: {
    bench: Bench;
    seen: Seen[];
    asked: string[];
    analyze(
      image: string,
      question?: string,
      signal?: AbortSignal,
    ): Promise<{ body: Json; isError: boolean; parts: Json[] }>;
  }) => Promise<void>,
): Promise<void> {
  const seen: Seen[] = [];
  const asked: string[] = [];
  await using bench = await makeBench({
    settings: { security: { allow_private_urls: false, redact_secrets: true } },
    platform: {
      resolve: () => Promise.resolve(["93.184.216.34"]),
      fetchAt: async (url) => {
        asked.push(url);
        return await options.serve?.(url) ?? new Response(PNG);
      },
      clock: { ...bareClock, delay: () => Promise.resolve() },
    },
  });
  const eyes: Eyes = {
    native: options.native ?? false,
    describer: "painter",
    look: (url, question) => {
      seen.push({ url, question });
      return options.look?.() ?? Promise.resolve("a red dot");
    },
  };
  await run({
    bench,
    seen,
    asked,
    analyze: async (image_url, asked, signal) => {
      const question = asked ?? "What?";
      const fitImage = createFitImage({
        platform: createDenoPlatform(),
        home: bench.home,
        env: () => Deno.env.toObject(),
      });
      const overrides = { eyes, fitImage };
      const call = signal ? { signal, overrides } : { overrides };
      const { content, isError } = await tool.execute({ image_url, question }, bench.context(call));
      const parts = typeof content === "string" ? [] : content as unknown as Json[];
      return { body: JSON.parse(typeof content === "string" ? content : parts[0]!["text"]), isError, parts };
    },
  });
}

const bareClock = { now: () => 0, monotonic: () => 0 };

Deno.test("vision_analyze shows a file, a web image and a data URL to the model that describes", async () => {
  await withVision({}, async ({ bench, seen, asked, analyze }) => {
    await bench.write("dot.txt", PNG);
    const sources = [
      "dot.txt",
      `${bench.dir}/dot.txt`,
      "https://a.test/dot",
      `data:image/jpeg;base64,${PNG_TEXT}`,
    ];
    for (const source of sources) {
      assertEquals((await analyze(source, "Which colour?")).body, { success: true, analysis: "a red dot" });
    }
    assertEquals(new Set(seen.map(({ url }) => url)), new Set([`data:image/png;base64,${PNG_TEXT}`]));
    assertEquals(seen[0]!.question, "Which colour?");
    assertEquals(asked, ["https://a.test/dot"]);
  });
});

Deno.test("vision_analyze gives the image itself where the session's model takes it", async () => {
  await withVision({ native: true }, async ({ bench, seen, analyze }) => {
    await bench.write("dot.png", PNG);
    const { body, parts, isError } = await analyze("dot.png");
    assertEquals(isError, false);
    assertEquals(body, {
      success: true,
      image_url: "dot.png",
      size_bytes: PNG.length,
      native_vision: true,
      question: "What?",
    });
    assertEquals(parts[1], { type: "image_url", image_url: { url: `data:image/png;base64,${PNG_TEXT}` } });
    const data = await analyze(`data:image/png;base64,${PNG_TEXT}`);
    assertEquals(data.body["image_url"], "data:image/png;base64,…");
    assertEquals(seen, []);
  });
});

Deno.test("vision_analyze refuses what is no image, vector images, and large ones that cannot be made smaller", async () => {
  await withVision({}, async ({ bench, seen, analyze }) => {
    await bench.write("a.png", "plain text");
    await bench.write("b.svg", '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>');
    await bench.write("wide.png", sized(7_901, 10));
    await bench.write("fits.png", sized(7_900, 7_900));
    await bench.write("short.png", PNG.subarray(0, 10));
    await bench.write("bomb.png", sized(60_000, 60_000));
    const error = async (source: string) => {
      const { body, isError } = await analyze(source);
      assertEquals([isError, body["success"]], [true, false]);
      assertEquals(
        body["analysis"],
        "The image could not be looked at, so nothing is known about what it shows.",
      );
      return body["error"] as string;
    };
    assertEquals(
      await error("a.png"),
      "This is no image that can be looked at (PNG, JPEG, GIF, WebP or BMP)",
    );
    assertMatch(await error("b.svg"), /^SVG images are not looked at/);
    assertMatch(
      await error("wide.png"),
      /^The image has 7901×10 pixels and 70 bytes, too many to be sent; it is damaged or of a kind/,
    );
    assertMatch(await error("short.png"), /^The image is damaged/);
    assertMatch(
      await error("bomb.png"),
      /^The image has 60000×60000 pixels and 70 bytes, too many to be sent; it has .* more than the 100 million/,
    );
    assertMatch(await error("none.png"), /^File not found: /);
    assertMatch(await error("."), /is not a file$/);
    assertMatch(await error("/dev/zero"), /^Access denied/);
    assertMatch(await error("ftp://a.test/x"), /^Only http, https and data URLs/);
    assertMatch(await error("data:image/png,abc"), /^A data URL must be base64/);
    assertMatch(await error("data:image/png;base64,%%%"), /not valid base64/);
    assertEquals(seen, []);
    assertEquals((await analyze("fits.png")).isError, false);
  });
});

Deno.test("B.10: vision_analyze makes a larger image smaller, by its side or its bytes, and says so", async () => {
  await withVision({ native: true }, async ({ bench, analyze }) => {
    const seen = async (name: string) => {
      const { body, parts } = await analyze(name);
      const data = (parts[1]!["image_url"] as Json)["url"] as string;
      const bytes = Uint8Array.from(atob(data.slice(data.indexOf(",") + 1)), (char) => char.charCodeAt(0));
      assertEquals(body["size_bytes"], bytes.length);
      return [data.slice(0, data.indexOf(";")), imageSize(bytes), body["made_smaller_from"]];
    };
    await bench.write("wide.png", png(15_800, 100));
    assertEquals(await seen("wide.png"), ["data:image/png", [7_900, 50], "15800×100"]);
    // Heavy by what stands behind the image, so it keeps its pixels.
    await bench.write("heavy.gif", join(gif(40, 30, [[9, 9, 9], [1, 2, 3]], 1), new Uint8Array(15 << 20)));
    assertEquals(await seen("heavy.gif"), ["data:image/png", [40, 30], "40×30"]);
    await bench.write("fits.png", join(png(40, 30), new Uint8Array(1 << 20)));
    assertEquals(await seen("fits.png"), ["data:image/png", [40, 30], undefined]);
  });
});

Deno.test("core 46: vision_analyze opens no private address, no secret-bearing URL, no private redirect", async () => {
  const serve = () => new Response(null, { status: 302, headers: { location: "http://[::1]/" } });
  await withVision({ serve }, async ({ analyze, asked }) => {
    for (
      const url of [
        "http://127.0.0.1/x.png",
        "http://169.254.169.254/x",
        "https://a.test/?token=1",
        "http://a.test/",
      ]
    ) {
      assertMatch((await analyze(url)).body["error"], /^Blocked: /, url);
    }
    assertEquals(asked, ["http://a.test/"]);
  });
});

Deno.test("vision_analyze tries a download three times, and only where that can help", async () => {
  let n = 0;
  await withVision(
    { serve: () => ++n < 3 ? new Response("", { status: 503 }) : new Response(PNG) },
    async ({ analyze }) => {
      assertEquals((await analyze("http://a.test/x")).body["success"], true);
      assertEquals(n, 3);
    },
  );
  await withVision({ serve: () => new Response("", { status: 500 }) }, async ({ analyze, asked }) => {
    assertEquals(
      (await analyze("http://a.test/x")).body["error"],
      "The image cannot be fetched: the server answered with status 500",
    );
    assertEquals(asked.length, 3);
  });
  await withVision({ serve: () => new Response("", { status: 404 }) }, async ({ analyze, asked }) => {
    assertMatch((await analyze("http://a.test/x")).body["error"], /status 404$/);
    assertEquals(asked.length, 1);
  });
});

Deno.test("vision_analyze tells a failure of the describing model, and ends with the turn", async () => {
  await withVision({ look: () => Promise.reject(new Error("overloaded")) }, async ({ bench, analyze }) => {
    await bench.write("dot.png", PNG);
    const { body, isError } = await analyze("dot.png");
    assertEquals([isError, body["success"], body["error"]], [true, false, "overloaded"]);
  });
  const controller = new AbortController();
  const serve = () => {
    controller.abort();
    return new Promise<Response>(() => {});
  };
  await withVision({ serve }, async ({ analyze }) => {
    await assertRejects(() => analyze("http://a.test/x", "?", controller.signal), /aborted/);
  });
});

Deno.test("vision_analyze is offered only where something can see, and describes its call", () => {
  const context = { platform: {} as never, settings: {} as never, canClarify: true };
  assertEquals([tool.available!(context), tool.available!({ ...context, images: true })], [false, true]);
  const shown = tool.describe({ image_url: "a/b.png", question: "Q" }, { cwd: "/w" });
  assertEquals(shown, {
    title: "look at: a/b.png",
    label: "a/b.png",
    kind: "read",
    locations: [{ path: "/w/a/b.png" }],
    startText: "Q",
  });
  const data = tool.describe({ image_url: `data:image/png;base64,${"A".repeat(9_000)}` }, { cwd: "/w" });
  assertEquals([data.title, data.locations], ["look at: data:image/png;base64,…", []]);
  assert(tool.describe({}, { cwd: "/w" }).label === "");
  assertEquals(tool.paths!({ image_url: "https://a.test/x" }, { cwd: "/w" }), []);
});
