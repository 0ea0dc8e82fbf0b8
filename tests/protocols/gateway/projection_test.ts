import { assertEquals } from "../../support/assert.ts";
import type { Hermes } from "../../../src/app/mod.ts";
import type { Message } from "../../../src/core/mod.ts";
import { renderTranscript } from "../../../src/protocols/gateway/projection.ts";

const hermes = {
  redact: (text: string) => text.replaceAll("s3cret", "***"),
  tools: [{ name: "terminal", describe: (args: { command?: string }) => ({ label: String(args.command) }) }],
} as unknown as Hermes;

function project(...messages: Message[]): Record<string, unknown>[] {
  return renderTranscript(hermes, messages, "/w");
}

Deno.test("rows of people and of the model are shown with their durable ids", () => {
  assertEquals(
    project(
      { role: "user", content: "hi", rowId: 1, timestamp: 5 },
      { role: "assistant", content: "hello", reasoning: "hm", rowId: 2 },
    ),
    [
      { role: "user", text: "hi", row_id: 1, timestamp: 5 },
      { role: "assistant", text: "hello", reasoning: "hm", row_id: 2 },
    ],
  );
});

Deno.test("machinery is left out: hidden rows, [System: rows, answers without text and reasoning", () => {
  assertEquals(
    project(
      { role: "user", content: "secretly", displayKind: "hidden" },
      { role: "user", content: "[System: The model changed]", displayKind: "model_switch" },
      { role: "assistant", content: null, toolCalls: [{ id: "c", name: "terminal", arguments: "{}" }] },
      { role: "assistant", content: "" },
      { role: "assistant", content: null, reasoning: "only thought" },
    ),
    [{ role: "assistant", text: "", reasoning: "only thought" }],
  );
});

Deno.test("other timeline rows keep their kind; a seeded system row is one", () => {
  assertEquals(
    project(
      { role: "user", content: "go left", displayKind: "steer" },
      { role: "user", content: "[System: be brief]", displayText: "be brief", displayKind: "system" },
    ),
    [
      { role: "user", text: "go left", display_kind: "steer" },
      { role: "system", text: "be brief", display_kind: "system" },
    ],
  );
});

Deno.test("a tool row has its label and its arguments, secrets out; unreadable arguments are none", () => {
  const long = "x".repeat(100);
  assertEquals(
    project(
      {
        role: "assistant",
        content: null,
        toolCalls: [
          { id: "a", name: "terminal", arguments: '{"command":"echo s3cret","deep":["s3cret"]}' },
          { id: "b", name: "gone", arguments: "{bad" },
          { id: "c", name: "terminal", arguments: `{"command":"${long}"}` },
        ],
      },
      { role: "tool", toolCallId: "a", toolName: "terminal", content: "ok", rowId: 3 },
      { role: "tool", toolCallId: "b", toolName: "gone", content: "ok" },
      { role: "tool", toolCallId: "c", toolName: "terminal", content: "ok" },
    ),
    [
      {
        role: "tool",
        name: "terminal",
        context: "echo ***",
        tool_call_id: "a",
        args: { command: "echo ***", deep: ["***"] },
        row_id: 3,
      },
      { role: "tool", name: "gone", context: "", tool_call_id: "b", args: {} },
      {
        role: "tool",
        name: "terminal",
        context: long.slice(0, 80),
        tool_call_id: "c",
        args: { command: long },
      },
    ],
  );
});

Deno.test("content of several parts becomes text, images as their address or a label", () => {
  const content = [
    { type: "text", text: "look" },
    { type: "image_url", image_url: { url: "https://x.test/a.png" } },
    { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
  ] as const;
  assertEquals(project({ role: "user", content })[0]!["text"], "look\nhttps://x.test/a.png\n[image]");
});

Deno.test("an expanded skill is shown as it was typed; a text that only looks like one is text", () => {
  const head = '[The user runs the skill "deploy" (folder /s/deploy). Follow its instructions.]\n\nShip.';
  const shown = (content: string) => project({ role: "user", content })[0];
  const marks = { display_kind: "skill_invocation", display_metadata: { skill: "deploy" } };
  assertEquals(shown(head), { role: "user", text: "/deploy", ...marks });
  assertEquals(shown(`${head}\n\nThe user adds:\nnow, please`), {
    role: "user",
    text: "/deploy now, please",
    ...marks,
  });
  assertEquals(shown(`He said: ${head}`), { role: "user", text: `He said: ${head}` });
});
