/**
 * A scripted MCP server for tests, written against the wire and not against an SDK. As a program it speaks stdio
 * (`stdioServer()` gives the entry for `mcp_servers`); in the test's own process it speaks Streamable HTTP and SSE.
 *
 *   const entry = stdioServer({ tools: ["echo", "env"] });            // {command, args}
 *   await using server = await startMcpHttp({ tools: ["echo"] });     // server.url, server.sseUrl
 */

export interface McpScript {
  /** Which of `TOOLS` it offers; names it does not know are offered as `echo` under that name. */
  readonly tools?: readonly string[];
  /** Starts and never answers. */
  readonly silent?: boolean;
  /** Answers `initialize` after so long. */
  readonly startMs?: number;
  /** Ends at once with this code, after a line on stderr. */
  readonly exit?: number;
  /** Written to stdout before anything else: no JSON. */
  readonly banner?: string;
  readonly stderr?: string;
  readonly resources?: boolean;
  readonly prompts?: boolean;
  /** The list of tools moves while it is asked for the first time. */
  readonly late?: boolean;
  /** HTTP: default a free one. */
  readonly port?: number;
  /** HTTP: knows the revision of 2026-07-28 only, and refuses the older handshake. */
  readonly modern?: boolean;
  /** HTTP: a web page stands where a client looks for a server, so many times. */
  readonly pages?: number;
  /** Description of every tool. */
  readonly description?: string;
  /** Every start adds a line with its pid here. */
  readonly journal?: string;
}

// deno-lint-ignore no-explicit-any
type Json = any;

const SELF = new URL(import.meta.url).pathname;

/** The entry of a stdio server; `more` joins it. */
export function stdioServer(
  script: McpScript = {},
  more: Record<string, unknown> = {},
): { command: string; args: string[] } {
  return {
    command: Deno.execPath(),
    args: ["run", "-A", "--quiet", "--no-check", "--no-config", "--no-lock", SELF, JSON.stringify(script)],
    ...more,
  };
}

const text = (value: unknown) => ({
  content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }],
});
const REVISION = "2026-07-28";
const PIXEL = "iVBORw0KGgo=";

interface Seat {
  readonly script: McpScript;
  readonly extra: string[];
  readonly seen: Json[];
  notify(method: string, params?: Json): void;
  /** Asks the client (stdio only); its result, or `{error}`. */
  ask(method: string, params: Json): Promise<Json>;
  /** What the client said of itself. */
  client: Json;
}

type Answer = { result: Json } | { error: { code: number; message: string } } | null;

