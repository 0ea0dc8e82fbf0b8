/**
 * Valid requests of the gateway, made from its own contract (`hermes gateway --schema`), so that a new method is
 * attacked from its first day. Only where a random text would do real work outside of the throw-away home is the value
 * fixed.
 */
import type { Rig } from "../../tests/support/program.ts";
import { runProgram } from "../../tests/support/program.ts";
import { nasty } from "./mutate.ts";
import type { Random } from "./random.ts";

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
}

export interface GatewayMethod {
  readonly name: string;
  readonly params: readonly { readonly name: string; readonly required: boolean; readonly schema: Schema }[];
}

export interface Known {
  readonly rig: Rig;
  /** Live sessions. */
  readonly sessions: string[];
  /** Stored ones. */
  readonly stored: string[];
  /** Ids of questions the program has asked. */
  readonly asked: string[];
}

/** Methods whose texts are commands of the machine: they always get these. */
const HARMLESS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "shell.exec": { command: "echo torture" },
  "cli.exec": { argv: ["--version"], timeout: 5 },
};

const CONFIG_KEYS = [
  "busy",
  "reasoning",
  "model",
  "verbose",
  "yolo",
  "details_mode",
  "skin",
  "prompt",
  "mtime",
  "full",
];
const COMMANDS = [
  "/help",
  "/status",
  "/title new",
  "/model",
  "/usage",
  "/nope",
  "/undo",
  "/compress",
  "/",
  "help",
];

export async function gatewayMethods(rig: Rig): Promise<GatewayMethod[]> {
  const { stdout } = await runProgram(["gateway", "--schema"], { rig });
  return JSON.parse(stdout).methods;
}

/** Parameters as the contract has them; some optional ones are left out. */
export function paramsOf(method: GatewayMethod, known: Known, random: Random): Record<string, unknown> {
  const params: Record<string, unknown> = {};
  for (const { name, required, schema } of method.params) {
    if (!required && name !== "session_id" && random.chance(0.35)) continue;
    params[name] = valueOf(method.name, name, schema, known, random);
  }
  return { ...params, ...HARMLESS[method.name] };
}

function valueOf(method: string, name: string, schema: Schema, known: Known, random: Random): unknown {
  switch (name) {
    case "session_id":
      return random.chance(0.1)
        ? random.pick(["ffffffff", "nope", ...known.stored])
        : random.pick(method === "session.resume" ? known.stored : known.sessions) ?? "none";
    case "request_id":
    case "id":
      return random.pick(known.asked) ?? "0badc0de";
    case "cwd":
      return random.pick([known.rig.workspace, "/nowhere", "."]);
    case "path":
    case "file_path":
      return random.pick([`${known.rig.workspace}/a.txt`, "a.txt", "/nowhere", "../a"]);
    case "key":
      return random.pick(CONFIG_KEYS);
    case "command":
      return random.pick(COMMANDS);
    case "text":
      return random.pick(["hello", "work", "/help", "a longer text\nin two lines", "ünï"]);
    default:
      return ofSchema(schema, random);
  }
}

function ofSchema(schema: Schema, random: Random): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return random.pick(schema.enum);
  if (schema.anyOf) return ofSchema(random.pick(schema.anyOf), random);
  const type = typeof schema.type === "string"
    ? schema.type
    : random.pick(schema.type ?? ["string", "other"]);
  switch (type) {
    case "string":
      return random.pick(["a", "on", "list", "default", "10", "search", "x y z"]);
    case "integer":
    case "number":
      return random.pick([0, 1, 3, 80, 10_000]);
    case "boolean":
      return random.chance(0.5);
    case "null":
      return null;
    case "array":
      return random.pick([[], ["a"], [{ a: 1 }]]);
    case "object":
      return {};
    default:
      return nasty(random);
  }
}
