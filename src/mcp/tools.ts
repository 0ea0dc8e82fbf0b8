/**
 * A server's tools as the core's tools (core.md G.2): named, filtered, described, with the utility tools for
 * resources and prompts where the server has them. Calls go to the `Caller`, who owns connection and limits.
 */
import type { JsonSchema, Tool, ToolContext, ToolOutcome } from "@/core/contract.ts";
import type { Connection } from "./connection.ts";
import type { ServerConfig } from "./entry_types.ts";
import { toolName, toolsetName } from "./names.ts";
import { callOutcome, outcome, promptOutcome, resourceOutcome, type ResultPlace } from "./results.ts";
import { normaliseSchema } from "./schema.ts";

type Args = Readonly<Record<string, unknown>>;
type Limits = Parameters<Connection["request"]>[2];

/** Runs one piece of work on the server's connection; throws `McpFailure`. */
export type Caller = <T>(
  context: ToolContext,
  work: (connection: Connection, limits: Limits) => Promise<T>,
) => Promise<T>;

export interface ServerTools {
  readonly config: ServerConfig;
  readonly call: Caller;
  /** A tool is left out: another one of the server has its name. */
  collided(remote: string, name: string): void;
  /** The outcome of a call that failed. */
  failed(error: unknown, place: ResultPlace): ToolOutcome;
}

interface Recipe {
  readonly remote: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  run(args: Args, connection: Connection, limits: Limits, place: ResultPlace): Promise<ToolOutcome>;
}

const MAX_DESCRIPTION = 8_000;
const MAX_LABEL = 80;

const URI: JsonSchema = {
  type: "object",
  properties: { uri: { type: "string", description: "Address of the resource" } },
  required: ["uri"],
};
const PROMPT: JsonSchema = {
  type: "object",
  properties: {
    name: { type: "string", description: "Name of the prompt" },
    arguments: { type: "object", description: "Its arguments", additionalProperties: true },
  },
  required: ["name"],
};
const NOTHING: JsonSchema = { type: "object", properties: {} };

/** The tools to offer, in the server's order, names unique. */
export function makeTools(
  listed: readonly Record<string, unknown>[],
  offers: Connection["offers"],
  server: ServerTools,
): readonly Tool[] {
  const { config } = server;
  const reader = offers.resources && config.resources ? toolName(config.name, "read_resource") : null;
  const tools: Tool[] = [];
  const taken = new Set<string>();
  for (const recipe of [...remoteRecipes(listed, config), ...utilityRecipes(offers, config)]) {
    const name = toolName(config.name, recipe.remote);
    if (taken.has(name)) {
      server.collided(recipe.remote, name);
      continue;
    }
    taken.add(name);
    tools.push(makeTool(name, recipe, reader, server));
  }
  return tools;
}

function isWanted(name: string, { include, exclude }: ServerConfig): boolean {
  return include ? include.includes(name) : !exclude.includes(name);
}

function remoteRecipes(listed: readonly Record<string, unknown>[], config: ServerConfig): Recipe[] {
  return listed.flatMap((tool) => {
    const { name, description, inputSchema } = tool;
    if (typeof name !== "string" || name === "" || !isWanted(name, config)) return [];
    return [{
      remote: name,
      description: typeof description === "string" ? description.slice(0, MAX_DESCRIPTION) : "",
      parameters: normaliseSchema(inputSchema),
      run: async (args: Args, connection: Connection, limits: Limits, place: ResultPlace) =>
        await callOutcome(await connection.request("tools/call", { name, arguments: args }, limits), place),
    }];
  });
}

function utilityRecipes(offers: Connection["offers"], config: ServerConfig): Recipe[] {
  const { name } = config;
  const recipes: Recipe[] = [];
  if (offers.resources && config.resources) {
    recipes.push({
      remote: "list_resources",
      description: `Lists the resources of the MCP server ${name}`,
      parameters: NOTHING,
      run: async (_, connection, limits, place) =>
        outcome(place, { resources: (await connection.listAll("resources/list", limits)).map(resourceLine) }),
    }, {
      remote: "read_resource",
      description: `Reads one resource of the MCP server ${name}`,
      parameters: URI,
      run: async ({ uri }, connection, limits, place) =>
        await resourceOutcome(await connection.request("resources/read", { uri }, limits), place),
    });
  }
  if (offers.prompts && config.prompts) {
    recipes.push({
      remote: "list_prompts",
      description: `Lists the prompts of the MCP server ${name}`,
      parameters: NOTHING,
      run: async (_, connection, limits, place) =>
        outcome(place, { prompts: (await connection.listAll("prompts/list", limits)).map(promptLine) }),
    }, {
      remote: "get_prompt",
      description: `Gets one prompt of the MCP server ${name}, filled in`,
      parameters: PROMPT,
      run: async (args, connection, limits, place) =>
        await promptOutcome(await connection.request("prompts/get", promptParams(args), limits), place),
    });
  }
  return recipes;
}

/** Arguments of prompts are texts on the wire. */
function promptParams(args: Args): Record<string, unknown> {
  const given = typeof args["arguments"] === "object" && args["arguments"] !== null ? args["arguments"] : {};
  const texts = Object.entries(given).map(([key, value]) =>
    [key, typeof value === "string" ? value : JSON.stringify(value)] as const
  );
  return { name: args["name"], ...(texts.length > 0 ? { arguments: Object.fromEntries(texts) } : {}) };
}

function pick(item: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.flatMap((key) => item[key] === undefined ? [] : [[key, item[key]]]));
}

function resourceLine(item: Record<string, unknown>): Record<string, unknown> {
  return pick(item, ["uri", "name", "title", "description", "mimeType", "size"]);
}

function promptLine(item: Record<string, unknown>): Record<string, unknown> {
  return pick(item, ["name", "title", "description", "arguments"]);
}

/** The first text among the arguments: what a person would recognise the call by. */
function labelOf(args: Args): string {
  const text = Object.values(args).find((value) => typeof value === "string" && value !== "");
  return typeof text === "string" ? text.split("\n", 1)[0]!.slice(0, MAX_LABEL) : "";
}

function makeTool(name: string, recipe: Recipe, reader: string | null, server: ServerTools): Tool {
  return {
    name,
    toolset: toolsetName(server.config.name),
    description: recipe.description,
    parameters: recipe.parameters,
    parallel: server.config.parallel ? "safe" : "never",
    describe: (args) => ({
      title: name,
      label: labelOf(args),
      kind: "other",
      locations: [],
      startText: Object.keys(args).length > 0 ? JSON.stringify(args, null, 2) : "",
    }),
    limitSeconds: () => (server.config.connectTimeoutMs + server.config.timeoutMs) / 1000,
    execute: async (args, context) => {
      const place: ResultPlace = { tool: name, reader, context };
      try {
        return await server.call(
          context,
          (connection, limits) => recipe.run(args, connection, limits, place),
        );
      } catch (error) {
        return server.failed(error, place);
      }
    },
  };
}
