/** What a background process does after its call: told in the running turn, by a turn of its own, or with the next prompt. */
import { calling, sent, shell, strictFault, withCore } from "../../support/core_driver.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const started = (script: string) => shell(script, { background: true, notify_on_complete: true });

Deno.test("core B.4: the end of a background process starts a turn of its own on an idle gateway session", async () => {
  const turns = [calling(started("read x < gate; echo built; exit 3")), "started", "I see, it failed."];
  await withCore({ model: { turns } }, async ({ rig, model, host, open }) => {
    await new Deno.Command("mkfifo", { args: [`${rig.workspace}/gate`] }).output();
    const { sid, stored } = await open();
    await host.turn(sid, "build it");
    await Deno.writeTextFile(`${rig.workspace}/gate`, "go\n");
    await host.until(() => host.eventsOf("message.complete", sid).length === 2 || undefined, "a second turn");
    const [, second] = host.eventsOf("message.complete", sid);
    assertEquals(second!.payload.text, "I see, it failed.");
    const messages = sent(model.calls()[2]);
    assertEquals(strictFault(messages), null);
    const { role, content } = messages.at(-1)!;
    assertEquals(role, "user");
    assert(/^\[IMPORTANT: Background process proc_\w+ completed \(exit code 3\)/.test(content), content);
    assert(content.includes("built"), content);
    const history = await host.request("session.history", { session_id: sid });
    const shown = history.messages.filter((one: { display_kind?: string }) =>
      one.display_kind === "process_complete"
    );
    assertEquals([shown.length, typeof stored], [1, "string"]);
  });
});

Deno.test("core B.4: an end within the turn is told with the next request of that turn, and starts none", async () => {
  const turns = [calling(started("echo quick")), calling(shell("sleep 3")), "done"];
  await withCore({ model: { turns } }, async ({ model, host, open }) => {
    const { sid } = await open();
    await host.turn(sid, "go");
    const messages = sent(model.calls()[2]);
    assertEquals(strictFault(messages), null);
    const news = messages.filter(({ role, content }) => role === "user" && content.startsWith("[IMPORTANT"));
    assertEquals(news.length, 1);
    assertEquals([model.calls().length, host.eventsOf("message.complete", sid).length], [3, 1]);
  });
});
