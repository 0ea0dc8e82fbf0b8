/** core.md E.4 `display.interim_assistant_messages`: text that came with tool calls, on surfaces that do not want it. */
import { showsInterim, withoutInterim } from "../../src/core/interim.ts";
import type { CoreEventBody, Settings } from "../../src/core/mod.ts";
import { assertEquals } from "../support/assert.ts";
import { done, makeScriptedCore, openSession, prompt, say, text, types } from "../support/scripted_core.ts";

const hidden = (settings: Settings): Settings => ({
  ...settings,
  display: { ...settings.display, interim_assistant_messages: false },
});

const lookFirst = (tool: string) =>
  [
    [text("Let me "), text("look.")],
    [done({ finish: "tool_calls", toolCalls: [{ id: "c1", name: tool, arguments: "{}" }] })],
  ] as const;

Deno.test("showsInterim(): a surface's own setting wins, then the API's, then the one for all", () => {
  const of = (display: object, surface: string, api?: boolean) =>
    showsInterim(
      { display, gateway: { api_server: { interim_assistant_messages: api } } } as unknown as Settings,
      surface,
    );
  const off = { interim_assistant_messages: false };
  assertEquals(["acp", "tui", "api_server", "cli"].map((surface) => of({}, surface)), [
    true,
    true,
    true,
    true,
  ]);
  assertEquals(["acp", "tui", "api_server", "cli"].map((surface) => of(off, surface)), [
    false,
    false,
    false,
    false,
  ]);
  const cliOnly = { platforms: { cli: off } };
  assertEquals([of(cliOnly, "cli"), of(cliOnly, "acp")], [false, true]);
  const notAcp = { ...off, platforms: { acp: { interim_assistant_messages: true } } };
  assertEquals([of(notAcp, "acp"), of(notAcp, "tui")], [true, false]);
  assertEquals(of({ platforms: { gateway: off } }, "tui"), false);
  assertEquals([of({}, "api_server", false), of({}, "tui", false)], [false, true]);
});

Deno.test("withoutInterim(): all but such text passes, the final text comes before its end", () => {
  const seen: CoreEventBody[] = [];
  const publish = withoutInterim((body) => void seen.push(body));
  publish({ type: "step.start", step: 1 });
  publish({ type: "text.delta", text: "Let me" });
  publish({ type: "reasoning.delta", text: "hm" });
  publish({ type: "text.end", text: "Let me", final: false });
  publish({ type: "step.start", step: 2 });
  publish({ type: "text.delta", text: "Do" });
  publish({ type: "text.delta", text: "ne." });
  publish({ type: "text.end", text: "Done.", final: true });
  assertEquals(seen, [
    { type: "step.start", step: 1 },
    { type: "reasoning.delta", text: "hm" },
    { type: "step.start", step: 2 },
    { type: "text.delta", text: "Done." },
    { type: "text.end", text: "Done.", final: true },
  ]);
});

Deno.test("core A.8: such text is not shown, and stays in the history", async () => {
  await using core = await makeScriptedCore({ settings: hidden });
  const { session, events } = await openSession(core);
  core.push(lookFirst("reader"), say("Done."));
  const result = await prompt(session, "go");
  assertEquals(result.text, "Done.");
  const shown = events.flatMap((event) => event.type === "text.delta" ? [event.text] : []);
  assertEquals([shown, types(events).filter((type) => type === "text.end").length], [["Done."], 1]);
  const rows = core.services.store().loadMessages(session.headId);
  assertEquals(rows.map((row) => [row.role, row.content]).filter(([role]) => role === "assistant"), [
    ["assistant", "Let me look."],
    ["assistant", "Done."],
  ]);
});

Deno.test("core A.8 Empty: an answer that came with housekeeping calls is shown all the same", async () => {
  await using core = await makeScriptedCore({ settings: hidden });
  const todo = core.services.tools("tui").find(({ name }) => name === "reader")!;
  (core.services.tools("tui") as object[]).push({ ...todo, name: "todo" });
  const { session, events } = await openSession(core);
  core.push(lookFirst("todo"), [[done()]]);
  const result = await prompt(session, "go");
  assertEquals([result.text, result.exitReason], ["Let me look.", "fallback_prior_turn_content"]);
  const shown = events.flatMap((event) => event.type === "text.delta" ? [event.text] : []);
  assertEquals(shown, ["Let me look."]);
});
