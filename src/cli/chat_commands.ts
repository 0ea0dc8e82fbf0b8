/**
 * Slash commands at the prompt of `hermes chat`: those of the registry, and the few that only a terminal has.
 * A command that fails changes nothing and says why.
 */
import type { CommandInfo } from "@/core/contract.ts";
import type { Chat } from "./chat.ts";
import { describeError } from "./errors.ts";
import { definitions } from "./help.ts";
import { findSession } from "./hermes_session.ts";
import { closest } from "./suggest.ts";
import { withoutControls, wrapIndented } from "./text_layout.ts";

export type CommandOutcome =
  | { readonly type: "done"; readonly isError: boolean }
  | { readonly type: "leave" }
  /** To be submitted as the next prompt. */
  | { readonly type: "send"; readonly message: string }
  /** To stand in the line at the next prompt. */
  | { readonly type: "prefill"; readonly message: string };

interface LocalCommand {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly argsHint: string;
  readonly description: string;
  run(chat: Chat, args: string): Promise<CommandOutcome>;
}

const DONE: CommandOutcome = { type: "done", isError: false };

const LOCAL: readonly LocalCommand[] = [
  {
    name: "help",
    aliases: ["?"],
    argsHint: "",
    description: "List the commands",
    run: (chat) => {
      chat.view.show(helpText(chat));
      return Promise.resolve(DONE);
    },
  },
  {
    name: "new",
    aliases: ["clear"],
    argsHint: "[title]",
    description: "Start a new session",
    run: async (chat, args) => {
      const { cwd } = chat.session;
      const title = args === "" ? {} : { title: args };
      chat.session = await chat.hermes.sessions.create({
        source: "cli",
        surface: "cli",
        cwd,
        editPolicy: null,
        ...title,
      });
      chat.view.info("new session");
      return DONE;
    },
  },
  {
    name: "resume",
    aliases: [],
    argsHint: "<id or title>",
    description: "Go on with a stored session",
    run: async (chat, args) => {
      const row = findSession(chat.hermes.store(), args);
      chat.session = await chat.hermes.sessions.open(row.id, { surface: "cli", editPolicy: null });
      const name = chat.session.title ?? row.id;
      chat.view.info(`${name}, ${chat.session.history().length} messages, in ${chat.session.cwd}`);
      return DONE;
    },
  },
  {
    name: "quit",
    aliases: ["exit", "q"],
    argsHint: "",
    description: "Leave",
    run: () => Promise.resolve({ type: "leave" }),
  },
];

/** `/word …`; a path such as `/etc/hosts` is text. */
export function isCommand(text: string): boolean {
  return /^\/[A-Za-z?][\w?-]*(\s|$)/.test(text);
}

export async function runCommand(chat: Chat, text: string): Promise<CommandOutcome> {
  const [, name = "", args = ""] = /^\/(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  try {
    return await dispatch(chat, name.toLowerCase(), args.trim());
  } catch (error) {
    chat.view.error(laidOut(chat, describeError(error, "chat").lines.join("\n").replace(/^hermes: /, "")));
    return { type: "done", isError: true };
  }
}

async function dispatch(chat: Chat, name: string, args: string): Promise<CommandOutcome> {
  const local = LOCAL.find((command) => command.name === name || command.aliases.includes(name));
  const command = local ?? chat.hermes.commands.find(name, "cli");
  if (!command) return await callSkill(chat, name, args);
  if (isDestructive(chat, command.name)) {
    const { mayThrowAway } = await import("./confirm_command.ts");
    const line = args === "" ? command.name : `${command.name} ${args}`;
    if (!await mayThrowAway(chat, line, command.description)) return DONE;
  }
  if (local) return await local.run(chat, args);
  const result = await chat.hermes.commands.run(command.name, args, {
    session: chat.session,
    surface: "cli",
  });
  switch (result.type) {
    case "text":
      if (result.isError) chat.view.error(laidOut(chat, result.text));
      else chat.view.show(laidOut(chat, result.text));
      return { type: "done", isError: result.isError ?? false };
    case "send":
      if (result.notice) chat.view.info(result.notice);
      return { type: "send", message: result.message };
    case "prefill":
      if (result.notice) chat.view.info(result.notice);
      return { type: "prefill", message: result.message };
  }
}

/** The registry says so; `/new` is made here, but it is the gateway's. */
function isDestructive({ hermes: { commands } }: Chat, name: string): boolean {
  const command = commands.find(name, "cli") ?? commands.find(name, "gateway");
  return command?.destructive === true;
}

/** A skill is a command of its own (core.md B.11): its text is the prompt. */
async function callSkill(chat: Chat, name: string, args: string): Promise<CommandOutcome> {
  const { hermes, session } = chat;
  const signal = new AbortController().signal;
  const context = { settings: hermes.settings(), sessionId: session.id, signal };
  const message = await hermes.skills.invocation(name, args, context);
  return message === null ? await refuseUnknown(chat, name) : { type: "send", message };
}

/** Foreign text as it may stand on this screen. */
function laidOut({ terminal }: Chat, text: string): string {
  const clean = withoutControls(text);
  return terminal.stdoutIsTty ? wrapIndented(clean, terminal.columns) : clean;
}

/** Of the skills, each a command. */
export async function skillNames(hermes: Chat["hermes"]): Promise<string[]> {
  const skills = await hermes.skills.list({ settings: hermes.settings(), tools: hermes.tools });
  return skills.map(({ name }) => name);
}

/** What can stand behind the `/`, without the skills. */
export function commandNames(chat: Pick<Chat, "hermes">): string[] {
  const local = LOCAL.flatMap(({ name, aliases }) => [name, ...aliases.filter((alias) => alias.length > 1)]);
  return [...new Set([...local, ...chat.hermes.commands.list("cli").map((command) => command.name)])];
}

async function refuseUnknown(chat: Chat, name: string): Promise<CommandOutcome> {
  const names = [...commandNames(chat), ...await skillNames(chat.hermes)];
  const near = closest(name, names);
  chat.view.error(`unknown command /${name}` + (near ? `; did you mean /${near}?` : "; /help lists them"));
  return { type: "done", isError: true };
}

function helpText(chat: Chat): string {
  const own = new Set(LOCAL.map((command) => command.name));
  const registry: readonly CommandInfo[] = chat.hermes.commands.list("cli").filter((c) => !own.has(c.name));
  const local = LOCAL.map(({ aliases, argsHint, description, name }) => ({
    argsHint,
    description,
    name: [name, ...aliases].join(", /"),
  }));
  const rows = [...registry, ...local].map((command) =>
    [`/${command.name}${command.argsHint ? ` ${command.argsHint}` : ""}`, command.description] as const
  );
  const { terminal } = chat;
  const paint = terminal.stdoutIsTty ? terminal.paint : terminal.notePaint;
  const keys = chat.input.isTty
    ? ["", "  Tab completes, Alt-Enter begins a line, ↑ is history, a paste waits for Enter"]
    : [];
  return [...definitions(rows, paint, Math.min(terminal.columns, 100)), ...keys].join("\n");
}
