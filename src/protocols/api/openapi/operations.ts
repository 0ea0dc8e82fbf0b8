/**
 * What the document says about each route: one row per method and path of the table of routes, with its shapes and
 * examples. A test sends every example to a real server and checks the answer against the shape given here.
 */
import type * as z from "zod/mini";
import * as answers from "./answers.ts";
import * as requests from "./requests.ts";

export interface Operation {
  readonly method: "get" | "post" | "patch" | "delete";
  /** As in OpenAPI: `/v1/runs/{id}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** Name of a shape in `requests.ts`. */
  readonly body?: keyof typeof requests;
  readonly query?:
    readonly (readonly [name: string, type: "integer" | "string" | "boolean", about: string])[];
  readonly headers?: readonly (keyof typeof HEADERS)[];
  /** The good answer: its status, and the name of a shape in `answers.ts`; `null` = text of this type. */
  readonly status: number;
  readonly answer: keyof typeof answers | null;
  readonly type?: "text/plain" | "text/html";
  /** The shape of one event when the request asks for a stream; `only`: it is always one. */
  readonly stream?: { readonly event: keyof typeof answers; readonly only?: true };
  /** Error statuses beside 403 and, where a key is needed, 401 and 429. */
  readonly errors: readonly number[];
  /** Bodies by name. A `{session}` and the like in a path or body stands for one that exists. */
  readonly examples?: Readonly<Record<string, unknown>>;
}

export const HEADERS = {
  "X-Hermes-Session-Id": "Go on with this transcript of the server, or begin one of this name.",
  "X-Hermes-Session-Key": "Keeps equal conversations of different users apart.",
  "Idempotency-Key": "Equal requests under one key do the work once.",
  "Last-Event-ID": "The last event you have; the stream goes on after it.",
  "X-Hermes-Tool-Items": "`omit`: calls of the server's own tools are left out of the answer.",
  "Sec-WebSocket-Protocol":
    "`hermes-browser-control-v1` and `hermes-browser-control-ticket.<ticket>`, in a list.",
} as const;

const TURN = ["X-Hermes-Session-Id", "X-Hermes-Session-Key", "Idempotency-Key"] as const;
const PAGE = [
  ["limit", "integer", "How many at most."],
  ["offset", "integer", "How many to leave out."],
] as const;
const TURN_ERRORS = [400, 404, 409, 413, 500, 502, 503];