const TOOLS: Record<string, (args: Json, seat: Seat, params: Json) => Promise<Json> | Json> = {
  echo: (args) => text(args.text ?? args),
  client: (_, seat) => text(seat.client),
  sample: async (args, seat) => text(await seat.ask("sampling/createMessage", { maxTokens: 50, ...args })),
  sample_later: (args, seat) => {
    setTimeout(async () => {
      seat.seen.push({ later: await seat.ask("sampling/createMessage", { maxTokens: 50, ...args }) });
    }, 30);
    return text("soon");
  },
  env: () => text(Deno.env.toObject()),
  where: () => text({ cwd: Deno.cwd(), pid: Deno.pid }),
  fail: (args) => ({ ...text(args.text ?? "it did not work"), isError: true }),
  structured: () => ({ content: [], structuredContent: { answer: 42 } }),
  both: () => ({ ...text("forty-two"), structuredContent: { answer: 42 } }),
  image: () => ({ content: [{ type: "image", data: PIXEL, mimeType: "image/png" }] }),
  link: () => ({ content: [{ type: "resource_link", uri: "memo:///a", name: "A" }] }),
  embedded: () => ({ content: [{ type: "resource", resource: { uri: "memo:///a", text: "inside" } }] }),
  seen: (_, seat) => text(seat.seen),
  hang: () => new Promise(() => {}),
  die: () => Deno.exit(3),
  child: (args) => {
    const child = new Deno.Command("sleep", {
      args: [args.mark],
      stdout: "null",
      stderr: "null",
      stdin: "null",
    });
    return text({ pid: child.spawn().pid });
  },
  slow: async (args) => {
    const from = Date.now();
    await new Promise((resolve) => setTimeout(resolve, args.ms));
    return text({ from, to: Date.now() });
  },
  progress: async (_, seat, params) => {
    const token = params._meta?.progressToken;
    seat.notify("notifications/progress", {
      progressToken: token,
      progress: 1,
      total: 2,
      message: "half way",
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    return text("done with progress");
  },
  grow: (_, seat) => {
    seat.extra.push("grown");
    seat.notify("notifications/tools/list_changed");
    return text("one more");
  },
};

/** What the server says to one message; `null` = nothing (a notification, or it will never answer). */
async function answer(message: Json, seat: Seat): Promise<Answer> {
  const { script } = seat;
  if (message.id === undefined) {
    seat.seen.push({ method: message.method, params: message.params });
    return null;
  }
  const params = message.params ?? {};
  switch (message.method) {
    case "initialize":
      seat.client = params;
      if (script.startMs) await new Promise((resolve) => setTimeout(resolve, script.startMs));
      return {
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: {
            tools: { listChanged: true },
            ...(script.resources ? { resources: {} } : {}),
            ...(script.prompts ? { prompts: {} } : {}),
          },
          serverInfo: { name: "scripted", version: "1" },
        },
      };
    case "ping":
      return { result: {} };
    case "tools/list": {
      const tools = [...(script.tools ?? ["echo"]), ...seat.extra].map((name) => describeTool(name, script));
      if (script.late && seat.extra.length === 0) {
        seat.extra.push("late");
        seat.notify("notifications/tools/list_changed");
      }
      return { result: { tools } };
    }
    case "tools/call":
      if (params.name === "refuse") return { error: { code: -32602, message: "wrong arguments, it says" } };
      return { result: await (TOOLS[params.name] ?? TOOLS.echo!)(params.arguments ?? {}, seat, params) };
    case "resources/list":
      return { result: { resources: [{ uri: "memo:///a", name: "A", mimeType: "text/plain" }] } };
    case "resources/read":
      return { result: { contents: [{ uri: params.uri, text: `contents of ${params.uri}` }] } };
    case "prompts/list":
      return { result: { prompts: [{ name: "greet", arguments: [{ name: "who" }] }] } };
    case "prompts/get":
      return {
        result: {
          messages: [{ role: "user", content: { type: "text", text: `Hello ${params.arguments?.who}` } }],
        },
      };
    default:
      return { error: { code: -32601, message: `no ${message.method} here` } };
  }
}

function describeTool(name: string, script: McpScript): Json {
  // One tool says nothing of its arguments, as some servers do.
  if (name === "where") return { name, description: "Where it runs" };
  return {
    name,
    description: script.description ?? `Does ${name}`,
    inputSchema: {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { text: { type: "string" } },
    },
  };
}

// ── stdio ───────────────────────────────────────────────────────────────────────────────────────────────────

async function serveStdio(script: McpScript): Promise<void> {
  const encoder = new TextEncoder();
  const write = (line: string) => Deno.stdout.writeSync(encoder.encode(line + "\n"));
  if (script.journal) await Deno.writeTextFile(script.journal, `${Deno.pid}\n`, { append: true });
  if (script.stderr) Deno.stderr.writeSync(encoder.encode(script.stderr + "\n"));
  if (script.exit !== undefined) Deno.exit(script.exit);
  if (script.banner) write(script.banner);
  const asked = new Map<string, (answer: Json) => void>();
  const seat: Seat = {
    script,
    extra: [],
    seen: [],
    client: null,
    notify: (method, params) =>
      write(JSON.stringify({ jsonrpc: "2.0", method, ...(params ? { params } : {}) })),
    ask: (method, params) =>
      new Promise((resolve) => {
        const id = `ask-${asked.size}`;
        asked.set(id, resolve);
        write(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      }),
  };
  let rest = "";
  for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    for (const line of lines.filter((one) => one.trim() !== "")) {
      if (script.silent) continue;
      const message = JSON.parse(line);
      if (message.method === undefined) {
        asked.get(message.id)?.(message.result ?? { error: message.error });
        continue;
      }
      void answer(message, seat).then((reply) => {
        if (reply) write(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...reply }));
      });
    }
  }
  Deno.exit(0);
}

