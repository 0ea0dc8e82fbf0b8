/** What of a response is cut in the last event of its stream (api-server.md B2.3). */
import {
  callItem,
  messageItem,
  resultItem,
  shortened,
} from "../../../src/protocols/api/render/response_items.ts";
import { assertEquals } from "../../support/assert.ts";

const LONG = "a".repeat(1_200);

function argumentsOf(args: Record<string, unknown>): unknown {
  const item = callItem("fc_1", { callId: "c", name: "write_file", args: JSON.stringify(args) }, "completed");
  return JSON.parse(String(shortened(item).arguments));
}

Deno.test("shortened(): the five long arguments keep 500 characters and say how many more there were; others stay", () => {
  const cut = `${"a".repeat(500)}… [700 more characters]`;
  for (const name of ["content", "query", "pattern", "old_string", "new_string"]) {
    assertEquals(argumentsOf({ path: "x", [name]: LONG }), { path: "x", [name]: cut });
  }
  assertEquals(argumentsOf({ command: LONG, content: "a".repeat(500) }), {
    command: LONG,
    content: "a".repeat(500),
  });
});

Deno.test("shortened(): a result is cut above 1,000 characters, never inside a character; a message is not", () => {
  const textOf = (text: string) =>
    (shortened(resultItem("fco_1", "c", text)).output as { text: string }[])[0]!.text;
  assertEquals(textOf("a".repeat(1_000)), "a".repeat(1_000));
  assertEquals(textOf("a".repeat(1_001)), `${"a".repeat(500)}… [501 more characters]`);
  assertEquals(textOf("a".repeat(499) + "😀".repeat(400)).isWellFormed(), true);
  const message = messageItem("msg_1", LONG, "completed");
  assertEquals(shortened(message), message);
  const odd = callItem("fc_1", { callId: "c", name: "x", args: LONG }, "completed");
  assertEquals(shortened(odd), odd);
});
