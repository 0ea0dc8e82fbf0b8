/**
 * Bodies that do not fit, made from the shapes of `/openapi.json`: each member of each body gets values of every wrong
 * type, words that are not on its list, lengths beside its bounds, or goes missing. What the shape refuses is refused
 * with 400, and nothing else is: members marked `x-lenient` never are (api-server.md A7, B1, B2, B4, B6, B10).
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import { assert, assertEquals } from "../../support/assert.ts";
import { type ApiServer, startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { ask, eventsUntil, startRun, untilStatus, type Wire } from "./run_scene.ts";

const IMAGE = "data:image/png;base64,AAAA";
const CONTENT = [
  { type: "text", text: "a" },
  { type: "image_url", image_url: { url: IMAGE, detail: "low" } },
  { type: "input_image", image_url: IMAGE, detail: "low" },
  "b",
  1,
  true,
  null,
];
const MODEL = {
  model: "hermes-agent",
  provider: "",
  model_options: { reasoning_effort: "low" },
};
const ITEMS = [
  { role: "user", content: "first" },
  { type: "message", role: "assistant", content: CONTENT },
  { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
  { type: "function_call_output", call_id: "c1", output: CONTENT },
  { type: "reasoning" },
  "bare",
  { role: "user", content: 5 },
  { role: "user", content: true },
];
const HISTORY = [{ role: "user", content: CONTENT }];

/** Bodies that fit, by the name of their shape; together they have every member and every kind of value. */
const GOOD: Record<string, (n: number) => Wire[]> = {
  ChatRequest: () => [{
    messages: [
      { role: "user", content: "first" },
      {
        role: "assistant",
        content: 1,
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: true },
      { role: "user", content: CONTENT },
      { role: "user", content: "last" },
    ],
    stream: false,
    stream_options: { include_usage: true },
    tools: [{ type: "function", function: { name: "f", description: "d", parameters: {} } }],
    ...MODEL,
  }],
  ResponseRequest: () => [
    {
      input: "hi",
      conversation: "c",
      instructions: "i",
      store: false,
      stream: false,
      truncation: "auto",
      ...MODEL,
    },
    { input: ITEMS, conversation: { id: "c" }, conversation_history: HISTORY },
    { input: "hi", previous_response_id: "resp_none" },
  ],
  RunRequest: () => [{
    input: ITEMS,
    session_id: "s",
    instructions: "i",
    conversation_history: HISTORY,
    previous_response_id: "resp_none",
    clarify: true,
    callback_url: "https://hooks.example/runs",
    author: { name: "a" },
    ...MODEL,
  }, { input: "hi" }],
  ApprovalRequest: () => [{ choice: "once", request_id: "r", all: false, reason: "x" }],
  ClarifyRequest: () => [{ answer: "a", request_id: "r" }],
  SteerRequest: () => [{ input: "a" }, { input: 1 }, { input: true }, { input: CONTENT }],
  SessionCreate: (n) => [{ id: `made-${n}`, title: `made ${n}`, model: "", system_prompt: "s" }],
  SessionPatch: (n) => [{ title: `patched ${n}`, end_reason: "done" }],
  SessionFork: (n) => [{ id: `fork-${n}`, title: `fork ${n}` }],
  SessionChat: () => [
    { message: "hi", system_message: "s", ...MODEL },
    { message: CONTENT },
    { message: 1 },
    { message: true },
  ],
  BrowserRegistration: () => [{
    protocol_version: 1,
    session_id: "kept",
    controller_id: "c",
    browser_profile_id: "p",
    capabilities: ["browser_click", "browser_type"],
  }],
};

interface Place {
  readonly path: readonly (string | number)[];
  readonly node: Wire;
  readonly value: Wire;
  /** It, or something around it, is lenient. */
  readonly lenient: boolean;
}

type Fits = (node: Wire, value: unknown) => boolean;

/** Every place of a body with the part of the schema that it fits. */
function placesOf(node: Wire, value: Wire, fits: Fits, path: Place["path"] = [], around = false): Place[] {
  const lenient = around || node["x-lenient"] === true;
  const here = [{ path, node, value, lenient }];
  const branch = node.anyOf?.find((one: Wire) => fits(one, value));
  if (branch) return [...here, ...placesOf(branch, value, fits, path, lenient)];
  if (Array.isArray(value)) {
    return [
      ...here,
      ...value.flatMap((one, i) => node.items ? placesOf(node.items, one, fits, [...path, i], lenient) : []),
    ];
  }
  const members = Object.entries(node.properties ?? {}).filter(([name]) =>
    value !== null && name in Object(value)
  );
  return [
    ...here,
    ...members.flatMap(([name, one]) => placesOf(one, value[name], fits, [...path, name], lenient)),
  ];
}

const GONE = Symbol("gone");

/** A copy of the body with another value at the place. */
function withValue(body: Wire, path: Place["path"], value: unknown): Wire {
  if (path.length === 0) return value;
  const [name, ...rest] = path;
  const copy = Array.isArray(body) ? [...body] : { ...body };
  if (rest.length === 0 && value === GONE) delete copy[name!];
  else copy[name!] = withValue(copy[name!], rest, value);
  return copy;
}

