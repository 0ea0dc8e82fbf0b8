/** What `hermes mcp test` and `login` say to do. */
import type { McpServerStatus } from "@/core/contract.ts";
import { adviceFor, adviceForError } from "@/cli/mcp_advice.ts";
import { assertEquals } from "../support/assert.ts";

function failed(transport: McpServerStatus["transport"], error: string): McpServerStatus {
  return { name: "box", transport, tools: 0, connected: false, disabled: false, status: "failed", error };
}

Deno.test("a program whose line broke is not told to mend its url", () => {
  const byHand = "run the command of the entry by hand and see what it says";
  assertEquals(adviceFor(failed("stdio", "Not connected"), 15), byHand);
  assertEquals(adviceFor(failed("stdio", "write EPIPE"), 15), byHand);
  assertEquals(adviceFor(failed("stdio", "the program ended with code 1"), 15), byHand);
  assertEquals(adviceFor(failed("http", "Connection refused"), 15), "start the server, or mend url");
});

Deno.test("a failure that names the login itself needs no further word", () => {
  assertEquals(adviceForError("it wants a login; run: hermes mcp login box", "box"), null);
  assertEquals(adviceForError("the authorisation server says access_denied", "box"), null);
});
