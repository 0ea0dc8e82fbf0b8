/** The slash commands as an editor offers them (acp.md C9): exactly this list, in its order. */
import type { Hermes } from "@/app/mod.ts";
import type { SessionUpdate } from "./sdk.ts";

/** What an editor shows where the argument goes. */
const HINTS: Readonly<Record<string, string>> = {
  model: "model name to switch to",
  steer: "guidance for the active turn",
  queue: "prompt to run next",
};

export function commandsUpdate(hermes: Hermes): SessionUpdate {
  return {
    sessionUpdate: "available_commands_update",
    availableCommands: hermes.commands.list("acp").map(({ name, description }) => {
      const hint = Object.hasOwn(HINTS, name) ? HINTS[name]! : null;
      return { name, description, ...(hint === null ? {} : { input: { hint } }) };
    }),
  };
}
