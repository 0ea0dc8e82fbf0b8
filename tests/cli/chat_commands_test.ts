import { assertEquals } from "../support/assert.ts";
import { isCommand } from "@/cli/chat_commands.ts";

Deno.test("isCommand() tells a command from a path", () => {
  assertEquals(["/help", "/model x", "/?"].map(isCommand), [true, true, true]);
  assertEquals(["/etc/hosts what is this", "/", "a /help", "//x"].map(isCommand), [
    false,
    false,
    false,
    false,
  ]);
});
