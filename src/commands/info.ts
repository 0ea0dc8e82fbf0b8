/** Commands that only tell: nothing changes, no model call. */
import {
  compressionThreshold,
  HermesError,
  type Message,
  promptTokens,
  type Session,
  type Surface,
  type Tool,
} from "@/core/mod.ts";
import { profileOf } from "@/lib/profile.ts";
import { type Command, grouped, hostOf, text } from "./command.ts";

const EVERYWHERE: readonly Surface[] = ["acp", "gateway", "cli"];

export const help: Command = {
  name: "help",
  aliases: [],
  description: "List the commands",
  argsHint: "",
  category: "Info",
  surfaces: EVERYWHERE,
  needsIdle: false,
  run: (_args, { surface }, deps) => {
    const lines = deps.list(surface).map((c) =>
      `/${c.name}${c.argsHint ? ` ${c.argsHint}` : ""} — ${c.description}`
    );
    const rest = surface === "acp" ? "Any other /word goes to the model as text." : "";
    return text(["Commands:", ...lines, rest].filter(Boolean).join("\n"));
  },
};

export const version: Command = {
  name: "version",
  aliases: ["v"],
  description: "Show the program version",
  argsHint: "",
  category: "Info",
  surfaces: EVERYWHERE,
  needsIdle: false,
  run: (_args, _context, deps) => text(`Hermes Agent v${deps.version}`),
};

export const tools: Command = {
  name: "tools",
  aliases: [],
  description: "List the tools the model can use",
  argsHint: "",
  category: "Tools & Skills",
  surfaces: ["acp", "cli"],
  needsIdle: false,
  run: (_args, { session }, deps) => text(toolList(session, deps.tools)),
};

/** Where a host can change what is offered. */
export const toolsets: Command = {
  ...tools,
  description: "List the tools the model can use, or take toolsets away and give them back",
  argsHint: "[list|disable|enable] [name…]",
  surfaces: ["gateway"],
  run: async (args, context, deps) => {
    const [action = "list", ...names] = args.split(/\s+/).filter(Boolean);
    if (action === "list") return text(toolList(context.session, deps.tools));
    if ((action !== "enable" && action !== "disable") || names.length === 0) {
      throw new HermesError("invalid_argument", "Usage: /tools [list|disable|enable] [name…]");
    }
    return text(await hostOf(context).configureTools(action, names));
  },
};

/** The groups that tools can be taken away and given back in. */
export const toolGroups: Command = {
  name: "toolsets",
  aliases: [],
  description: "List the toolsets with their tools",
  argsHint: "",
  category: "Tools & Skills",
  surfaces: ["gateway"],
  needsIdle: false,
  run: (_args, { session }) => {
    const names = new Set(session.toolNames());
    const sets = new Map<string, string[]>();
    for (const { name, toolset } of session.tools()) {
      if (names.has(name)) sets.set(toolset, [...sets.get(toolset) ?? [], name]);
    }
    const lines = [...sets].map(([set, members]) => `${set}: ${members.join(", ")}`);
    return text([lines.length === 1 ? "1 toolset:" : `${lines.length} toolsets:`, ...lines].join("\n"));
  },
};

export const agents: Command = {
  name: "agents",
  aliases: ["tasks"],
  description: "List the subagents and background processes at work",
  argsHint: "",
  category: "Session",
  surfaces: ["gateway"],
  needsIdle: false,
  run: (_args, context) => {
    const lines = hostOf(context).atWork();
    return text(lines.length === 0 ? "Nothing is at work beside this conversation." : lines.join("\n"));
  },
};

export const profile: Command = {
  name: "profile",
  aliases: [],
  description: "Show the profile and its data home",
  argsHint: "",
  category: "Info",
  surfaces: ["gateway", "cli"],
  needsIdle: false,
  run: (_args, _context, { config }) => text(`Profile: ${profileOf(config.home)}\nData home: ${config.home}`),
};

function toolList(session: Session, all: readonly Tool[]): string {
  const names = new Set(session.toolNames());
  const offered = all.filter((tool) => names.has(tool.name));
  const lines = offered.map((tool) => `${tool.name}: ${clip(firstSentence(tool.description), 80)}`);
  return [`${offered.length} tools:`, ...lines].join("\n");
}

function firstSentence(description: string): string {
  return description.split(/(?<=\.)\s/)[0]!.replace(/\s+/g, " ");
}

function clip(value: string, max: number): string {
  return value.length <= max ? value : `${value.slice(0, max - 1)}…`;
}

function countByRole(messages: readonly Message[]): string {
  const counts = { user: 0, assistant: 0, tool: 0 };
  for (const message of messages) counts[message.role]++;
  return `${messages.length} messages (user ${counts.user}, assistant ${counts.assistant}, tool ${counts.tool})`;
}

function modelLine(session: Session): string {
  const { model, modelError } = session;
  if (!model) return `Model: none — ${modelError?.message ?? "not configured"}`;
  return `Model: ${model.model} (${model.label})`;
}

export const context: Command = {
  name: "context",
  aliases: [],
  description: "Show how full the context window is",
  argsHint: "",
  category: "Info",
  surfaces: EVERYWHERE,
  needsIdle: false,
  run: (_args, { session }, deps) => {
    const { contextUsed, contextMax } = session.usage();
    const lines = [countByRole(session.history()), modelLine(session)];
    if (contextMax === null) lines.push(`Context: about ${grouped(contextUsed)} tokens (window unknown)`);
    else {
      const percent = Math.min(100, Math.round(contextUsed * 100 / contextMax));
      const { model, compression } = deps.config.settings();
      const asked = { model: session.model?.model ?? "", contextWindow: contextMax };
      const threshold = compressionThreshold(asked, model.max_tokens, compression);
      lines.push(`Context: about ${grouped(contextUsed)} of ${grouped(contextMax)} tokens (${percent} %)`);
      lines.push(
        `Compression threshold: ${grouped(threshold)} tokens, ${
          contextUsed >= threshold ? "reached" : `${grouped(threshold - contextUsed)} to go`
        }`,
      );
    }
    return text(lines.join("\n"));
  },
};

export const status: Command = {
  name: "status",
  aliases: [],
  description: "Show session, model and tokens",
  argsHint: "",
  category: "Session",
  surfaces: ["gateway", "cli"],
  needsIdle: false,
  run: (_args, { session }) => {
    const { contextUsed, usage } = session.usage();
    return text([
      `Session: ${session.id}`,
      ...(session.title ? [`Title: ${session.title}`] : []),
      `Directory: ${session.cwd}`,
      modelLine(session),
      `Tokens: ${grouped(promptTokens(usage) + usage.output)} used, next request about ${
        grouped(contextUsed)
      }`,
      `Running: ${session.running ? "yes" : "no"}`,
    ].join("\n"));
  },
};

export const usage: Command = {
  name: "usage",
  aliases: [],
  description: "Show the tokens this session has used",
  argsHint: "",
  category: "Info",
  surfaces: ["gateway", "cli"],
  needsIdle: false,
  run: (_args, { session }) => {
    const { usage, calls } = session.usage();
    return text([
      `Model calls: ${grouped(calls)}`,
      `Input: ${grouped(usage.input)}`,
      `Cached input: ${grouped(usage.cacheRead)} read, ${grouped(usage.cacheWrite)} written`,
      `Output: ${grouped(usage.output)}${usage.reasoning ? ` (thinking ${grouped(usage.reasoning)})` : ""}`,
      `Total: ${grouped(promptTokens(usage) + usage.output)}`,
    ].join("\n"));
  },
};
