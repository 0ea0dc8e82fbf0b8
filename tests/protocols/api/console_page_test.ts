/** The parts of the console's page that need no page: markdown, events, reconnecting, tools, costs. */
import { assert, assertEquals, assertRejects, assertWithin } from "../../support/assert.ts";
import { Api, ApiFailure, SseReader } from "../../../src/protocols/api/console/web/api.js";
import { followRun } from "../../../src/protocols/api/console/web/follow.js";
import {
  parseInline,
  parseMarkdown,
  parseWithSource,
} from "../../../src/protocols/api/console/web/markdown.js";
import { costOf, groupsOf } from "../../../src/protocols/api/console/web/models.js";
import { diffOf, isFailure, previewOf } from "../../../src/protocols/api/console/web/tools.js";

// deno-lint-ignore no-explicit-any
type Wire = any;

Deno.test("parseInline: marks nest, and what is unfinished stays text", () => {
  assertEquals(parseInline("a **b *c*** `x*y`"), [
    { t: "text", text: "a " },
    { t: "strong", in: [{ t: "text", text: "b " }, { t: "em", in: [{ t: "text", text: "c" }] }] },
    { t: "text", text: " " },
    { t: "code", text: "x*y" },
  ]);
  for (
    const text of ["2 * 3 * 4", "snake_case_name", "**open", "`open", "[x](", "a ~b~ c", "5 < 6 & 7 > 2"]
  ) {
    const nodes = parseInline(text) as Wire[];
    assertEquals(nodes.map((node) => [node.t, node.text]).filter(([t]) => t !== "text"), []);
    assertEquals(nodes.map((node) => node.text).join(""), text);
  }
});

Deno.test("parseInline: a link goes to http, https or mailto, and nowhere else", () => {
  const hrefs = (text: string) =>
    (parseInline(text) as Wire[]).filter((node) => node.t === "link").map((node) => node.href);
  assertEquals(hrefs("[a](https://a.test/x_(y)) and https://b.test/c. <mailto:d@e.test>"), [
    "https://a.test/x_(y)",
    "https://b.test/c",
    "mailto:d@e.test",
  ]);
  for (
    const bad of [
      "[a](javascript:alert(1))",
      "[a](JaVaScRiPt:alert)",
      "[a](data:text/html,x)",
      "[a](vbscript:x)",
      "[a](/v1/models)",
      "<javascript:alert(1)>",
      "[a](\u0001javascript:x)",
    ]
  ) {
    assertEquals([bad, hrefs(bad)], [bad, []]);
  }
});

Deno.test("parseMarkdown: HTML is text", () => {
  assertEquals(parseMarkdown("<img src=x onerror=alert(1)>"), [
    { t: "p", in: [{ t: "text", text: "<img src=x onerror=alert(1)>" }] },
  ]);
});

Deno.test("parseMarkdown: blocks, nested lists, tasks, tables and an open fence", () => {
  const blocks = parseMarkdown(
    "# T\nwords\nmore\n\n1. one\n   - in\n   - [x] done\n2. two\n\n| a | b |\n|:-|-:|\n| 1 | `x\\|y` |\n\n> q\n\n---\n```ts\nlet a;",
  ) as Wire[];
  assertEquals(blocks.map((block) => block.t), ["h", "p", "list", "table", "quote", "hr", "pre"]);
  const [, , list, table, , , pre] = blocks;
  assertEquals([list.ordered, list.start, list.items.length], [true, 1, 2]);
  assertEquals(list.items[0].blocks.map((block: Wire) => block.t), ["p", "list"]);
  assertEquals(list.items[0].blocks[1].items.map((item: Wire) => item.task), [null, true]);
  assertEquals([table.align, table.head.length, table.rows[0][1]], [["left", "right"], 2, [{
    t: "code",
    text: "x|y",
  }]]);
  assertEquals(pre, { t: "pre", lang: "ts", text: "let a;" });
});