/** Values for a place, of every type and beside its bounds, each with whether it is taken all the same. */
function misfitsOf({ node, value, lenient }: Place): [value: unknown, lenient: boolean][] {
  const long = (length: number) => typeof value === "string" ? value + "x".repeat(length - value.length) : "";
  const values = [
    ...[null, true, 7, "word", [], {}],
    ...(node.maxLength === undefined ? [] : [long(node.maxLength), long(node.maxLength + 1)]),
    ...(node.minLength === undefined ? [] : [""]),
    ...(node.maxItems === undefined || !Array.isArray(value)
      ? []
      : [Array(node.maxItems).fill("x"), Array(node.maxItems + 1).fill("x")]),
    ...(node.type === "object" ? [{ ...value, "x-unknown": 1 }] : []),
  ];
  const without = (node.required ?? []).map((name: string): [unknown, boolean] => [
    withValue(value, [name], GONE),
    lenient || node.properties[name]["x-lenient"] === true,
  ]);
  return [...values.map((one): [unknown, boolean] => [one, lenient]), ...without];
}

/** Made from the value that was there. */
function isBeside(value: unknown): boolean {
  return JSON.stringify(value)?.includes("x") === true;
}

interface Case {
  readonly body: Wire;
  readonly where: string;
  readonly refused: boolean;
}

function createChecker(document: Wire): Fits {
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema({ $id: "doc", components: document.components });
  const known = new Map<unknown, (value: unknown) => boolean>();
  return (node, value) => {
    const validate = known.get(node) ?? ajv.compile(node);
    known.set(node, validate as (value: unknown) => boolean);
    return validate(value) as boolean;
  };
}

/** All cases of a shape; `fits` says which of them it refuses. */
function casesOf(name: string, schema: Wire, fits: Fits): Case[] {
  const cases: Case[] = [];
  const seen = new Set<string>();
  const count = GOOD[name]!(0).length;
  let n = 0;
  for (let at = 0; at < count; at++) {
    const good = () => GOOD[name]!(++n)[at];
    const sample = good();
    assert(fits(schema, sample), `${name}: ${JSON.stringify(sample)} does not fit`);
    cases.push({ body: sample, where: `${name} as it should be`, refused: false });
    for (const place of placesOf(schema, sample, fits)) {
      seen.add(JSON.stringify(place.node));
      for (const [value, lenient] of misfitsOf(place)) {
        const body = withValue(good(), place.path, value);
        const isFit = fits(schema, body);
        // Other values that fit may be refused for what they say.
        if (isFit && value !== null && !isBeside(value)) continue;
        const where = `${name} ${place.path.join(".")} = ${JSON.stringify(value)?.slice(0, 80)}`;
        cases.push({ body, where, refused: !isFit && !lenient });
      }
    }
  }
  assertEquals([name, nodesOf(schema).filter((node) => !seen.has(JSON.stringify(node)))], [name, []]);
  return cases;
}

/** Parts of a schema that values stand for. */
function nodesOf(node: Wire): Wire[] {
  const parts = [
    ...node.anyOf ?? [],
    ...(node.items ? [node.items] : []),
    ...Object.values(node.properties ?? {}),
  ];
  // Null is tried everywhere.
  return [node, ...parts.flatMap(nodesOf)].filter(({ type }) => type !== "null");
}

/** Refusals that are not about a shape: nobody has said anything, or two cases want one title. */
const OTHER = /"No user message found in|"Missing 'message' field|already in use/;

async function hold(api: ApiServer, path: string, method: string, cases: readonly Case[]): Promise<void> {
  const wrong: string[] = [];
  for (let at = 0; at < cases.length; at += 16) {
    await Promise.all(
      cases.slice(at, at + 16).map(async ({ body, where, refused }) => {
        const response = await api.call(path, { method, body });
        const text = await response.text();
        assert(response.status !== 500, `${where}: ${text}`);
        const isRefused = response.status === 400 && (refused || !OTHER.test(text));
        if (isRefused !== refused) {
          wrong.push(`${where}: ${response.status} ${text.slice(0, 160)}`);
        }
        if (refused && response.status === 400) {
          assertEquals(
            Object.keys(JSON.parse(text).error).sort(),
            ["code", "message", "param", "type"],
            where,
          );
        }
      }),
    );
  }
  assertEquals(wrong.slice(0, 20), []);
}

Deno.test("issue 6.7: what the shapes refuse is refused, member by member, and nothing else is", async () => {
  // Without a model: a body that is taken starts nothing.
  await using api = await startApi({
    config: { browser: { extension_control: { enabled: true } } },
    server: { max_concurrent_runs: 0, callback_urls: ["https://hooks.example/*"] },
    env: { API_SERVER_CALLBACK_SECRET: "s".repeat(32) },
  });
  await ask(api, "/api/sessions", { body: { id: "kept" } });
  await ask(api, "/api/sessions", { body: { id: "other" } });
  await using model = await startModelServer({
    turns: ["done", { steps: [{ text: "x" }, { stall: true }] }],
  });
  await using busy = await startApi({ model });
  const ended = await startRun(busy);
  await untilStatus(busy, ended, "completed");
  const running = await startRun(busy);
  await eventsUntil(busy, running, (event) => event.event === "message.delta");
  const document = await (await api.call("/openapi.json", { key: null })).json();
  const fits = createChecker(document);
  let shapes = 0;
  let total = 0;
  for (const [path, methods] of Object.entries(document.paths as Record<string, Record<string, Wire>>)) {
    for (const method of ["post", "patch"]) {
      const ref = methods[method]?.requestBody?.content["application/json"].schema.$ref;
      if (!ref) continue;
      const name = ref.split("/").at(-1);
      const cases = casesOf(name, document.components.schemas[name], fits);
      const isControl = /\/(approval|clarify|steer)$/.test(path);
      const id = path.endsWith("/steer")
        ? running
        : isControl
        ? ended
        : path.endsWith("/fork")
        ? "other"
        : "kept";
      await hold(isControl ? busy : api, path.replace("{id}", id), method.toUpperCase(), cases);
      shapes++;
      total += cases.length;
    }
  }
  assertEquals(shapes, 12);
  assert(total > 800, String(total));
});