export const OPERATIONS: readonly Operation[] = [
  {
    method: "post",
    path: "/v1/chat/completions",
    tag: "Chat",
    summary: "One agent turn on a conversation that the client sends",
    body: "ChatRequest",
    headers: TURN,
    status: 200,
    answer: "ChatCompletion",
    stream: { event: "ChatChunk" },
    errors: TURN_ERRORS,
    examples: {
      plain: { model: "hermes-agent", messages: [{ role: "user", content: "List the files here" }] },
      stream: {
        stream: true,
        stream_options: { include_usage: true },
        messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hello" }],
      },
      "tools of your own": {
        messages: [{ role: "user", content: "What is the weather?" }],
        tools: [{
          type: "function",
          function: { name: "get_weather", parameters: { type: "object", properties: {} } },
        }],
      },
    },
  },
  {
    method: "post",
    path: "/v1/responses",
    tag: "Responses",
    summary: "One agent turn, stored, and listing what the agent did",
    body: "ResponseRequest",
    headers: [...TURN, "X-Hermes-Tool-Items"],
    status: 200,
    answer: "ResponseObject",
    stream: { event: "ResponseEvent" },
    errors: TURN_ERRORS,
    examples: {
      text: { input: "List the files here" },
      "a conversation": { input: "And now?", conversation: "my project" },
      chained: { input: "Go on", previous_response_id: "{response}" },
      stream: { input: [{ role: "user", content: "Hello" }], stream: true },
    },
  },
  {
    method: "get",
    path: "/v1/responses/{id}",
    tag: "Responses",
    summary: "A stored response",
    status: 200,
    answer: "ResponseObject",
    errors: [400, 404],
  },
  {
    method: "delete",
    path: "/v1/responses/{id}",
    tag: "Responses",
    summary: "Forget a stored response",
    status: 200,
    answer: "ResponseDeleted",
    errors: [404],
  },
  {
    method: "post",
    path: "/v1/runs",
    tag: "Runs",
    summary: "Start a turn that lives on without its connection",
    body: "RunRequest",
    headers: TURN,
    status: 202,
    answer: "RunAccepted",
    errors: TURN_ERRORS,
    examples: {
      plain: { input: "Run the tests and fix what fails" },
      "in a session": { input: "Go on", session_id: "nightly", instructions: "Be careful." },
    },
  },
  {
    method: "get",
    path: "/v1/runs",
    tag: "Runs",
    summary: "Runs, newest first",
    query: [
      ["limit", "integer", "1 to 200; 50 without."],
      ["after", "string", "The last id of the page before; one that is no longer kept is 400."],
      ["status", "string", "Only those in this state."],
      ["session_id", "string", "Only those of this session."],
    ],
    status: 200,
    answer: "RunList",
    errors: [400],
  },
  {
    method: "get",
    path: "/v1/runs/{id}",
    tag: "Runs",
    summary: "Status, output and usage of a run",
    status: 200,
    answer: "Run",
    errors: [404],
  },
  {
    method: "get",
    path: "/v1/runs/{id}/events",
    tag: "Runs",
    summary: "Everything that happened and happens in a run",
    query: [["last_seq", "integer", "As the header Last-Event-ID."]],
    headers: ["Last-Event-ID"],
    status: 200,
    answer: null,
    stream: { event: "RunEvent", only: true },
    errors: [404],
  },
  {
    method: "post",
    path: "/v1/runs/{id}/approval",
    tag: "Runs",
    summary: "Answer a question of a run, a completion or a session stream",
    body: "ApprovalRequest",
    status: 200,
    answer: "Approved",
    errors: [400, 404, 409],
    examples: { once: { choice: "once" } },
  },
  {
    method: "post",
    path: "/v1/runs/{id}/clarify",
    tag: "Runs",
    summary: "Answer a question of a run that was started with `clarify`",
    body: "ClarifyRequest",
    status: 200,
    answer: "Clarified",
    errors: [400, 404, 409],
    examples: { text: { answer: "the second one" } },
  },
  {
    method: "post",
    path: "/v1/runs/{id}/steer",
    tag: "Runs",
    summary: "Text that the agent reads after the tool that runs",
    body: "SteerRequest",
    status: 200,
    answer: "Steered",
    errors: [400, 404, 409],
    examples: { text: { input: "Leave the tests alone" } },
  },
  {
    method: "post",
    path: "/v1/runs/{id}/stop",
    tag: "Runs",
    summary: "End a run",
    status: 200,
    answer: "RunStopped",
    errors: [404, 409],
  },
  {
    method: "get",
    path: "/api/sessions",
    tag: "Sessions",
    summary: "Stored conversations, newest activity first",
    query: [...PAGE, ["source", "string", "Only those of this door."], [
      "include_children",
      "boolean",
      "Also those of sub-agents.",
    ]],
    status: 200,
    answer: "SessionList",
    errors: [400],
  },
  {
    method: "post",
    path: "/api/sessions",
    tag: "Sessions",
    summary: "Create a session",
    body: "SessionCreate",
    status: 201,
    answer: "SessionBody",
    errors: [400, 409, 503],
    examples: { named: { id: "my-session", title: "Parser", system_prompt: "Be brief." }, empty: {} },
  },
  {
    method: "get",
    path: "/api/sessions/{id}",
    tag: "Sessions",
    summary: "One session",
    status: 200,
    answer: "SessionBody",
    errors: [404],
  },
  {
    method: "patch",
    path: "/api/sessions/{id}",
    tag: "Sessions",
    summary: "Change its title, or end it",
    body: "SessionPatch",
    status: 200,
    answer: "SessionBody",
    errors: [400, 404, 409],
    examples: { title: { title: "Another title" } },
  },
  {
    method: "delete",
    path: "/api/sessions/{id}",
    tag: "Sessions",
    summary: "Delete a session",
    status: 200,
    answer: "SessionDeleted",
    errors: [404, 409],
  },
  {
    method: "get",
    path: "/api/sessions/{id}/messages",
    tag: "Sessions",
    summary: "Its messages",
    query: [...PAGE, ["order", "string", "`latest`: the newest first."]],
    status: 200,
    answer: "MessageList",
    errors: [400, 404],
  },
  {
    method: "post",
    path: "/api/sessions/{id}/fork",
    tag: "Sessions",
    summary: "A copy to go on with; the source is ended",
    body: "SessionFork",
    status: 201,
    answer: "SessionBody",
    errors: [400, 404, 409, 503],
    examples: { plain: {} },
  },
  {
    method: "post",
    path: "/api/sessions/{id}/chat",
    tag: "Sessions",
    summary: "One turn on the server's transcript",
    body: "SessionChat",
    headers: ["X-Hermes-Session-Key"],
    status: 200,
    answer: "SessionAnswer",
    errors: TURN_ERRORS,
    examples: { plain: { message: "Hello" } },
  },
  {
    method: "post",
    path: "/api/sessions/{id}/chat/stream",
    tag: "Sessions",
    summary: "The same as a stream of named events",
    body: "SessionChat",
    headers: ["X-Hermes-Session-Key"],
    status: 200,
    answer: null,
    stream: { event: "SessionEvent", only: true },
    errors: TURN_ERRORS,
    examples: { plain: { message: "Hello" } },
  },
  {
    method: "post",
    path: "/v1/browser-control/register",
    tag: "Browser",
    summary: "Lend a browser to a session: a ticket for GET /v1/browser-control/ws",
    body: "BrowserRegistration",
    status: 201,
    answer: "BrowserTicket",
    errors: [400, 404, 503],
    examples: {
      plain: {
        protocol_version: 1,
        session_id: "{session}",
        controller_id: "my-extension",
        browser_profile_id: "work",
        capabilities: ["browser_navigate", "browser_snapshot", "browser_click", "browser_type"],
      },
    },
  },
  {
    method: "get",
    path: "/v1/browser-control/ws",
    tag: "Browser",
    summary: "The WebSocket of a browser that was registered; the ticket stands for the key",
    headers: ["Sec-WebSocket-Protocol"],
    status: 101,
    answer: null,
    errors: [400, 401, 404, 426],
  },
  {
    method: "get",
    path: "/v1/models",
    tag: "Server",
    summary: "The server's model and your aliases",
    status: 200,
    answer: "ModelList",
    errors: [],
  },
  {
    method: "get",
    path: "/v1/models/{id}",
    tag: "Server",
    summary: "One of them",
    status: 200,
    answer: "Model",
    errors: [404],
  },
  {
    method: "get",
    path: "/api/model/options",
    tag: "Server",
    summary: "Providers and models for a picker",
    query: [["refresh", "boolean", "Ask the providers again."]],
    status: 200,
    answer: "ModelOptions",
    errors: [500],
  },
  {
    method: "get",
    path: "/v1/skills",
    tag: "Server",
    summary: "Skills of the agent",
    status: 200,
    answer: "NamedList",
    errors: [],
  },
  {
    method: "get",
    path: "/v1/toolsets",
    tag: "Server",
    summary: "Tools of the agent",
    status: 200,
    answer: "NamedList",
    errors: [],
  },
  {
    method: "get",
    path: "/v1/capabilities",
    tag: "Server",
    summary: "What this server can do",
    status: 200,
    answer: "Capabilities",
    errors: [],
  },
  {
    method: "get",
    path: "/health",
    tag: "Server",
    summary: "Is it up",
    status: 200,
    answer: "Health",
    errors: [],
  },
  {
    method: "get",
    path: "/v1/health",
    tag: "Server",
    summary: "The same",
    status: 200,
    answer: "Health",
    errors: [],
  },
  {
    method: "get",
    path: "/health/detailed",
    tag: "Server",
    summary: "Store, configuration, model, disk",
    status: 200,
    answer: "DetailedHealth",
    errors: [],
  },
  {
    method: "get",
    path: "/metrics",
    tag: "Server",
    summary: "Counters for Prometheus, when `metrics` is on",
    status: 200,
    answer: null,
    errors: [404],
  },
  {
    method: "get",
    path: "/openapi.json",
    tag: "Server",
    summary: "This description",
    status: 200,
    answer: "Description",
    errors: [],
  },
  {
    method: "get",
    path: "/docs",
    tag: "Server",
    summary: "The same as a page",
    status: 200,
    answer: null,
    type: "text/html",
    errors: [],
  },
];

/** Every named shape. */
export const SHAPES: Readonly<Record<string, z.core.$ZodType>> = { ...requests, ...answers };
