/**
 * The question before a command that takes back what was said, or leaves it (core.md E.4
 * `approvals.destructive_slash_confirm`): asked on a terminal only, and only where something was said. Only an explicit
 * yes lets it run; "always" is kept as `false` in the configuration.
 */
import type { Chat } from "./chat.ts";
import { cut, withoutControls, wrapIndented } from "./text_layout.ts";

const KEY = ["approvals", "destructive_slash_confirm"] as const;

/** As much of what was typed as says which command it is. */
const SHOWN_LINE = 28;

/**
 * `line`: the command as it was typed, without its slash; `does` as the help says it. Rejects when "always" cannot be
 * written; then nothing runs.
 */
export async function mayThrowAway(chat: Chat, line: string, does: string): Promise<boolean> {
  const { hermes, input, session, terminal, view } = chat;
  if (!input.isTty || session.history().length === 0 || hermes.config.get(KEY.join(".")) === false) {
    return true;
  }
  const shown = cut(withoutControls(line), SHOWN_LINE);
  view.question(terminal.paint.yellow(wrapIndented(`? /${shown}: ${does}. Go on?`, terminal.columns)));
  for (let fresh = true;; fresh = false) {
    const said = await input.ask("  [y]es, [n]o, [a]lways: ", { fresh });
    const word = said.type === "line" ? said.text.trim().toLowerCase() : "no";
    const choice = word === "" ? undefined : ["yes", "no", "always"].find((one) => one.startsWith(word));
    if (choice === undefined) {
      view.question("  please pick one of these");
      continue;
    }
    if (choice === "always") {
      await hermes.config.write(KEY, false);
      view.info("not asked again: approvals.destructive_slash_confirm is false now");
    }
    if (choice === "no") view.info("nothing was changed");
    return choice !== "no";
  }
}
