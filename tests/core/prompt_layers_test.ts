/** Where a caller's words stand in the system prompt (core A.4). */
import { HELP } from "../../src/core/prompt_guidance.ts";
import { withCallersText } from "../../src/core/prompt_layers.ts";
import { assertEquals } from "../support/assert.ts";

const FACTS = "Conversation started: Monday, November 30, 2026\nModel: m\nProvider: p";
const PROJECT = "# Project Context\n\n## AGENTS.md\n\nRules.";
const MEMORY = "# Memory (your notes from earlier sessions; 1% — 5/2200 chars)\nnotes";
const USER = "# User (what you know about the user; 1% — 5/1375 chars)\nname";

Deno.test("core A.4: a caller's text follows the stable layer, before project, memories and facts", () => {
  const stable = ["I am Ada.\n\n# Project Context\n\nnot here", HELP, "Platform."];
  for (const rest of [[PROJECT, MEMORY, USER], [PROJECT], [MEMORY, USER], [USER], []]) {
    const prompt = [...stable, ...rest, FACTS].join("\n\n");
    assertEquals(
      withCallersText(prompt, "Speak in verse."),
      [...stable, "Speak in verse.", ...rest, FACTS].join("\n\n"),
    );
    assertEquals(withCallersText(prompt, ""), prompt);
  }
});

Deno.test("core A.4: a heading inside the project's own text moves nothing, and a prompt without layers keeps its text", () => {
  const prompt = [HELP, `${PROJECT}\n\n${MEMORY}\n\n${FACTS}`, FACTS].join("\n\n");
  assertEquals(withCallersText(prompt, "X"), prompt.replace(`\n\n${PROJECT}`, () => `\n\nX\n\n${PROJECT}`));
  assertEquals(withCallersText("Only this.", "X"), "Only this.\n\nX");
  assertEquals(withCallersText("", "X"), "X");
});
