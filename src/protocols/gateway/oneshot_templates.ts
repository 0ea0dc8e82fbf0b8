/** Prompts of `llm.oneshot` that hosts call by name (tui-gateway.md B.18), so that each need not write its own. Pure. */
import { RpcError } from "./errors.ts";

interface Template {
  readonly system: string;
  /** Must be given and not be empty. */
  readonly needs: readonly string[];
  readonly takes: readonly string[];
}

/** Characters of one variable; a diff that is longer says no more. */
const MAX_LENGTH = 60_000;

const TEMPLATES: Readonly<Record<string, Template>> = {
  commit_message: {
    system:
      "You write git commit messages. The first line says in at most 72 characters what the change does, in the " +
      "imperative and in the manner of the recent commits, if there are any; a body follows only where the reason " +
      "is not plain. Answer with the message alone, without quotes or fences.",
    needs: ["diff"],
    takes: ["recent_commits", "instructions"],
  },
  summary: {
    system: "You summarise texts: a few plain sentences in the language of the text. Answer with them alone.",
    needs: ["text"],
    takes: ["instructions"],
  },
  title: {
    system: "You name texts: three to seven words in the language of the text. Answer with the title alone.",
    needs: ["text"],
    takes: ["instructions"],
  },
};

/** Throws 4031 for an unknown name, 4032 for variables that are missing or no texts. */
export function fillTemplate(name: string, variables: unknown): { system: string; input: string } {
  const template = Object.hasOwn(TEMPLATES, name) ? TEMPLATES[name] : undefined;
  if (!template) {
    throw new RpcError(4031, `unknown template "${name}"; there are ${Object.keys(TEMPLATES).join(", ")}`);
  }
  const given = variables ?? {};
  if (typeof given !== "object" || Array.isArray(given)) {
    throw new RpcError(4032, "variables must be an object");
  }
  const values = given as Record<string, unknown>;
  const parts = [...template.needs, ...template.takes].flatMap((key) => {
    const value = values[key] ?? "";
    if (typeof value !== "string") throw new RpcError(4032, `variables.${key} must be a string`);
    if (value.trim() !== "") return [`${key}:\n${value.slice(0, MAX_LENGTH).toWellFormed()}`];
    if (template.needs.includes(key)) throw new RpcError(4032, `the template ${name} needs variables.${key}`);
    return [];
  });
  return { system: template.system, input: parts.join("\n\n") };
}
