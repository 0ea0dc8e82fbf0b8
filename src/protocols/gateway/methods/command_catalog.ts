/** The catalogue of slash commands and their completion (tui-gateway.md B.15, D.2), from the one registry. */
import type { Hermes } from "@/app/mod.ts";
import type { CommandInfo } from "@/core/contract.ts";
import type { QuickCommand } from "./quick_commands.ts";
import { quickCommands } from "./quick_commands.ts";

const USER_CATEGORY = "User commands";
const MAX_COMPLETIONS = 30;

type Pair = [string, string];

export async function renderCatalog(hermes: Hermes): Promise<Record<string, unknown>> {
  const list = hermes.commands.list("gateway");
  const { skillPairs } = await import("./skills.ts");
  const skills = await skillPairs(hermes);
  const users = quickCommands(hermes).map(describeQuick);
  const categories = new Map<string, Pair[]>();
  for (const command of list) {
    const pairs = categories.get(command.category) ?? [];
    categories.set(command.category, [...pairs, describe(command)]);
  }
  if (users.length > 0) categories.set(USER_CATEGORY, users);
  return {
    pairs: [...list.map(describe), ...users, ...skills],
    sub: Object.fromEntries(
      list.map((command) => [`/${command.name}`, subcommands(command)] as const)
        .filter(([, words]) => words.length > 0),
    ),
    canon: Object.fromEntries(
      list.flatMap((command) =>
        command.aliases.map((alias) => [`/${alias.toLowerCase()}`, `/${command.name}`])
      ),
    ),
    categories: [...categories].map(([name, pairs]) => ({ name, pairs })),
    skill_count: skills.length,
    destructive: list.filter((command) => command.destructive).map(({ name }) => `/${name}`),
    warning: "",
  };
}

function describe(command: CommandInfo): Pair {
  const usage = command.argsHint === "" ? "" : ` (usage: /${command.name} ${command.argsHint})`;
  return [`/${command.name}`, command.description + usage];
}

function describeQuick(command: QuickCommand): Pair {
  const what = command.type === "exec" ? `exec: ${command.command}` : `alias → ${command.target}`;
  const text = command.description || what;
  return [`/${command.name}`, text.length <= 120 ? text : `${text.slice(0, 119)}…`];
}

/** The words of `[a|b|c]` at the start of the hint, where the command does not name them itself. */
function subcommands(command: CommandInfo): readonly string[] {
  if (command.firstWords) return command.firstWords;
  const inner = /^\[([\w-]+(?:\|[\w-]+)+)\]/.exec(command.argsHint)?.[1];
  return inner ? inner.split("|") : [];
}

/** `text` up to `replace_from` stays, the item's text follows. Nothing for a text that is no command. */
export async function completeSlash(hermes: Hermes, text: string): Promise<Record<string, unknown>> {
  if (!text.startsWith("/")) return { items: [], replace_from: 0 };
  const space = text.search(/\s/);
  if (space === -1) {
    return { items: await completeName(hermes, text.slice(1).toLowerCase()), replace_from: 1 };
  }
  const command = hermes.commands.find(text.slice(1, space), "gateway");
  const from = text.search(/\S*$/);
  const isFirstWord = text.slice(space, from).trim() === "";
  const words = command && isFirstWord ? subcommands(command) : [];
  const typed = text.slice(from).toLowerCase();
  return {
    items: words.filter((word) => word.startsWith(typed)).map((word) => ({
      text: word,
      display: word,
      meta: `/${command!.name}`,
    })),
    replace_from: from,
  };
}

async function completeName(hermes: Hermes, typed: string): Promise<Record<string, unknown>[]> {
  const { skillPairs } = await import("./skills.ts");
  const skills = (await skillPairs(hermes)).map(([name, meta]) => ({ name: name.slice(1), meta }));
  const known = hermes.commands.list("gateway").flatMap((command) => [
    { name: command.name, meta: command.description },
    ...command.aliases.map((alias) => ({ name: alias, meta: `alias of /${command.name}` })),
  ]);
  const users = quickCommands(hermes).map((command) => ({
    name: command.name,
    meta: describeQuick(command)[1],
  }));
  return [...known, ...users, ...skills]
    .filter(({ name }) => name.startsWith(typed))
    .slice(0, MAX_COMPLETIONS)
    .map(({ name, meta }) => ({ text: name, display: `/${name}`, meta }));
}
