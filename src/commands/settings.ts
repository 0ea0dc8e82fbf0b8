/** Commands that show or change settings; a session's own where there is one, else the configuration. */
import type { Surface } from "@/core/contract.ts";
import { HermesError } from "@/core/contract.ts";
import { type Command, hostOf, text } from "./command.ts";

const GATEWAY: readonly Surface[] = ["gateway"];

/** A command that hands its argument to the setting of the same name. */
function setting(
  facts: Pick<Command, "name" | "description" | "argsHint">,
  label: string,
): Command {
  return {
    ...facts,
    aliases: [],
    category: "Configuration",
    surfaces: GATEWAY,
    needsIdle: false,
    run: async (args, context) => text(`${label}: ${await hostOf(context).setting(facts.name, args)}`),
  };
}

const FAST_WORDS: Readonly<Record<string, boolean>> = { fast: true, on: true, normal: false, off: false };

/** Without a host the session itself is asked (core.md F.10). */
export const fast: Command = {
  name: "fast",
  aliases: [],
  description: "Use the model's fast mode in this session",
  argsHint: "[normal|fast|status]",
  category: "Configuration",
  surfaces: ["gateway", "cli"],
  needsIdle: false,
  run: async (args, { host, session }) => {
    const word = args.toLowerCase() || "status";
    if (host) return text(`Mode: ${await host.setting("fast", word)}`);
    if (word !== "status") {
      if (word !== "toggle" && !Object.hasOwn(FAST_WORDS, word)) {
        throw new HermesError("invalid_argument", "Usage: /fast [normal|fast|toggle|status]");
      }
      await session.setFast(word === "toggle" ? !session.fast : FAST_WORDS[word]!);
    }
    return text(`Mode: ${session.fast ? "fast" : "normal"}`);
  },
};

export const busy: Command = setting({
  name: "busy",
  description: "What a prompt does while a turn runs",
  argsHint: "[queue|steer|interrupt|status]",
}, "While a turn runs");

export const verbose: Command = setting({
  name: "verbose",
  description: "How much of the tools' work is shown; without a word the next step",
  argsHint: "[off|new|all|verbose]",
}, "Tool progress");

export const personality: Command = setting({
  name: "personality",
  description: "Show or choose the personality of this session",
  argsHint: "[none|name]",
}, "Personality");

export const config: Command = {
  name: "config",
  aliases: [],
  description: "Show the configuration file, secrets masked",
  argsHint: "",
  category: "Configuration",
  surfaces: GATEWAY,
  needsIdle: false,
  run: (_args, _context, deps) =>
    text(
      [deps.config.path, JSON.stringify(deps.config.shown(), null, 2), ...deps.config.warnings()].join("\n"),
    ),
};

export const reload: Command = {
  name: "reload",
  aliases: [],
  description: "Read the .env file again",
  argsHint: "",
  category: "Tools & Skills",
  surfaces: GATEWAY,
  needsIdle: false,
  run: (_args, _context, deps) => {
    const changed = deps.config.reloadEnv();
    return text(changed === 1 ? "1 value has changed." : `${changed} values have changed.`);
  },
};

export const reloadMcp: Command = {
  name: "reload-mcp",
  aliases: ["reload_mcp"],
  description: "End and start the MCP servers again",
  argsHint: "[now|always]",
  category: "Tools & Skills",
  surfaces: GATEWAY,
  needsIdle: false,
  run: async (args, context) => {
    const word = args.toLowerCase();
    if (!["", "now", "always"].includes(word)) {
      throw new HermesError("invalid_argument", "Usage: /reload-mcp [now|always]");
    }
    return text(await hostOf(context).reloadMcp({ confirmed: word === "now", always: word === "always" }));
  },
};

export const reloadSkills: Command = {
  name: "reload-skills",
  aliases: ["reload_skills"],
  description: "Look for skills again",
  argsHint: "",
  category: "Tools & Skills",
  surfaces: GATEWAY,
  needsIdle: false,
  run: async (_args, context) => text(await hostOf(context).reloadSkills()),
};
