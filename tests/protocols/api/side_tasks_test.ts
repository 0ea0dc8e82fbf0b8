import { isSideTask } from "@/protocols/api/side_tasks.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const QUOTED = "<chat_history>\nUSER: hello\n</chat_history>";

Deno.test("C4: a side task is a task with a quoted conversation, and nothing before it", () => {
  assertEquals(isSideTask(`### Task:\nName it.\n${QUOTED}`, []), true);
  assertEquals(isSideTask(`### Task:\r\n${QUOTED}`, []), true);
  assertEquals(isSideTask(`### Task:\nName it.\n${QUOTED}`, [{ role: "user", content: "hi" }]), false);
  assertEquals(isSideTask(`What is this?\n### Task:\n${QUOTED}`, []), false);
  assertEquals(isSideTask("### Task:\n</chat_history> before <chat_history>", []), false);
  assertEquals(isSideTask(`### Tasks\n${QUOTED}`, []), false);
});

Deno.test("C4: many beginnings without an end are not followed one by one", () => {
  const text = `### Task:\n${"<chat_history>".repeat(3_000)}`;
  const time = (look: () => boolean): number => {
    const begun = performance.now();
    assertEquals(look(), false);
    return performance.now() - begun;
  };
  const quick = Math.min(...[1, 2, 3].map(() => time(() => isSideTask(text, []))));
  assert(quick < time(() => /<chat_history>[^]*<\/chat_history>/.test(text)) / 4);
});
