/**
 * Functions of the caller that the model may call (api-server.md E4), in the words of either endpoint:
 * `{type:"function", function:{name,…}}` on chat, `{type:"function", name,…}` on responses. Other types of tools, and
 * choices that would force or bar a call, have no effect and are named.
 */
import type { JsonSchema, ToolSpec } from "@/core/contract.ts";
import { isObject, type JsonObject } from "../body.ts";

export interface ClientTools {
  readonly specs: readonly ToolSpec[];
  /** Slots of the response object. */
  readonly echo: Readonly<Record<string, unknown>>;
  readonly ignored: readonly string[];
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export function readClientTools(body: JsonObject): ClientTools {
  const tools = Array.isArray(body.tools) ? body.tools : [];
  const read = tools.map(readTool);
  const isBarred = body.tool_choice === "none";
  const specs = isBarred ? [] : read.flatMap((tool) => tool?.spec ?? []);
  const ignored: string[] = [];
  if (isGiven(body.tools) && (isBarred || read.some((tool) => tool === null) || specs.length === 0)) {
    ignored.push("tools");
  }
  if (isGiven(body.tool_choice) && (specs.length === 0 || body.tool_choice !== "auto")) {
    ignored.push("tool_choice");
  }
  if (isGiven(body.functions)) ignored.push("functions");
  const shown = specs.length === 0 ? [] : read.flatMap((tool) => tool?.shown ?? []);
  return { specs, echo: { tools: shown, tool_choice: "auto" }, ignored };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function readTool(tool: unknown): { spec: ToolSpec; shown: Record<string, unknown> } | null {
  if (!isObject(tool) || tool.type !== "function") return null;
  const facts = isObject(tool.function) ? tool.function : tool;
  if (typeof facts.name !== "string" || !NAME.test(facts.name)) return null;
  const description = typeof facts.description === "string" ? facts.description : "";
  const parameters = isObject(facts.parameters) ? facts.parameters : { type: "object", properties: {} };
  const strict = typeof facts.strict === "boolean" ? facts.strict : null;
  return {
    spec: { name: facts.name, description, parameters: parameters as JsonSchema },
    shown: { type: "function", name: facts.name, description, parameters, strict },
  };
}
