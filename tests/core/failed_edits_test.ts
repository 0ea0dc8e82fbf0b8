/** core.md A.8 `display.file_mutation_verifier`: what is told below an answer of edits that failed. */
import { FailedEdits } from "../../src/core/failed_edits.ts";
import type { Settings, Tool } from "../../src/core/mod.ts";
import { assertEquals } from "../support/assert.ts";
import { makeScriptedCore, openSession, prompt, say } from "../support/scripted_core.ts";
import { callTools } from "./turn_support.ts";

type Noted = Parameters<FailedEdits["note"]>;

function note(
  edits: FailedEdits,
  paths: string[],
  outcome: { error?: string; made?: string[]; refused?: Noted[3]; propose?: boolean },
): void {
  const content = outcome.error === undefined ? "{}" : JSON.stringify({ error: outcome.error });
  const tool = outcome.propose === false ? {} : { propose: () => {} };
  const made = (outcome.made ?? []).map((path) => ({ path, oldText: null, newText: "x" }));
  edits.note(
    { tool, paths } as unknown as Noted[0],
    { content, isError: outcome.error !== undefined, edits: made },
    content,
    outcome.refused ?? null,
  );
}

Deno.test("a failed edit is listed with the first line of its reason, below the session's directory by a short name", () => {
  const edits = new FailedEdits("/w");
  note(edits, ["/w/src/a.ts"], { error: "old_string not found\nDid you mean …" });
  note(edits, ["/etc/b"], { error: "protected", refused: "policy" });
  note(edits, ["/w/c"], { error: "x".repeat(300), refused: "unattended" });
  note(edits, ["/w/d"], { error: "Nothing was changed:\n• d: line 3 does not match\n• e: neither" });
  note(edits, ["/w/e"], { error: "" });
  assertEquals(
    edits.footer(),
    "Edits that failed and were not made up for in this turn:\n" +
      "- src/a.ts: old_string not found\n- /etc/b: protected\n" + `- c: ${"x".repeat(199)}…\n` +
      "- d: Nothing was changed: • d: line 3 does not match\n- e: no reason was given",
  );
});

Deno.test("not listed: made up for, denied, cancelled, no edits at all", () => {
  const edits = new FailedEdits("/w");
  note(edits, ["/w/a"], { error: "no" });
  note(edits, ["/w/a"], { made: ["/w/a"] });
  note(edits, ["/w/b"], { error: "no" });
  note(edits, ["/w/other"], { made: ["/w/b"] });
  note(edits, ["/w/c"], { error: "the user said no", refused: "denied" });
  note(edits, ["/w/d"], { error: "skipped", refused: "cancelled" });
  note(edits, ["/w/e"], { error: "cannot be read", propose: false });
  assertEquals(edits.footer(), "");
});

Deno.test("five at most, then their number", () => {
  const edits = new FailedEdits("/w");
  note(edits, ["/w/1", "/w/2", "/w/3", "/w/4", "/w/5", "/w/6", "/w/7"], { error: "no" });
  assertEquals(edits.footer().split("\n").slice(-3), ["- 4: no", "- 5: no", "- and 2 more"]);
});

/** An edit tool whose result is its argument `error`. */
const EDIT: Tool = {
  name: "write_file",
  toolset: "test",
  description: "",
  parameters: { type: "object", properties: { path: { type: "string" }, error: { type: "string" } } },
  parallel: "path",
  describe: () => ({ title: "write", label: "", kind: "edit", locations: [], startText: "" }),
  paths: ({ path }) => [String(path)],
  propose: ({ path }) =>
    Promise.resolve({
      toolName: "write_file",
      path: String(path),
      oldText: null,
      newText: "x",
      arguments: {},
      paths: [String(path)],
      edits: [{ path: String(path), oldText: null, newText: "x" }],
    }),
  execute: ({ error }) =>
    Promise.resolve({ content: JSON.stringify(error ? { error } : {}), isError: error !== undefined }),
};

const tryIt = () => callTools(["c1", "write_file", '{"path":"/x/a","error":"disk full\\nmore"}']);
const FOOTER = "Edits that failed and were not made up for in this turn:\n- /x/a: disk full";

Deno.test("core A.8: the footer is on the stream and in the result, not in the history that the model gets", async () => {
  await using core = await makeScriptedCore({ tools: [EDIT] });
  const { session, events } = await openSession(core);
  core.push(tryIt(), say("All written."));
  const result = await prompt(session, "go");
  assertEquals(result.text, `All written.\n\n${FOOTER}`);
  const shown = events.flatMap((event) => event.type === "text.delta" ? [event.text] : []);
  assertEquals(shown.join(""), result.text);
  const end = events.findLast((event) => event.type === "text.end")!;
  assertEquals(end.type === "text.end" && [end.text, end.final], [result.text, true]);
  const rows = core.services.store().loadMessages(session.headId);
  assertEquals(rows.at(-1)!.content, "All written.");
  core.push(say("ok"));
  assertEquals((await prompt(session, "next")).text, "ok", "another turn, another list");
  assertEquals(core.requests.at(-1)!.messages.at(-2)!.content, "All written.");
});

Deno.test("core E.4: without the setting there is none", async () => {
  const off = (settings: Settings): Settings => ({
    ...settings,
    display: { ...settings.display, file_mutation_verifier: false },
  });
  await using core = await makeScriptedCore({ tools: [EDIT], settings: off });
  const { session } = await openSession(core);
  core.push(tryIt(), say("All written."));
  assertEquals((await prompt(session, "go")).text, "All written.");
});