// ── HTTP ────────────────────────────────────────────────────────────────────────────────────────────────────

export interface McpHttpServer extends AsyncDisposable {
  /** Streamable HTTP. */
  readonly url: string;
  /** The older transport. */
  readonly sseUrl: string;
  /** Every request: method, path and lower-case headers. */
  readonly requests: { method: string; path: string; headers: Record<string, string> }[];
  /** Forgets its sessions, as after a restart. */
  forget(): void;
}

export function startMcpHttp(script: McpScript = {}): Promise<McpHttpServer> {
  const requests: McpHttpServer["requests"] = [];
  let sessions = new Set<string>();
  let stream: ReadableStreamDefaultController<Uint8Array> | null = null;
  const seat: Seat = {
    script,
    extra: [],
    seen: [],
    client: null,
    notify: () => {},
    ask: () => Promise.reject(new Error("over stdio only")),
  };
  const encoder = new TextEncoder();
  const event = (name: string, data: string) => encoder.encode(`event: ${name}\ndata: ${data}\n\n`);
  const reply = async (message: Json) => {
    const said = await answer(message, seat);
    return said && { jsonrpc: "2.0", id: message.id, ...said };
  };

  let pages = script.pages ?? 0;
  async function streamable(request: Request): Promise<Response> {
    if (pages-- > 0) {
      return new Response("<html>Welcome</html>", {
        headers: { "content-type": "text/html; charset=utf-8" },
      });
    }
    if (request.method === "DELETE") return new Response(null, { status: 204 });
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const message = await request.json();
    if (script.modern) return await modernReply(message);
    const id = request.headers.get("mcp-session-id");
    if (message.method !== "initialize" && !sessions.has(id ?? "")) {
      return new Response("unknown session", { status: 404 });
    }
    const body = await reply(message);
    if (!body) return new Response(null, { status: 202 });
    const headers: Record<string, string> = {};
    if (message.method === "initialize") {
      headers["mcp-session-id"] = crypto.randomUUID();
      sessions.add(headers["mcp-session-id"]);
    }
    if (message.method !== "tools/call") return Response.json(body, { headers });
    return new Response(event("message", JSON.stringify(body)), {
      headers: { ...headers, "content-type": "text/event-stream" },
    });
  }

  async function modernReply(message: Json): Promise<Response> {
    if (message.method === "initialize") {
      const error = {
        code: -32022,
        message: "Unsupported protocol version",
        data: { supported: [REVISION] },
      };
      return Response.json({ jsonrpc: "2.0", id: message.id, error }, { status: 400 });
    }
    const shared = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
    if (message.method === "server/discover") {
      const result = { supportedVersions: [REVISION], capabilities: { tools: {} }, ...shared };
      return Response.json({ jsonrpc: "2.0", id: message.id, result });
    }
    const body = await reply(message);
    if (!body) return new Response(null, { status: 202 });
    return Response.json("result" in body ? { ...body, result: { ...body.result, ...shared } } : body);
  }

  async function sse(request: Request): Promise<Response> {
    if (request.method === "GET") {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          stream = controller;
          controller.enqueue(event("endpoint", "/messages"));
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    }
    const body = await reply(await request.json());
    if (body) stream?.enqueue(event("message", JSON.stringify(body)));
    return new Response(null, { status: 202 });
  }

  return new Promise((resolve) => {
    const server = Deno.serve({
      hostname: "127.0.0.1",
      port: script.port ?? 0,
      onListen: ({ port }) =>
        resolve({
          url: `http://127.0.0.1:${port}/mcp`,
          sseUrl: `http://127.0.0.1:${port}/sse`,
          requests,
          forget: () => void (sessions = new Set()),
          [Symbol.asyncDispose]: () => {
            try {
              stream?.close();
            } catch {
              // The client has left already.
            }
            return server.shutdown();
          },
        }),
    }, (request) => {
      const path = new URL(request.url).pathname;
      requests.push({ method: request.method, path, headers: Object.fromEntries(request.headers) });
      return path === "/mcp" ? streamable(request) : sse(request);
    });
  });
}

if (import.meta.main) await serveStdio(JSON.parse(Deno.args[0] ?? "{}"));
