/**
 * Browser control end to end: the extension of docs/examples in a real headless Chromium, connected through its popup
 * as a user does it, driven by turns of the real program on a page of the test. Skipped, and says so, where no
 * Chromium is.
 */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { API_KEY, type ApiServer, startApi } from "../../support/api_driver.ts";
import { type Browser, findChromium, type Page, startChromium } from "../../support/chromium.ts";
import { type ModelServer, type ScriptStep, startModelServer } from "../../support/model_server.ts";
import { eventually } from "../../support/program.ts";
import { controlOn, toolText } from "./browser_controller.ts";
import { ask, startRun, untilStatus, type Wire } from "./run_scene.ts";

const HAS_BROWSER = findChromium() !== null;
const EXTENSION = new URL("../../../docs/examples/browser-controller/", import.meta.url).pathname;
const EXTENSION_ID = "ipnhjiacahbmodcfkcdjfppjpnckfakf";

const FORM = `<!doctype html><title>Orders</title><h1>New order</h1>
<p>Who is it for? <span style="display:none">a secret of the page</span></p>
<form onsubmit="event.preventDefault();document.querySelector('#out').textContent='Ordered: '+who.value+', '+size.value">
<label>Name <input id="who" value="old"></label>
<label>Size <select id="size"><option value="s">Small</option><option value="l">Large</option></select></label>
<label>Code <input type="password" value="hunter2"></label>
<button>Order</button></form>
<p id="out"></p><a href="/more" target="_blank">In a tab of its own</a><a href="/more">More orders</a><div style="height:4000px"></div>`;
const MORE = `<!doctype html><title>More</title><h1>All orders</h1>`;

