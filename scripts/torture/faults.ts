/** Everything a model server can do wrong, with how often in a row and how the turn may end. */
import type { Fault } from "./faulty_model.ts";

export interface ModelFault {
  readonly name: string;
  readonly play: Fault;
  /** Calls in a row that go wrong; default 1. */
  readonly times?: number;
  /** How the turn may end; default both. */
  readonly end?: "complete" | "error";
}

const html = "<html><body>Bad gateway</body></html>";
const error = (message: string, code: string | null = null) => JSON.stringify({ error: { message, code } });

const DEEP = "[".repeat(20_000) + "]".repeat(20_000);

function status(code: number, body: string, more?: string): Fault {
  return async (out) => {
    await out.whole(code, body, body.startsWith("<") ? "text/html" : "application/json", more);
    out.socket.end();
  };
}

/** A stream that begins well and goes on with `then`. */
function after(text: string, then: Fault): Fault {
  return async (out) => {
    await out.head();
    await out.chunk({ role: "assistant", content: text });
    await then(out);
  };
}

function calling(id: string, name: string, args: string, reason = "tool_calls"): Fault {
  return async (out) => {
    await out.head();
    await out.call(id, name, args);
    await out.finish(reason);
  };
}

export const FAULTS: readonly ModelFault[] = [
  { name: "stall before the head", play: (out) => out.stall(), times: Infinity, end: "error" },
  {
    name: "stall after the head",
    play: async (out) => (await out.head(), await out.stall()),
    times: Infinity,
    end: "error",
  },
  { name: "stall inside the text", play: after("Half", (out) => out.stall()), times: Infinity },
  {
    name: "stall inside the arguments",
    play: after("", async (out) => (await out.call("a", "read_file", '{"pa'), await out.stall())),
    times: Infinity,
  },
  { name: "keep-alive comments only", play: after("", keepAlive), times: Infinity },
  { name: "close before the head", play: (out) => void out.socket.destroy(), times: Infinity, end: "error" },
  {
    name: "reset before the head",
    play: (out) => void out.socket.resetAndDestroy(),
    times: Infinity,
    end: "error",
  },
  { name: "reset once", play: (out) => void out.socket.resetAndDestroy(), end: "complete" },
  {
    name: "reset inside the text",
    play: after("Half", (out) => void out.socket.resetAndDestroy()),
    times: Infinity,
  },
  {
    name: "half a chunk",
    play: after("Half", async (out) => (await out.write('data: {"cho'), void out.socket.end())),
    times: Infinity,
  },
  {
    name: "half a character",
    play: after(
      "Half",
      async (out) => (await out.write(Uint8Array.of(0x64, 0xe2, 0x82)), void out.socket.end()),
    ),
    times: Infinity,
  },
  { name: "no finish reason", play: after("Half", (out) => void out.socket.end()), times: Infinity },
  { name: "empty stream", play: async (out) => (await out.head(), void out.socket.end()), times: Infinity },
  {
    name: "only [DONE]",
    play: async (out) => (await out.head(), await out.event("[DONE]"), void out.socket.end()),
    times: Infinity,
  },
  { name: "empty answer", play: after("", (out) => out.finish()), times: Infinity },
  { name: "html with 200", play: status(200, html), times: Infinity },
  { name: "html with 502", play: status(502, html), times: Infinity, end: "error" },
  {
    name: "a whole JSON answer",
    play: status(200, '{"choices":[{"message":{"content":"Whole."},"finish_reason":"stop"}]}'),
  },
  { name: "an empty body with 200", play: status(200, ""), times: Infinity },
  { name: "JSON null", play: status(200, "null"), times: Infinity },
  {
    name: "not HTTP",
    play: async (out) => (await out.write("hello\r\n\r\n"), void out.socket.end()),
    times: Infinity,
    end: "error",
  },
  {
    name: "wrong length",
    play: async (
      out,
    ) => (await out.head(200, "application/json", "Content-Length: 999\r\n"),
      await out.write("{}"),
      void out.socket.end()),
    times: Infinity,
  },
  {
    name: "redirect to itself",
    play: status(302, "", "Location: /v1/chat/completions\r\n"),
    times: Infinity,
  },
  ...[400, 401, 402, 403, 404, 408, 409, 413, 418, 422, 429, 500, 501, 503, 504, 529].map((
    code,
  ): ModelFault => ({
    name: `${code} for ever`,
    play: status(code, error(`Scripted ${code}`), code === 429 ? "Retry-After: 1\r\n" : ""),
    times: Infinity,
    end: "error",
  })),
  {
    name: "429 with a wait that cannot be read",
    play: status(429, error("later"), "Retry-After: soon\r\nretry-after-ms: -5\r\n"),
    times: Infinity,
    end: "error",
  },
  { name: "context length", play: status(400, error("context", "context_length_exceeded")), times: Infinity },
  {
    name: "an error inside the stream",
    play: after("Half", async (out) => (await out.event(error("boom")), void out.socket.end())),
    times: Infinity,
  },
  { name: "a deep error", play: status(400, `{"error":${DEEP}}`), times: Infinity, end: "error" },
  { name: "a deep detail", play: status(422, `{"detail":${DEEP}}`), times: Infinity, end: "error" },
  {
    name: "a deep error inside the stream",
    play: after("", (out) => out.event(`{"error":${DEEP}}`).then(() => out.finish())),
    times: Infinity,
  },
  {
    name: "a deep event",
    play: after("", (out) => out.event(`{"choices":${DEEP}}`).then(() => out.finish())),
    times: Infinity,
  },
  { name: "a deep whole answer", play: status(200, `{"choices":[{"message":${DEEP}}]}`), times: Infinity },
  {
    name: "arguments that are a deep object",
    play: after(
      "",
      (out) =>
        out.event(
          `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read_file","arguments":${DEEP}}}]}}]}`,
        ).then(() => out.finish()),
    ),
    times: Infinity,
  },
  {
    name: "a deep list in a text",
    play: calling("a", "todo", JSON.stringify({ todos: DEEP })),
    end: "complete",
  },
  { name: "an error that is a number", play: status(400, '{"error":5}'), times: Infinity, end: "error" },
  {
    name: "broken JSON in an event",
    play: after("Half", async (out) => (await out.event("{nope"), await out.finish())),
    times: Infinity,
  },
  { name: "events of wrong types", play: after("", wrongTypes), times: Infinity },
  { name: "endless text", play: after("", endless), times: Infinity },
  { name: "one endless line", play: endlessLine, times: Infinity },
  { name: "endless calls", play: after("", endlessCalls), times: Infinity },
  { name: "slow bytes", play: slowBytes, end: "complete" },
  {
    name: "huge arguments",
    play: calling("a", "read_file", JSON.stringify({ path: "x".repeat(2_000_000) })),
    end: "complete",
  },
  {
    name: "10 MB of arguments",
    play: calling("a", "read_file", JSON.stringify({ path: "x".repeat(10_000_000) })),
    end: "complete",
  },
  {
    name: "deep arguments",
    play: calling("a", "read_file", `{"path":${"[".repeat(30_000)}${"]".repeat(30_000)}}`),
    end: "complete",
  },
  { name: "arguments that are no JSON", play: calling("a", "read_file", "{path: a.txt"), end: "complete" },
  { name: "arguments that are no object", play: calling("a", "read_file", '["a.txt"]'), end: "complete" },
  {
    name: "cut arguments",
    play: calling("a", "write_file", '{"path":"a.txt","content":"he', "length"),
    end: "complete",
  },
  {
    name: "arguments of wrong types",
    play: calling("a", "terminal", '{"command":{"a":1},"timeout":"soon"}'),
    end: "complete",
  },
  {
    name: "polluting arguments",
    play: calling("a", "read_file", '{"__proto__":{"path":"x"},"constructor":1}'),
    end: "complete",
  },
  { name: "an unknown tool", play: calling("a", "no_such_tool", "{}"), end: "complete" },
  { name: "a tool of Object's", play: calling("a", "constructor", "{}"), end: "complete" },
  { name: "a tool without a name", play: calling("a", "", "{}") },
  { name: "a call without an id", play: calling("", "read_file", '{"path":"a.txt"}'), end: "complete" },
  { name: "a strange id", play: calling("\u2028\"'\\\0", "read_file", '{"path":"a.txt"}'), end: "complete" },
  { name: "a huge id", play: calling("i".repeat(100_000), "read_file", '{"path":"a.txt"}'), end: "complete" },
  { name: "repeated ids", play: repeatedIds, end: "complete" },
  {
    name: "ids repeated over calls",
    play: calling("same", "read_file", '{"path":"a.txt"}'),
    times: 3,
    end: "complete",
  },
  {
    name: "calls with finish stop",
    play: calling("a", "read_file", '{"path":"a.txt"}', "stop"),
    end: "complete",
  },
  {
    name: "finish tool_calls without a call",
    play: after("Text", (out) => out.finish("tool_calls")),
    times: Infinity,
  },
  { name: "content filter", play: after("Half", (out) => out.finish("content_filter")), times: Infinity },
  { name: "length for ever", play: after("Half", (out) => out.finish("length")), times: Infinity },
  { name: "an unknown finish reason", play: after("Text", (out) => out.finish("tired")), times: Infinity },
];

