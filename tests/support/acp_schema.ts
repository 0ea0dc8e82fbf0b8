/**
 * The ACP v1 schema of the SDK as a judge of frames: every line the program writes is checked against the
 * definition of its method. Test-only.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import schema from "@agentclientprotocol/sdk/schema/v1/schema.json" with { type: "json" };

// deno-lint-ignore no-explicit-any
type Definitions = Record<string, any>;

const definitions = schema.$defs as Definitions;
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false });
ajv.addSchema(schema, "acp");
const compiled = new Map<string, ValidateFunction>();

function check(name: string, value: unknown): void {
  let validate = compiled.get(name);
  if (!validate) {
    validate = ajv.compile({ $ref: `acp#/$defs/${name}` });
    compiled.set(name, validate);
  }
  if (validate(value)) return;
  const errors = ajv.errorsText(validate.errors, { separator: "; " }).slice(0, 600);
  throw new Error(`Not a valid ${name}: ${errors}\n${JSON.stringify(value).slice(0, 800)}`);
}

function definitionOf(method: string, kind: "Request" | "Response" | "Notification"): string | null {
  const found = Object.entries(definitions).find(([name, body]) =>
    body["x-method"] === method && name.endsWith(kind)
  );
  return found?.[0] ?? null;
}

/** Methods of ours that the stable schema does not have, and the definition their result must satisfy. */
const CUSTOM_RESULTS: Record<string, string> = {
  "session/fork": "NewSessionResponse",
  "session/set_model": "SetSessionModeResponse",
};

/** Notifications of ours (acp.md C11), and the fields that each has. */
const CUSTOM_NOTIFICATIONS: Record<string, readonly string[]> = {
  "_hermes/process": ["sessionId", "toolCallId", "processId", "command", "status"],
  "_hermes/notification": ["sessionId", "kind", "title", "text", "notificationIds"],
};

const STEERING_OUTCOMES = ["injected", "startedNewTurn", "promptRequired"];

/**
 * Throws unless `line` is one frame the protocol allows. `methodOf` names the method of an answered request;
 * `null` when we sent none with that id (errors only).
 */
export function checkFrame(line: string, methodOf: (id: unknown) => string | null): Record<string, unknown> {
  if (/[\r\u2028\u2029\u0085]/.test(line)) {
    throw new Error(`Raw line break inside a frame: ${JSON.stringify(line)}`);
  }
  if (line.includes("\\ud") && /^(?:[^\\]|\\[^u]|\\u(?!d[89a-f]))*\\ud[89a-f]/.test(line)) {
    throw new Error(`Half a surrogate pair inside a frame: ${line.slice(0, 400)}`);
  }
  const frame = JSON.parse(line) as Record<string, unknown>;
  if (frame.jsonrpc !== "2.0") throw new Error(`Not JSON-RPC 2.0: ${line.slice(0, 200)}`);
  if (typeof frame.method === "string") {
    const kind = "id" in frame ? "Request" : "Notification";
    const fields = CUSTOM_NOTIFICATIONS[frame.method];
    if (fields && kind === "Notification") {
      const params = frame.params as Record<string, unknown>;
      const missing = fields.filter((field) => params[field] === undefined);
      if (missing.length > 0) throw new Error(`${frame.method} lacks ${missing.join(", ")}: ${line}`);
      return frame;
    }
    const name = definitionOf(frame.method, kind);
    if (!name) throw new Error(`Unknown ${kind} from the agent: ${frame.method}`);
    check(name, frame.params);
  } else if ("error" in frame) check("Error", frame.error);
  else {
    const method = methodOf(frame.id);
    if (method === null) throw new Error(`Answer to a request that was not sent: ${line.slice(0, 200)}`);
    if (method === "_session/steering") {
      const { outcome } = frame.result as { outcome?: string };
      if (!STEERING_OUTCOMES.includes(outcome ?? "")) throw new Error(`Wrong steering outcome: ${line}`);
      return frame;
    }
    const name = CUSTOM_RESULTS[method] ?? definitionOf(method, "Response");
    if (!name) throw new Error(`Result for an unknown method: ${method}`);
    check(name, frame.result);
  }
  return frame;
}