function servePages(): { url: string } & AsyncDisposable {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    const body = new URL(request.url).pathname === "/more" ? MORE : FORM;
    return new Response(body, { headers: { "Content-Type": "text/html", "Connection": "close" } });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

interface Scene extends AsyncDisposable {
  readonly api: ApiServer;
  readonly model: ModelServer;
  readonly browser: Browser;
  readonly popup: Page;
}

/** The extension connected to the session `s`, and an empty tab in front. */
async function setUp(config: Record<string, unknown> = controlOn()): Promise<Scene> {
  await using stack = new AsyncDisposableStack();
  const model = stack.use(await startModelServer({ turns: [] }));
  const api = stack.use(
    await startApi({
      model,
      config,
      server: { cors_origins: [`chrome-extension://${EXTENSION_ID}`] },
    }),
  );
  await ask(api, "/api/sessions", { body: { id: "s" } });
  const browser = stack.use(await startChromium({ extension: EXTENSION }));
  const popup = await browser.open(`chrome-extension://${EXTENSION_ID}/popup.html`);
  await popup.waitFor("#server");
  await popup.until("document.querySelector('#status').textContent === 'Not connected'");
  await popup.evaluate(`
    for (const [id, value] of Object.entries(${
    JSON.stringify({ server: api.url, key: API_KEY, session: "s" })
  })) {
      document.getElementById(id).value = value;
    }`);
  await popup.click("#connect");
  await popup.until("document.querySelector('#status').textContent === 'Connected'");
  await browser.open("about:blank");
  const all = stack.move();
  return { api, model, browser, popup, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** One run with one call; what the model was told of it. */
async function call({ api, model }: Scene, tool: string, args: Wire): Promise<string> {
  const step: ScriptStep = { tool, args };
  model.push({ steps: [step] }, "done");
  const before = model.calls().length;
  await untilStatus(api, await startRun(api, { input: "go", session_id: "s" }), "completed");
  const request = model.calls().at(-1)!;
  assert(model.calls().length >= before + 2);
  return toolText(request);
}

/** What is inside the wrapper. */
function inside(text: string): Wire {
  const json = /^<untrusted_tool_result source="browser_\w+">\n[^\n]+\n\n(.*)\n<\/untrusted_tool_result>$/s
    .exec(text);
  assert(json, text);
  return JSON.parse(json[1]!);
}

function refOf(snapshot: string, pattern: RegExp): string {
  const line = snapshot.split("\n").find((line) => pattern.test(line));
  assert(line, snapshot);
  return /\[(e\d+)\]/.exec(line)![1]!;
}

/** A test that needs a browser; its name tells why it did not run. */
function browserTest(name: string, run: () => Promise<void>): void {
  Deno.test({
    name: HAS_BROWSER
      ? name
      : `${name} [skipped: no Chromium on this machine; install it or set CHROMIUM_BIN]`,
    ignore: !HAS_BROWSER,
    fn: run,
  });
}

browserTest(
  "browser extension: reads, types, chooses, clicks, goes on and back in a real Chromium",
  async () => {
    await using pages = servePages();
    await using scene = await setUp();
    const opened = inside(await call(scene, "browser_navigate", { url: `${pages.url}/` }));
    assertEquals(opened, { url: `${pages.url}/`, title: "Orders" });
    const first = inside(await call(scene, "browser_snapshot", {}));
    assertEquals([first.url, first.title, first.scroll.top], [`${pages.url}/`, "Orders", 0]);
    assertEquals(first.snapshot.split("\n"), [
      '- heading 1 "New order"',
      "- text: Who is it for?",
      '- textbox "Name" [e1] (value "old")',
      '- combobox "Size" [e2] (value "Small"; options "Small", "Large")',
      '- textbox "Code" [e3] (filled)',
      '- button "Order" [e4]',
      `- link "In a tab of its own" [e5] (${pages.url}/more)`,
      `- link "More orders" [e6] (${pages.url}/more)`,
    ]);
    const ref = (pattern: RegExp) => refOf(first.snapshot, pattern);
    await call(scene, "browser_type", { ref: ref(/textbox "Name"/), text: "Ada Lovelace" });
    await call(scene, "browser_type", { ref: ref(/combobox/), text: "large" });
    assertEquals(inside(await call(scene, "browser_click", { ref: ref(/button/) })).title, "Orders");
    const ordered = inside(await call(scene, "browser_snapshot", {}));
    assertMatch(ordered.snapshot, /^- text: Ordered: Ada Lovelace, l$/m);
    assertMatch(ordered.snapshot, /^- textbox "Name" \[e1\] \(value "Ada Lovelace"\)$/m);
    const followed = inside(
      await call(scene, "browser_click", { ref: refOf(ordered.snapshot, /More orders/) }),
    );
    assertEquals(followed, { url: `${pages.url}/more`, title: "More" });
    // The refs of the page before mean nothing here.
    const stale = inside(await call(scene, "browser_click", { ref: "e1" }));
    assertEquals(stale, { error: "There is no element e1 on this page now: take a new snapshot" });
    assertEquals(inside(await call(scene, "browser_back", {})).title, "Orders");
  },
);

browserTest("browser extension: keys, scrolling, tabs and a picture that a model looks at", async () => {
  await using pages = servePages();
  await using scene = await setUp();
  const { model, api } = scene;
  await call(scene, "browser_navigate", { url: `${pages.url}/` });
  const { snapshot } = inside(await call(scene, "browser_snapshot", {}));
  await call(scene, "browser_type", { ref: refOf(snapshot, /textbox "Name"/), text: "Bob", submit: true });
  assertMatch(inside(await call(scene, "browser_snapshot", {})).snapshot, /Ordered: Bob, s/);
  await call(scene, "browser_press", { key: "Control+A" });
  await call(scene, "browser_press", { key: "x" });
  assertMatch(
    inside(await call(scene, "browser_snapshot", {})).snapshot,
    /textbox "Name" \[e1\] \(value "x"\)/,
  );
  const unknown = await call(scene, "browser_press", { key: "Hyper+Q" });
  assertMatch(unknown, /There is no modifier \\?"Hyper/);
  const moved = inside(await call(scene, "browser_scroll", { direction: "down", amount: 500 }));
  assertEquals(moved.top, 500);
  const { tabs } = inside(await call(scene, "browser_tabs", {}));
  const mine = tabs.find((tab: Wire) => tab.url === `${pages.url}/`);
  assertEquals([mine.title, mine.active], ["Orders", true]);
  await scene.browser.open("about:blank");
  assertEquals(inside(await call(scene, "browser_tab_activate", { tab_id: mine.id })).title, "Orders");

  model.push(
    { steps: [{ tool: "browser_screenshot", args: { question: "Which colour?" } }] },
    "It is white.",
    "done",
  );
  await untilStatus(api, await startRun(api, { input: "go", session_id: "s" }), "completed");
  const look = model.calls().at(-2)!.body.messages.at(-1).content;
  assertEquals(look[0], { type: "text", text: "Which colour?" });
  assertMatch(look[1].image_url.url, /^data:image\/png;base64,iVBOR/);
  const seen = inside(toolText(model.calls().at(-1)!));
  assertEquals([seen.analysis, seen.title, seen.data_url], ["It is white.", "Orders", undefined]);
  assert(seen.width > 300 && seen.height > 200 && seen.size_bytes > 1_000, JSON.stringify(seen));
});

browserTest("browser extension: scripts and DevTools commands in developer mode alone", async () => {
  await using pages = servePages();
  await using scene = await setUp(controlOn({ developer_mode: true }));
  await call(scene, "browser_navigate", { url: `${pages.url}/` });
  assertEquals(
    inside(await call(scene, "browser_evaluate", { expression: "'document '.repeat(4) + document.title" })),
    {
      value: "document document document document Orders",
    },
  );
  const thrown = inside(
    await call(scene, "browser_evaluate", { expression: "throw new Error('the page says no, and why')" }),
  );
  assertEquals(thrown, { error: "the page says no, and why" });
  const metrics = inside(await call(scene, "browser_cdp", { method: "Page.getLayoutMetrics" }));
  assert(metrics.cssContentSize.height > 4_000);
  const tools = scene.model.calls().at(-1)!.body.tools.map((tool: Wire) => tool.function.name);
  assert(tools.includes("browser_evaluate") && tools.includes("browser_cdp"));
});

browserTest(
  "browser extension: a dropped server is found again; taken back, the lane fails and says so",
  async () => {
    await using pages = servePages();
    await using scene = await setUp();
    const { popup, api, model } = scene;
    await popup.click("#disconnect");
    await popup.until("document.querySelector('#status').textContent !== 'Connected'");
    const away = await call(scene, "browser_snapshot", {});
    assertMatch(away, /"error":"The browser of this session is offline/);
    await popup.evaluate(`document.getElementById("key").value = ${JSON.stringify(API_KEY)}`);
    await popup.click("#connect");
    await popup.until("document.querySelector('#status').textContent === 'Connected'");
    assertEquals(inside(await call(scene, "browser_navigate", { url: `${pages.url}/` })).title, "Orders");
    // Its session goes on over a restart of the server, on the same port.
    const { port, rig } = api;
    const config = await Deno.readTextFile(`${rig.home}/config.jsonc`);
    await api.stop();
    await popup.until("document.querySelector('#status').textContent.includes('trying again')");
    await using next = await startApi({
      rig,
      model,
      config: JSON.parse(config),
      args: ["--port", String(port)],
      server: JSON.parse(config).gateway.api_server,
    });
    await popup.until("document.querySelector('#status').textContent === 'Connected'", 20_000);
    model.push({ steps: [{ tool: "browser_snapshot", args: {} }] }, "done");
    await untilStatus(next, await startRun(next, { input: "go", session_id: "s" }), "completed");
    const told = await eventually(() => model.calls().at(-1));
    assertMatch(inside(toolText(told)).snapshot, /heading 1 "New order"/);
  },
);
