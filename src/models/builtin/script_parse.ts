/** Reads a script file (docs/scripted-model.md). What is wrong is said with its line; nothing is guessed. */
import { type Node, type ParseError, parseTree, printParseErrorCode } from "@std/jsonc";
import { RECORDING_END, RECORDING_HEAD, type Script } from "./script_format.ts";

/** A mistake in a script file; the message names the line. */
export class ScriptFileError extends Error {
  constructor(text: string, offset: number, message: string) {
    const before = text.slice(0, offset).split("\n");
    super(`line ${before.length}, column ${before.at(-1)!.length + 1}: ${message}`);
    this.name = "ScriptFileError";
  }
}

/** Throws `ScriptFileError`. */
export function parseScript(text: string): Script {
  const errors: ParseError[] = [];
  const clean = closed(text.replace(/^\ufeff/, ""));
  const root = parseTree(clean, errors, { allowTrailingComma: true, disallowComments: false });
  const [first] = errors;
  if (first) throw new ScriptFileError(clean, first.offset, spaced(printParseErrorCode(first.error)));
  if (!root) throw new ScriptFileError(clean, 0, "the file is empty");
  const check = new Checker(clean);
  return check.script(root);
}

/** A recording whose program was killed: the last line may be torn, and the end is missing. */
function closed(text: string): string {
  if (!text.startsWith(RECORDING_HEAD) || text.trimEnd().endsWith(RECORDING_END.trimEnd())) return text;
  return text.slice(0, text.lastIndexOf("\n") + 1) + RECORDING_END;
}

/** `CommaExpected` → `comma expected`. */
function spaced(code: string): string {
  return code.replace(/(?!^)[A-Z]/g, (c) => ` ${c.toLowerCase()}`).toLowerCase();
}

type Kind = "string" | "number" | "boolean" | "object" | "array" | "any";

/** The member that says what a step is, with the type it must have. */
const STEPS: Readonly<Record<string, readonly Kind[]>> = {
  text: ["string"],
  reasoning: ["string"],
  tool: ["string"],
  stall: ["boolean"],
  error: ["object"],
  reset: ["boolean"],
  usage: ["object"],
  finish: ["string", "any"],
  raw: ["string"],
  json: ["any"],
};
const EXTRAS: Readonly<Record<string, Readonly<Record<string, readonly Kind[]>>>> = {
  text: { repeat: ["number"] },
  reasoning: { repeat: ["number"] },
  tool: { args: ["object", "string"], id: ["string"], index: ["number"] },
};
const FINISHES = ["stop", "length", "content_filter", "tool_calls"];

class Checker {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  script(root: Node): Script {
    const members = this.#object(root, "the script", {
      turns: ["array"],
      loop: ["boolean"],
      $schema: ["string"],
    });
    const turns = members.get("turns");
    if (!turns) this.#fail(root, 'the script needs "turns"');
    for (const turn of turns.children ?? []) this.#turn(turn);
    return valueOf(root) as Script;
  }

  #turn(turn: Node): void {
    if (turn.type === "string") return;
    const members = this.#object(turn, "a turn is a text or an object that", {
      steps: ["array"],
      track: ["number"],
      split: ["number"],
      pack: ["number"],
    });
    const steps = members.get("steps");
    if (!steps) this.#fail(turn, 'a turn needs "steps"');
    for (const step of steps.children ?? []) this.#step(step);
  }

  #step(step: Node): void {
    if (step.type !== "object") this.#fail(step, "a step is an object");
    const names = (step.children ?? []).map((property) => property.children![0]!.value as string);
    const kinds = names.filter((name) => Object.hasOwn(STEPS, name));
    if (kinds.length > 1) this.#fail(step, `a step does one thing, this one has ${kinds.join(" and ")}`);
    const kind = kinds[0];
    if (!kind && !names.includes("delay_ms")) {
      this.#fail(step, `unknown step; use one of ${Object.keys(STEPS).join(", ")}, delay_ms`);
    }
    const members = this.#object(step, `a ${kind ?? "delay"} step`, {
      delay_ms: ["number"],
      ...(kind ? { [kind]: STEPS[kind]!, ...EXTRAS[kind] } : {}),
    });
    const finish = members.get("finish");
    if (finish && finish.value !== null && !FINISHES.includes(finish.value)) {
      this.#fail(finish, `"finish" is one of ${FINISHES.join(", ")} or null`);
    }
  }

  #object(node: Node, what: string, known: Readonly<Record<string, readonly Kind[]>>): Map<string, Node> {
    if (node.type !== "object") this.#fail(node, `${what} must be an object`);
    const members = new Map<string, Node>();
    for (const property of node.children ?? []) {
      const [key, value] = property.children ?? [];
      if (!key || !value) continue;
      const kinds = Object.hasOwn(known, key.value) ? known[key.value] : undefined;
      if (!kinds) this.#fail(key, `${what} has no member "${key.value}"`);
      const fits = kinds.includes("any") || kinds.includes(value.type as Kind);
      if (!fits) this.#fail(value, `"${key.value}" must be ${kinds.join(" or ")}`);
      if (value.type === "number" && !(value.value >= 0)) {
        this.#fail(value, `"${key.value}" must not be negative`);
      }
      members.set(key.value, value);
    }
    return members;
  }

  #fail(node: Node, message: string): never {
    throw new ScriptFileError(this.#text, node.offset, message);
  }
}

function valueOf(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(valueOf);
  if (node.type !== "object") return node.value;
  return Object.fromEntries(
    (node.children ?? []).map((property) => [property.children![0]!.value, valueOf(property.children![1]!)]),
  );
}
