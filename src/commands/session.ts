/** Commands that change the session itself: its history, its name, what waits in it. */
import { plural } from "@/lib/plural.ts";
import { HermesError } from "@/core/contract.ts";
import { type Command, text } from "./command.ts";

export const reset: Command = {
  name: "reset",
  aliases: [],
  description: "Clear the conversation, keep the session",
  argsHint: "",
  category: "Session",
  surfaces: ["acp", "cli"],
  needsIdle: true,
  destructive: true,
  run: async (_args, { session }) => {
    const count = session.history().length;
    await session.reset();
    return text(`Cleared ${plural(count, "message")}.`);
  },
};

export const title: Command = {
  name: "title",
  aliases: [],
  description: "Show or set the title of the session",
  argsHint: "[name]",
  category: "Session",
  surfaces: ["gateway", "cli"],
  needsIdle: false,
  run: async (args, { session }) => {
    if (!args) return text(session.title ? `Title: ${session.title}` : "This session has no title.");
    return text(`Title: ${await session.setTitle(args)}`);
  },
};

export const steer: Command = {
  name: "steer",
  aliases: [],
  description: "Guide the running turn at its next tool call",
  argsHint: "<text>",
  category: "Session",
  surfaces: ["acp", "gateway", "cli"],
  needsIdle: false,
  run: (args, { session }) => {
    if (!args) throw new HermesError("invalid_argument", "Usage: /steer <guidance for the running turn>");
    if (session.steer(args)) return text("Guidance queued for the next tool call.");
    return { type: "send", message: args };
  },
};

export const queue: Command = {
  name: "queue",
  aliases: ["q"],
  description: "Run a prompt after the current turn",
  argsHint: "<text>",
  category: "Session",
  surfaces: ["acp", "gateway", "cli"],
  needsIdle: false,
  run: (args) => {
    if (!args) throw new HermesError("invalid_argument", "Usage: /queue <prompt to run next>");
    return { type: "send", message: args };
  },
};