Deno.test("parseWithSource: a growing text changes only its last block", () => {
  const sources = (text: string) => parseWithSource(text).map(({ source }) => source);
  assertEquals(sources("a\n\nb").slice(0, 1), sources("a\n\nb and more\n\nc").slice(0, 1));
  assertEquals(sources("a\n\n```\nx\n\ny\n```\nz"), ["a", "```\nx\n\ny\n```", "z"]);
});

Deno.test("parseMarkdown: a text made to be slow is read in no time worth speaking of", () => {
  for (const piece of ["*", "_a_*", "[", "`", "> ", "- ", "[a](", "| ", "<", "**a "]) {
    const text = piece.repeat(10_000);
    const start = performance.now();
    parseMarkdown(text);
    // Seconds would be quadratic or worse; this is no measurement.
    assertWithin(performance.now() - start, 5_000, piece);
  }
});

Deno.test("SseReader: events come whole however they are cut, comments and ids do not", () => {
  const text =
    ': open\n\nid: 0\ndata: {"a":1}\n\nid: 1\r\ndata: {"b":\r\ndata: 2}\r\n\r\n: keepalive\n\ndata: {"c":3}\n\n';
  for (const size of [1, 2, 3, 7, 1000]) {
    const reader = new SseReader();
    const found: string[] = [];
    for (let at = 0; at < text.length; at += size) found.push(...reader.push(text.slice(at, at + size)));
    assertEquals(found, ['{"a":1}', '{"b":\n2}', '{"c":3}']);
  }
});

/** A server that plays one script of events per connection; `status` is what the run's status says. */
function eventServer(plays: readonly ((cursor: string | null) => Response)[], status = "running") {
  const cursors: (string | null)[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    if (new URL(request.url).pathname === "/v1/runs/run_1") {
      return Response.json({ run_id: "run_1", status, error: "The server restarted", updated_at: 5 });
    }
    const cursor = request.headers.get("Last-Event-ID");
    cursors.push(cursor);
    return plays[Math.min(cursors.length, plays.length) - 1]!(cursor);
  });
  return { cursors, base: `http://127.0.0.1:${server.addr.port}`, close: () => server.shutdown() };
}

