/** Commands about what was said in this session: undo, again, beside it, and to a file. */
import { plural } from "@/lib/plural.ts";
import type { Message, Surface } from "@/core/contract.ts";
import { HermesError, textOf, undoTurns } from "@/core/mod.ts";
import { type Command, hostOf, text } from "./command.ts";

const GATEWAY: readonly Surface[] = ["gateway"];
const SHOWN_MESSAGES = 20;
const SHOWN_CHARS = 400;

function nothingTo(verb: string): HermesError {
  return new HermesError("message_not_found", `There is nothing to ${verb}`);
}

export const undo: Command = {
  name: "undo",
  aliases: [],
  description: "Take back your last turns and what followed",
  argsHint: "[N]",
  category: "Session",
  surfaces: ["gateway", "cli"],
  needsIdle: true,
  destructive: true,
  run: async (args, { session }) => {
    if (args !== "" && !/^[1-9]\d{0,5}$/.test(args)) {
      throw new HermesError("invalid_argument", `"${args}" is no number of turns: use /undo or /undo 2`);
    }
    const undone = await undoTurns(session, args === "" ? 1 : Number(args));
    if (!undone) throw nothingTo("undo");
    const turns = undone.turns === 1 ? "1 turn" : `${undone.turns} turns`;
    return {
      type: "prefill",
      message: undone.text,
      notice: `Took back ${turns} (${plural(undone.removed, "message")}).`,
    };
  },
};

export const retry: Command = {
  name: "retry",
  aliases: [],
  description: "Send your last message again",
  argsHint: "",
  category: "Session",
  surfaces: ["gateway", "cli"],
  needsIdle: true,
  run: async (_args, { session }) => {
    const undone = await undoTurns(session, 1);
    if (!undone) throw nothingTo("retry");
    return { type: "send", message: undone.text };
  },
};

export const background: Command = {
  name: "background",
  aliases: ["bg", "btw"],
  description: "Run a prompt beside this conversation",
  argsHint: "<prompt>",
  category: "Session",
  surfaces: GATEWAY,
  needsIdle: false,
  run: async (args, context) => {
    if (!args) throw new HermesError("invalid_argument", "Usage: /background <prompt>");
    return text(`Started in the background: ${await hostOf(context).background(args)}`);
  },
};

export const stop: Command = {
  name: "stop",
  aliases: [],
  description: "End the background processes of this session",
  argsHint: "",
  category: "Session",
  surfaces: GATEWAY,
  needsIdle: false,
  run: async (_args, context) => {
    const killed = await hostOf(context).stopProcesses();
    return text(killed === 1 ? "Ended 1 background process." : `Ended ${killed} background processes.`);
  },
};

export const history: Command = {
  name: "history",
  aliases: [],
  description: "Show the latest messages",
  argsHint: "",
  category: "Session",
  surfaces: GATEWAY,
  needsIdle: false,
  run: async (_args, context) => {
    const lines = (await hostOf(context).transcript()).flatMap(line).slice(-SHOWN_MESSAGES);
    return text(lines.length === 0 ? "Nothing was said yet." : lines.join("\n"));
  },
};

function line(message: Message): string[] {
  if (message.displayKind !== undefined || message.role === "tool") return [];
  const said = message.role === "user"
    ? message.displayText ?? textOf(message.content)
    : message.content ?? "";
  if (said.trim() === "") return [];
  const short = said.length > SHOWN_CHARS ? `${said.slice(0, SHOWN_CHARS)}…` : said;
  return [`${message.role === "user" ? "You" : "Hermes"}: ${short}`];
}

export const save: Command = {
  name: "save",
  aliases: [],
  description: "Write the conversation to a JSON file",
  argsHint: "",
  category: "Session",
  surfaces: GATEWAY,
  needsIdle: false,
  run: async (_args, context) => text(`Saved to ${await hostOf(context).save()}`),
};

const LEARN =
  "Make a skill out of this with skill_manage: look at what was done here and at what is asked, keep what will be " +
  "needed again (steps, commands, pitfalls, how to check the result) and leave out what belongs to this one case. " +
  "If a skill already covers it, improve that one. To learn: ";

export const learn: Command = {
  name: "learn",
  aliases: [],
  description: "Have the agent write a skill",
  argsHint: "<what>",
  category: "Tools & Skills",
  surfaces: GATEWAY,
  needsIdle: false,
  run: (args) => {
    if (!args) {
      throw new HermesError("invalid_argument", "Usage: /learn <what the agent should know how to do>");
    }
    return { type: "send", message: LEARN + args };
  },
};