async function keepAlive(out: Parameters<Fault>[0]): Promise<void> {
  while (!out.isGone) {
    await out.write(": ping\n\n");
    await out.wait(100);
  }
}

async function wrongTypes(out: Parameters<Fault>[0]): Promise<void> {
  for (
    const data of ["5", "null", "[]", '"x"', "{}", '{"choices":null}', '{"choices":{}}', '{"choices":[null]}']
  ) {
    await out.event(data);
  }
  for (
    const delta of [null, 5, "x", { content: 5 }, { content: { a: 1 } }, { tool_calls: {} }, {
      tool_calls: [null],
    }]
  ) {
    await out.chunk(delta);
  }
  await out.chunk({ tool_calls: [{ index: -1, id: 5, function: { name: 7, arguments: { a: 1 } } }] });
  await out.chunk({ tool_calls: [{ index: 1e9, function: null }] });
  await out.event(
    '{"choices":[],"usage":{"prompt_tokens":"many","completion_tokens":-5,"total_tokens":1e999}}',
  );
  await out.finish();
}

async function endless(out: Parameters<Fault>[0]): Promise<void> {
  for (let n = 1; !out.isGone; n++) {
    await out.chunk({ content: "and so on " });
    // Fast enough to have no end, and slow enough not to keep the others from theirs.
    if (n % 20 === 0) await out.wait(1);
  }
}