function frames(...events: Wire[]): Response {
  return new Response(events.map((event) => `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
}

Deno.test("followRun: a lost connection is taken up again where it broke off, each event once", async () => {
  const server = eventServer([
    () =>
      frames({ event: "message.delta", delta: "a", seq: 0 }, { event: "message.delta", delta: "b", seq: 1 }),
    () => new Response("busy", { status: 503 }),
    () => frames({ event: "message.delta", delta: "c", seq: 2 }, { event: "run.completed", seq: 3 }),
  ]);
  const seen: string[] = [];
  const pauses: number[] = [];
  const outcome = await followRun(
    new Api("k", { base: server.base }),
    "run_1",
    new AbortController().signal,
    {
      onEvent: (event: Wire) => seen.push(event.delta ?? event.event),
      onLost: (ms: number) => pauses.push(ms),
      onBack: () => seen.push("back"),
      wait: () => Promise.resolve(),
    },
  );
  await server.close();
  assertEquals(outcome, "ended");
  assertEquals(seen, ["a", "b", "back", "c", "run.completed"]);
  assertEquals(server.cursors, [null, "1", "1"]);
  assertEquals(pauses, [500, 1000]);
});

Deno.test("followRun: an end that is not among the events is read from the status", async () => {
  const server = eventServer([() => frames({ event: "message.delta", delta: "a", seq: 7 })], "interrupted");
  const seen: Wire[] = [];
  const outcome = await followRun(
    new Api("k", { base: server.base }),
    "run_1",
    new AbortController().signal,
    {
      onEvent: (event: Wire) => seen.push([event.event, event.error ?? null, event.timestamp ?? null]),
      onLost: () => seen.push("lost"),
      onBack: () => {},
    },
  );
  await server.close();
  assertEquals(outcome, "ended");
  assertEquals(seen, [["message.delta", null, null], ["run.interrupted", "The server restarted", 5]]);
});

Deno.test("followRun: a run that is gone, a key that is refused and a page that leaves end it", async () => {
  const answer = (status: number) => () => Response.json({ error: { message: "no", code: "x" } }, { status });
  for (const [status, outcome] of [[404, "gone"], [401, "left"]] as const) {
    const server = eventServer([answer(status)]);
    let refused = 0;
    const api = new Api("k", { base: server.base, onRefused: () => refused++ });
    const watcher = { onEvent: () => {}, onLost: () => {}, onBack: () => {}, wait: () => Promise.resolve() };
    assertEquals(await followRun(api, "run_1", new AbortController().signal, watcher), outcome);
    assertEquals(refused, status === 401 ? 1 : 0);
    await server.close();
  }
  const leaving = new AbortController();
  const server = eventServer([() => frames({ event: "message.delta", seq: 0 })]);
  const outcome = await followRun(new Api("k", { base: server.base }), "run_1", leaving.signal, {
    onEvent: () => leaving.abort(),
    onLost: () => {},
    onBack: () => {},
  });
  assertEquals(outcome, "left");
  await server.close();
});

Deno.test("Api: a refusal carries status, code and text; a server that is away is status 0", async () => {
  const server = eventServer([
    () => Response.json({ error: { message: "Too many", code: "rate" } }, { status: 429 }),
  ]);
  const failure = await new Api("k", { base: server.base }).json("/x").catch((error: unknown) => error);
  assert(failure instanceof ApiFailure);
  assertEquals([failure.status, failure.code, failure.message], [429, "rate", "Too many"]);
  await server.close();
  await assertRejects(() => new Api("k", { base: server.base }).json("/x"), /cannot be reached/);
});

Deno.test("diffOf: the result's diff, else the change that the arguments ask for", () => {
  assertEquals(diffOf("patch", {}, { diff: "--- a\n+++ b" }), "--- a\n+++ b");
  assertEquals(
    diffOf("patch", { path: "f", old_string: "a\nb", new_string: "c" }, null),
    "+++ f\n-a\n-b\n+c",
  );
  assertEquals(diffOf("write_file", { path: "f", content: "x\ny\n" }, null), "+++ f\n+x\n+y");
  assertEquals(diffOf("terminal", { command: "ls" }, null), null);
});

Deno.test("isFailure and previewOf: what a card says of a stored call", () => {
  assertEquals(
    ['{"exit_code":1}', '{"success":false}', '{"error":"x"}', '{"error":null,"exit_code":0}', "fine"].map(
      isFailure,
    ),
    [true, true, true, false, false],
  );
  assertEquals(previewOf({ mode: "x", command: "ls\n -l" }), "ls -l");
  assertEquals(previewOf({}), "");
});

Deno.test("costOf: the list price times the tokens, and null when it is not known", () => {
  const options = {
    provider: "p",
    model: "m",
    providers: [
      { slug: "q", authenticated: false, models: ["n"] },
      {
        slug: "p",
        authenticated: true,
        models: ["m"],
        pricing: { m: { input: "$3.00", output: "$15.00", cache: "$0.30" } },
      },
    ],
  };
  const session = {
    input_tokens: 1_000_000,
    cache_read_tokens: 1_000_000,
    cache_write_tokens: 0,
    output_tokens: 100_000,
    estimated_cost_usd: null,
    actual_cost_usd: null,
  };
  assertEquals(costOf(options, null, session), 4.8);
  assertEquals(costOf(options, null, { ...session, estimated_cost_usd: 1.5 }), 1.5);
  assertEquals(costOf(options, { provider: "q", model: "n" }, session), null);
  assertEquals(costOf(null, null, session), null);
  assertEquals(groupsOf(options).map((group: Wire) => group.slug), ["p"]);
});
