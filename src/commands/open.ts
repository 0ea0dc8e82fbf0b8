/** Commands that open another conversation beside this one; which one is shown is the host's choice. */
import type { CommandResult, OpenedSession, Surface } from "@/core/contract.ts";
import { type Command, hostOf, text } from "./command.ts";

const GATEWAY: readonly Surface[] = ["gateway"];
const SHOWN = 20;

function opened(what: string, session: OpenedSession): CommandResult {
  const title = session.title === null ? "" : ` "${session.title}"`;
  return { type: "text", text: `${what}${title} (${session.storedId})`, opened: session };
}

export const create: Command = {
  name: "new",
  aliases: ["reset"],
  description: "Open a new session; this one stays as it is",
  argsHint: "[name]",
  category: "Session",
  surfaces: GATEWAY,
  needsIdle: false,
  destructive: true,
  run: async (args, context) => opened("New session", await hostOf(context).create(args)),
};

/** The host clears its screen when it sees the other session. */
export const clear: Command = {
  ...create,
  name: "clear",
  aliases: [],
  description: "Open a new session and clear the screen; this one stays as it is",
};

export const branch: Command = {
  name: "branch",
  aliases: ["fork"],
  description: "Copy this conversation into a new session",
  argsHint: "[name]",
  category: "Session",
  surfaces: GATEWAY,
  needsIdle: false,
  run: async (args, context) => opened("Branched into", await hostOf(context).branch(args)),
};

export const sessions: Command = {
  name: "sessions",
  aliases: [],
  description: "List stored sessions, the latest first",
  argsHint: "",
  category: "Session",
  surfaces: GATEWAY,
  needsIdle: false,
  run: (_args, context) => {
    const stored = hostOf(context).stored(SHOWN);
    if (stored.length === 0) return text("No session is stored yet.");
    const lines = stored.map((row) => {
      const here = row.id === context.session.headId ? " (this one)" : "";
      return `${row.id}  ${row.title ?? row.preview}${here}`;
    });
    return text([...lines, "Open one with /resume <id or title>."].join("\n"));
  },
};

export const resume: Command = {
  name: "resume",
  aliases: [],
  description: "Open a stored session by id or title",
  argsHint: "[name]",
  category: "Session",
  surfaces: GATEWAY,
  needsIdle: false,
  run: async (args, context, deps) => {
    if (!args) return await sessions.run("", context, deps);
    return opened("Resumed", await hostOf(context).resume(args));
  },
};

export const quit: Command = {
  name: "quit",
  aliases: ["exit"],
  description: "Leave the host; the session stays stored",
  argsHint: "",
  category: "Exit",
  surfaces: GATEWAY,
  needsIdle: false,
  run: (_args, { session }) =>
    text(`Close your host to leave. This session can be resumed as ${session.headId}.`),
};
