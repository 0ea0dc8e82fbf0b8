/** `/compact` in an editor (acp.md C9, core H.2): the same words as on every surface. */
import { withAcp } from "../../support/acp_driver.ts";
import type { Json } from "../../support/acp_driver.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";

const respond = (request: Json) =>
  JSON.stringify(request.body.messages).includes("Summarise the conversation") ? "THE SUMMARY" : "ok";

Deno.test("core H.2: /compact --preview changes nothing, an unknown option is refused, here 2 keeps two turns", async () => {
  await withAcp({ respond }, async ({ acp, model, sessionId }) => {
    for (let n = 0; n < 6; n++) await acp.prompt(sessionId, `question ${n}`);
    const answer = async (command: string) => {
      const before = acp.text(sessionId).length;
      await acp.prompt(sessionId, command);
      return acp.text(sessionId).slice(before);
    };
    const calls = model.calls().length;
    assertMatch(
      await answer("/compact --preview here 2"),
      /^Preview, nothing was changed: 12 → 5 messages, about [\d,]+ → [\d,]+ tokens\.\nSummarised: 8 messages, about [\d,]+ tokens\. Kept word for word: the last 4 messages\.\nKept: your last 2 turns$/,
    );
    assertMatch(
      await answer("/compress --dry-run"),
      /\/compress has no option --dry-run: use a topic, here,/,
    );
    assertEquals(
      [
        model.calls().length,
        acp.updates(sessionId).filter((u) =>
          u.sessionUpdate === "session_info_update" && u._meta?.hermes?.sessionProvenance?.reason
        ),
      ],
      [calls, []],
    );
    assertMatch(
      await answer("/compact here 2"),
      /^Compressed: 12 → 5 messages, about [\d,]+ → [\d,]+ tokens\.\nKept: your last 2 turns$/,
    );
    assertEquals(model.calls().length, calls + 1);
    assertMatch(await answer("/help"), /\/compact \[here \[N\] \| topic \| --preview\] — /);
  });
});
