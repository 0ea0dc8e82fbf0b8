/** Every kind of content that a server may answer with, as the model reads it (core.md G.2). */
import { textOf, type ToolOutcome } from "@/core/mod.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { callOutcome, promptOutcome, resourceOutcome, type ResultPlace } from "../../src/mcp/results.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { SECRET, unwrap } from "./mcp_support.ts";

async function withPlace(test: (place: ResultPlace, home: string) => Promise<void>): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "hermes-mcp-" });
  const context = {
    platform: createDenoPlatform(),
    home,
    callId: "call/1",
    redact: (text: string) => text.replaceAll(SECRET, "***"),
  };
  await test({ tool: "mcp__box__do", reader: null, context }, home);
  await Deno.remove(home, { recursive: true });
}

// deno-lint-ignore no-explicit-any
const json = (outcome: ToolOutcome): any => JSON.parse(unwrap(textOf(outcome.content)));
const bytes = (...values: number[]) => btoa(String.fromCharCode(...values));

Deno.test("core G.2: audio and blobs are saved, private, and named with their size; one file for each", async () => {
  await withPlace(async (place, home) => {
    const content = [
      { type: "text", text: "two files:" },
      { type: "audio", data: bytes(1, 2, 3), mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "memo:///b", blob: bytes(4, 5), mimeType: "application/x-odd" } },
    ];
    const { result } = json(await callOutcome({ content }, place));
    const folder = `${home}/cache/mcp`;
    assertEquals(result.split("\n"), [
      "two files:",
      `[audio (audio/wav), 3 bytes, saved to ${folder}/call_1-0-1.wav]`,
      `[resource memo:///b (application/x-odd), 2 bytes, saved to ${folder}/call_1-0-2.bin]`,
    ]);
    assertEquals([...await Deno.readFile(`${folder}/call_1-0-2.bin`)], [4, 5]);
    assertEquals((await Deno.stat(`${folder}/call_1-0-1.wav`)).mode! & 0o777, 0o600);
  });
});

Deno.test("core G.2: what is over 50 MB, no base64 or nothing at all is said and not saved", async () => {
  await withPlace(async (place, home) => {
    const content = [
      { type: "image", data: "A".repeat(Math.ceil((50 << 20) / 3) * 4 + 4), mimeType: "image/png" },
      { type: "image", data: "not base64!", mimeType: "image/png" },
      { type: "audio", mimeType: "audio/wav" },
    ];
    assertEquals(json(await callOutcome({ content }, place)).result.split("\n"), [
      "[image: larger than 50 MB, left out]",
      "[image: its data is not base64]",
      "[audio: no data]",
    ]);
    assertEquals([...Deno.readDirSync(home)], []);
  });
});

Deno.test("core G.2: links are named, with the read tool where there is one; unknown blocks come as they are", async () => {
  await withPlace(async (place) => {
    const content = [
      { type: "resource_link", uri: "memo:///a", title: "Notes" },
      { type: "hologram", data: 1 },
      "loose text",
      7,
    ];
    const plain = json(await callOutcome({ content }, place)).result.split("\n");
    assertEquals(plain, ["[resource Notes: memo:///a]", '{"type":"hologram","data":1}', "loose text"]);
    const read = await callOutcome({ content: content.slice(0, 1) }, {
      ...place,
      reader: "mcp__box__read_resource",
    });
    assertEquals(json(read).result, "[resource Notes: memo:///a; read it with mcp__box__read_resource]");
  });
});

Deno.test("core G.2: an error is an error without secrets, also one without words", async () => {
  await withPlace(async (place) => {
    const failed = await callOutcome(
      { isError: true, content: [{ type: "text", text: `key ${SECRET} is wrong` }] },
      place,
    );
    assertEquals([failed.isError, json(failed)], [true, { error: "key *** is wrong" }]);
    assertMatch(json(await callOutcome({ isError: true }, place)).error, /failed without a text/);
  });
});

Deno.test("core G.2: resources and prompts: texts inline, bytes in files, roles and descriptions kept", async () => {
  await withPlace(async (place) => {
    const contents = [{ uri: "memo:///a", text: "words" }, { uri: "memo:///b", blob: bytes(1) }];
    const { result } = json(await resourceOutcome({ contents }, place));
    assertMatch(result, /^words\n\[resource memo:\/\/\/b, 1 bytes, saved to .*-0-1\.bin\]$/);
    const messages = [
      { role: "user", content: { type: "text", text: "Hello" } },
      { role: "assistant", content: [{ type: "image", data: bytes(9), mimeType: "image/gif" }] },
      "odd",
    ];
    const prompt = json(await promptOutcome({ description: "Greets", messages }, place));
    assertEquals(prompt.description, "Greets");
    assertEquals(prompt.messages.map((message: { role: string }) => message.role), ["user", "assistant"]);
    assert(prompt.messages[1].content.endsWith("-1-0.gif]"));
  });
});
