/** Commands that choose how the session thinks and what it may do without asking. */
import { HermesError } from "@/core/contract.ts";
import { type Command, hostOf, text } from "./command.ts";

export const model: Command = {
  name: "model",
  aliases: [],
  description: "Show or switch the model of this session",
  argsHint: "[name] [--provider p] [--global]",
  category: "Configuration",
  surfaces: ["acp", "gateway", "cli"],
  needsIdle: false,
  run: async (args, { session, signal }) => {
    if (!args) return text(current(session.model, session.modelError?.message ?? null));
    const result = await session.setModel(args, signal ? { signal } : {});
    const scope = result.global ? " and saved as the default" : "";
    const lines = [`Model: ${result.model.model} (${result.model.label})${scope}`];
    if (result.warning) lines.push(result.warning);
    return text(lines.join("\n"));
  },
};

function current(
  resolved: { model: string; provider: string; label: string } | null,
  problem: string | null,
): string {
  const usage =
    "Switch with /model <name>, /model <provider>:<model> or /model <name> --provider <provider>; " +
    "--global also makes it the default.";
  if (!resolved) return `No model can be used: ${problem ?? "nothing is configured"}\n${usage}`;
  return `Model: ${resolved.model}\nProvider: ${resolved.provider} (${resolved.label})\n${usage}`;
}

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"];

export const reasoning: Command = {
  name: "reasoning",
  aliases: [],
  description: "Show or set the reasoning effort of this session",
  argsHint: `[${EFFORTS.join("|")}|default]`,
  category: "Configuration",
  surfaces: ["cli"],
  needsIdle: false,
  run: async (args, { session }) => {
    const wanted = args.trim().toLowerCase();
    if (!wanted) return text(`Reasoning effort: ${session.reasoningEffort ?? "medium (default)"}`);
    if (wanted !== "default" && !EFFORTS.includes(wanted)) {
      throw new HermesError(
        "invalid_argument",
        `Unknown effort "${wanted}": use ${EFFORTS.join(", ")} or default`,
      );
    }
    await session.setReasoningEffort(wanted === "default" ? null : wanted);
    return text(`Reasoning effort: ${session.reasoningEffort ?? "medium (default)"}`);
  },
};

const SHOWN = ["show", "hide", "full", "clamp"];

/** Where a host shows what the model thinks: how much of it. */
export const hostReasoning: Command = {
  ...reasoning,
  description: "Show or set the reasoning effort of this session, or how much of it is shown",
  argsHint: `[${[...EFFORTS, "default", ...SHOWN].join("|")}]`,
  surfaces: ["gateway"],
  run: async (args, context, deps) => {
    const word = args.trim().toLowerCase();
    if (!SHOWN.includes(word)) return await reasoning.run(args, context, deps);
    return text(`Reasoning: ${await hostOf(context).setting("reasoning", word)}`);
  },
};

export const yolo: Command = {
  name: "yolo",
  aliases: [],
  description: "Toggle running dangerous commands without asking, in this session",
  argsHint: "[on|off]",
  category: "Configuration",
  surfaces: ["gateway", "cli"],
  needsIdle: false,
  run: (args, { session }) => {
    const word = args.trim().toLowerCase();
    if (word && !["on", "off"].includes(word)) {
      throw new HermesError("invalid_argument", "Usage: /yolo [on|off]");
    }
    session.setYolo(word ? word === "on" : !session.yolo);
    if (session.execAsk) {
      return text("HERMES_EXEC_ASK is set: dangerous commands are asked about, whatever /yolo says.");
    }
    return text(
      session.yolo ? "Dangerous commands run without asking." : "Dangerous commands are asked about.",
    );
  },
};