async function endlessLine(out: Parameters<Fault>[0]): Promise<void> {
  await out.head();
  await out.write('data: {"choices":[{"delta":{"content":"');
  for (let n = 1; !out.isGone; n++) {
    await out.write("x".repeat(65_536));
    if (n % 16 === 0) await out.wait(0);
  }
}

async function endlessCalls(out: Parameters<Fault>[0]): Promise<void> {
  for (let n = 0; !out.isGone; n++) {
    await out.call(`call_${n}`, "read_file", '{"path":"a.txt"}', n);
    if (n % 16 === 0) await out.wait(0);
  }
}

async function slowBytes(out: Parameters<Fault>[0]): Promise<void> {
  await out.head();
  const data = { choices: [{ index: 0, delta: { content: "Slow." }, finish_reason: "stop" }] };
  for (const byte of `data: ${JSON.stringify(data)}\n\ndata: [DONE]\n\n`) {
    await out.write(byte);
    await out.wait(3);
  }
  out.socket.end();
}

async function repeatedIds(out: Parameters<Fault>[0]): Promise<void> {
  await out.head();
  await out.call("same", "read_file", '{"path":"a.txt"}', 0);
  await out.call("same", "read_file", '{"path":"b.txt"}', 1);
  await out.call("same", "read_file", '{"path":"c.txt"}', 2);
  await out.finish("tool_calls");
}
