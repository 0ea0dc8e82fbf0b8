/** `clarify`: asks the human one question and waits (core.md B.8). Offered only where somebody can be asked. */
import type { AskOutcome, Tool } from "@/core/contract.ts";
import { readText } from "./args.ts";
import { choicesOf, clarify } from "./cards/work.ts";
import { fail, settle, succeed } from "./result.ts";

const MAX_CHOICES = 4;

function answerOf(outcome: AskOutcome): { response: string; note?: string } | null {
  if (outcome.type === "answered") {
    const { answer } = outcome;
    const response = answer.type === "text" ? answer.text : answer.type === "choice" ? answer.choice : "";
    return response === ""
      ? { response, note: "The user skipped the question. Go on with your best judgement." }
      : { response };
  }
  if (outcome.type === "timeout") {
    return {
      response: "",
      note: "Nobody answered in time. Go on with your best judgement and say what you assumed.",
    };
  }
  return null;
}

export function createClarify(): Tool {
  return {
    name: "clarify",
    toolset: "clarify",
    description:
      "Asks the user one question when a decision is really theirs; up to four choices if the answer is " +
      "one of a few (multiple: several may be taken), free answers are always possible. Do not ask what " +
      "you can find out.",
    parameters: {
      type: "object",
      properties: {
        question: { type: "string" },
        choices: { type: "array", items: { type: "string" }, maxItems: MAX_CHOICES },
        multiple: { type: "boolean" },
      },
      required: ["question"],
    },
    parallel: "never",
    available: ({ canClarify }) => canClarify,
    describe: clarify,
    execute: (args, context) =>
      settle(async () => {
        const question = readText(args, "question").trim();
        const offered = choicesOf(args);
        const choices = offered.length > 0 ? offered : null;
        const multiple = choices !== null && args.multiple === true;
        const ask = { kind: "clarify" as const, question, choices, ...(multiple ? { multiple } : {}) };
        const outcome = await context.ask(ask);
        if (outcome.type === "cancelled") return fail("The question was cancelled.", { question });
        const answer = answerOf(outcome);
        if (!answer) {
          return fail("Nobody can be asked here. Decide yourself and say what you assumed.");
        }
        return succeed({
          question,
          choices_offered: choices,
          user_response: answer.response,
          ...(answer.note ? { note: answer.note } : {}),
        });
      }),
  };
}
