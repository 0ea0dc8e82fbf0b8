/**
 * The console in a real browser, against the real program: key, turn with an approval, reload in mid-run, stop,
 * steer, search, rename and delete, both colour schemes, 360 pixels. Skipped, and says so, where no Chromium is.
 */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { API_KEY, type ApiServer, startApi } from "../../support/api_driver.ts";
import {
  type Browser,
  findChromium,
  type Page,
  startChromium,
  type ViewOptions,
} from "../../support/chromium.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig, runProgram } from "../../support/program.ts";
import { risky } from "./run_scene.ts";

const HAS_BROWSER = findChromium() !== null;

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

async function openConsole(browser: Browser, api: ApiServer, view?: ViewOptions): Promise<Page> {
  const page = await browser.open(`${api.url}/#key=${API_KEY}`, view);
  await page.waitFor(".empty");
  return page;
}

async function say(page: Page, text: string): Promise<void> {
  await page.click("#prompt");
  await page.type(text);
  await page.press("Enter");
}

/** Nothing went wrong in the page, and it asked nobody but the server. */
function assertClean(page: Page, api: ApiServer, expected: readonly RegExp[] = []): void {
  const unexpected = page.problems.filter((problem) => !expected.some((pattern) => pattern.test(problem)));
  assertEquals(unexpected, []);
  assertEquals(page.requests.filter((url) => !url.startsWith(`${api.url}/`)), []);
}

Deno.test("the console's files come from the program itself, under their own policy and without a key", async () => {
  await using api = await startApi();
  const response = await api.call("/", { key: null });
  const page = await response.text();
  assertEquals(response.status, 200);
  assertMatch(
    response.headers.get("content-security-policy") ?? "",
    /script-src 'self'.*frame-ancestors 'none'/,
  );
  const files = [...page.matchAll(/"(\/console\/[^"]+)"/g)].map(([, path]) => path!);
  assert(files.length >= 3);
  for (const path of new Set(files)) {
    const file = await api.call(path, { key: null });
    assertEquals([path, file.status], [path, 200]);
    await file.body?.cancel();
  }
});

browserTest(
  "console: a wrong key is refused and not kept; the right one is kept in the tab and not in the address",
  async () => {
    await using api = await startApi();
    await using browser = await startChromium();
    const page = await browser.open(`${api.url}/`);
    await page.waitFor("#gate-key");
    assertEquals(await page.evaluate("document.activeElement.id"), "gate-key");
    await page.type("not-the-key-of-this-server");
    await page.press("Enter");
    await page.waitFor("#gate-error");
    assertEquals(await page.text("#gate-error"), "The server does not accept this key.");
    assertEquals(await page.evaluate("sessionStorage.getItem('hermes.key')"), null);
    await page.type(API_KEY);
    await page.press("Enter");
    await page.waitFor(".empty");
    await page.reload();
    await page.waitFor(".empty");
    assertEquals(await page.evaluate("[sessionStorage.length > 0, localStorage.length, document.cookie]"), [
      true,
      0,
      "",
    ]);

    const linked = await openConsole(browser, api);
    assertEquals(await linked.evaluate("location.href"), `${api.url}/`);
    await linked.click("#forget-key");
    await linked.waitFor("#gate-key");
    assertEquals(await linked.evaluate("sessionStorage.getItem('hermes.key')"), null);
    assertClean(page, api, [/401/]);
    assertClean(linked, api);
  },
);

browserTest(
  "console: a turn with an approval is answered after a reload in mid-run, with diff, tools and markdown",
  async () => {
    await using model = await startModelServer({
      turns: [
        {
          steps: [{ text: "First the file." }, {
            tool: "write_file",
            args: { path: "a.txt", content: "one\ntwo\n" },
          }],
        },
        { steps: [risky("build")] },
        "## All done\n\n**Bold** and <img src=x onerror=\"document.title='owned'\">\n\n- [link](javascript:alert(1))",
      ],
    });
    await using api = await startApi({ model });
    await using browser = await startChromium();
    const page = await openConsole(browser, api);
    await say(page, "make a file");
    await page.waitFor(".approval");
    assertEquals(await page.text(".bubble"), "make a file");
    assertEquals(await page.text(".approval pre"), "rm -rf ./build");
    assertEquals(await page.text("#activity span:nth-of-type(1)"), "Waiting for your approval");
    // Nothing is chosen for the user: neither focus nor Enter in the message field answers.
    assertEquals(await page.evaluate("document.activeElement.id"), "prompt");

    await page.reload();
    await page.waitFor(".approval");
    assertEquals(await page.evaluate("document.querySelectorAll('.bubble').length"), 1);
    assertEquals(await page.evaluate("document.querySelectorAll('.approval').length"), 1);
    await page.click(".tool summary");
    await page.until("document.querySelectorAll('.tool pre.diff .add').length === 2");
    assertEquals(
      await page.evaluate("[...document.querySelectorAll('pre.diff .add')].map((line) => line.textContent)"),
      [
        "+one",
        "+two",
      ],
    );

    for (const scheme of ["light", "dark"] as const) {
      await page.look({ scheme });
      await page.until(`matchMedia("(prefers-color-scheme: ${scheme})").matches`);
      // WCAG AA for text.
      assert(await page.evaluate(LEAST_CONTRAST) >= 4.5, scheme);
    }

    // By keyboard alone: to the question, past its text and the reason field, to the first button.
    await page.press("a", { code: "KeyA", modifiers: 1 });
    await page.until("document.activeElement.classList.contains('approval')");
    for (const selector of [".approval pre", ".approval .reason", ".approval .choices button"]) {
      await page.press("Tab");
      assertEquals([
        selector,
        await page.evaluate(`document.activeElement === document.querySelector("${selector}")`),
      ], [
        selector,
        true,
      ]);
    }
    await page.press("Enter");
    await page.waitFor(".foot");
    assertMatch(await page.text(".settled"), /^Allowed once/);
    assertEquals(await page.text(".prose h4"), "All done");
    assertEquals(await page.evaluate("document.querySelectorAll('.prose img, .prose a').length"), 0);
    assertMatch(await page.text(".answer:last-of-type"), /<img src=x/);
    assertEquals(await page.evaluate("document.title"), "make a file · hermes");
    assertMatch(await page.text("#usage"), /tokens$/);

    // What was drawn from events and what is drawn from the store say the same.
    const texts =
      "[...document.querySelectorAll('.bubble, .prose, .tool-name')].map((element) => element.textContent)";
    const live = await page.evaluate(texts);
    await page.reload();
    await page.waitFor(".prose h4");
    assertEquals(await page.evaluate(texts), live);
    assertClean(page, api);
  },
);

browserTest("console: denying carries the reason to the agent", async () => {
  await using model = await startModelServer({ turns: [{ steps: [risky("build")] }, "Understood."] });
  await using api = await startApi({ model });
  await using browser = await startChromium();
  const page = await openConsole(browser, api);
  await say(page, "clean up");
  await page.click(".approval .reason");
  await page.type("keep the build");
  await page.click(".approval .deny");
  await page.waitFor(".foot");
  assertMatch(await page.text(".settled"), /^Denied/);
  assertEquals(await page.text(".tool .tool-label"), "not run");
  await page.click(".tool summary");
  await page.until("document.querySelector('.tool-body').textContent.includes('Why it was not run')");
  assertEquals(/exit code/.test(await page.text(".tool-body")), false);
  assertMatch(JSON.stringify(model.calls()), /keep the build/);
  assertClean(page, api);
});

browserTest("console: a question is answered by keyboard, and a reload in its middle keeps it", async () => {
  const ask = (args: Record<string, unknown>) => ({ steps: [{ tool: "clarify", args }] });
  await using model = await startModelServer({
    turns: [
      ask({ question: "Which database?", choices: ["SQLite", "Postgres"] }),
      ask({ question: "Which checks?", choices: ["lint", "types", "tests"], multiple: true }),
      ask({ question: "What shall it be called?" }),
      ask({ question: "Anything else?" }),
      "Done as you said.",
    ],
  });
  await using api = await startApi({ model });
  await using browser = await startChromium();
  const page = await openConsole(browser, api);
  const asked = (text: string) =>
    page.until(`document.querySelector('.question-text')?.textContent === ${JSON.stringify(text)}`);
  await say(page, "set it up");
  await asked("Which database?");
  assertEquals(await page.text("#activity span:nth-of-type(1)"), "Waiting for your answer");
  await page.until("document.title.startsWith('● Question')");
  await page.until(
    "document.querySelector('#announcer').textContent.startsWith('The agent asks: Which database?')",
  );
  // What is written so far is still there after a reload.
  await page.click(".own-answer");
  await page.type("neither");
  await page.reload();
  await asked("Which database?");
  assertEquals(await page.evaluate("document.querySelectorAll('.question').length"), 1);
  assertEquals(await page.evaluate("document.querySelector('.own-answer').value"), "neither");
  for (const scheme of ["light", "dark"] as const) {
    await page.look({ width: 360, height: 640, scheme });
    await page.until(`matchMedia("(prefers-color-scheme: ${scheme})").matches`);
    assert(await page.evaluate(LEAST_CONTRAST) >= 4.5, scheme);
    assertEquals(await page.evaluate("document.documentElement.scrollWidth"), 360);
  }
  await page.look({});
  await page.press("a", { code: "KeyA", modifiers: 1 });
  await page.until("document.activeElement.classList.contains('question')");
  await page.press("Tab");
  assertEquals(await page.evaluate("document.activeElement.textContent"), "SQLite");
  await page.press("Tab");
  await page.press("Enter");

  await asked("Which checks?");
  assertEquals(await page.text(".settled-question .given"), "Postgres");
  assertEquals(await page.evaluate("document.querySelector('.question button[type=submit]').disabled"), true);
  await page.click(".answer-box:nth-of-type(1)");
  await page.click(".answer-box:nth-of-type(3)");
  await page.click(".own-answer");
  await page.type("docs");
  await page.press("Enter");

  await asked("What shall it be called?");
  await page.click(".own-answer");
  await page.type("two words");
  await page.press("Enter");
  await asked("Anything else?");
  await page.click(".question button.quiet");
  await page.waitFor(".foot");
  const given =
    "[...document.querySelectorAll('.settled-question .given')].map((element) => element.textContent)";
  const all = ["Postgres", "lint, tests, docs", "two words", "Skipped"];
  assertEquals(await page.evaluate(given), all);
  await page.reload();
  await page.waitFor(".prose");
  assertEquals(await page.evaluate(given), all);
  const [runs] = (await (await api.call("/v1/runs")).json()).data;
  assertEquals([runs.status, runs.output], ["completed", "Done as you said."]);
  assertEquals(
    await page.evaluate("Object.keys(sessionStorage).filter((key) => key.startsWith('hermes.answer'))"),
    [],
  );
  assertClean(page, api);
});

browserTest("console: stop ends the run, and the text so far stays", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ text: "Half " }, { delay_ms: 60_000, text: "whole" }] }, "Next."],
  });
  await using api = await startApi({ model });
  await using browser = await startChromium();
  const page = await openConsole(browser, api);
  await say(page, "begin");
  await page.until("document.querySelector('.prose')?.textContent.trim() === 'Half'");
  await page.press("s", { code: "KeyS", modifiers: 1 });
  await page.waitFor(".notice.info");
  assertEquals(await page.text(".notice.info"), "Stopped.");
  assertEquals(await page.text(".prose"), "Half");
  await page.waitFor("#send");
  assertEquals(await page.text("#send"), "Send");
  await say(page, "again");
  await page.until("[...document.querySelectorAll('.prose')].at(-1).textContent === 'Next.'");
  assertClean(page, api);
});

browserTest("console: what is written while the agent works steers it", async () => {
  await using model = await startModelServer({
    turns: [
      { steps: [{ text: "Looking." }, { delay_ms: 1_500, tool: "terminal", args: { command: "echo hi" } }] },
      "Done as told.",
    ],
  });
  await using api = await startApi({ model });
  await using browser = await startChromium();
  const page = await openConsole(browser, api);
  await say(page, "look");
  await page.waitFor(".prose");
  assertEquals(await page.text("#send"), "Steer");
  await say(page, "only the docs");
  await page.waitFor(".steer");
  assertEquals(await page.text(".steer"), "only the docs");
  await page.waitFor(".foot");
  assertMatch(JSON.stringify(model.calls().at(-1)), /only the docs/);
  assertClean(page, api);
});

browserTest(
  "console: a server that goes away and comes back is told of, and the conversation goes on",
  async () => {
    await using model = await startModelServer({ turns: ["First.", "Second."] });
    await using api = await startApi({ model });
    await using browser = await startChromium();
    const page = await openConsole(browser, api);
    await say(page, "one");
    await page.waitFor(".foot");
    await page.send("Network.emulateNetworkConditions", {
      offline: true,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: -1,
    });
    await say(page, "two");
    await page.waitFor(".notice.error");
    assertMatch(await page.text(".notice.error"), /cannot be reached/);
    assertEquals(await page.evaluate("document.querySelector('#prompt').value"), "two");
    await page.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: -1,
    });
    await page.click("#send");
    await page.until("[...document.querySelectorAll('.prose')].at(-1).textContent === 'Second.'");
    assertClean(page, api, [/ERR_INTERNET_DISCONNECTED/]);
  },
);

browserTest(
  "console: what could not be sent is still there after a look at another conversation",
  async () => {
    await using model = await startModelServer({ turns: ["First."] });
    await using api = await startApi({ model });
    await using browser = await startChromium();
    const page = await openConsole(browser, api);
    await say(page, "one");
    await page.waitFor(".foot");
    await page.until("location.hash.startsWith('#/s/')");
    const address = await page.evaluate("location.hash");
    await page.evaluate(`(() => {
    const real = globalThis.fetch;
    globalThis.fetch = (url, options) => options?.method === "POST"
      ? new Promise((_, reject) => globalThis.fail = () => reject(new TypeError("away")))
      : real(url, options);
  })()`);
    await say(page, "two");
    await page.until("'fail' in globalThis");
    await page.evaluate("location.hash = '#/'");
    await page.waitFor(".empty");
    await page.evaluate("fail()");
    await page.click("#prompt");
    await page.type("other");
    await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
    await page.until("document.querySelector('#prompt').value === 'two'");
    await page.evaluate("location.hash = '#/'");
    await page.until("document.querySelector('#prompt').value === 'other'");
    assertClean(page, api);
  },
);

browserTest("console: conversations are searched, renamed and deleted", async () => {
  await using model = await startModelServer({ turns: ["One.", "Two."] });
  await using api = await startApi({ model });
  await using browser = await startChromium();
  const page = await openConsole(browser, api);
  const names =
    "[...document.querySelectorAll('.session-name')].map((element) => element.textContent).join()";
  await say(page, "first talk");
  await page.waitFor(".foot");
  await page.press("n", { code: "KeyN", modifiers: 1 });
  await page.waitFor(".empty");
  await say(page, "second talk");
  await page.waitFor(".foot");
  await page.until(`${names} === "second talk,first talk"`);

  await page.press("k", { code: "KeyK", modifiers: 2 });
  await page.type("FIRST");
  await page.until(`${names} === "first talk"`);
  await page.click(".session a");
  await page.until("document.querySelector('.bubble')?.textContent === 'first talk'");
  await page.click("[data-focus^='rename:']");
  await page.waitFor("dialog input");
  await page.type("A better name");
  await page.press("Enter");
  await page.until("document.querySelector('#title').textContent === 'A better name'");
  await page.click("#search");
  await page.evaluate(
    "(document.querySelector('#search').value = '', document.querySelector('#search').dispatchEvent(new Event('input')))",
  );
  await page.until(`${names} === "second talk,A better name"`);

  await page.click("[data-focus^='delete:']");
  await page.waitFor("dialog");
  // The safe button has the focus.
  assertEquals(await page.evaluate("document.activeElement.textContent"), "Cancel");
  await page.press("Escape");
  await page.until("!document.querySelector('dialog')");
  await page.click(".session.current [data-focus^='delete:']");
  await page.click("dialog .danger");
  await page.until(`${names} === "second talk"`);
  await page.waitFor(".empty");
  const left = await (await api.call("/api/sessions")).json();
  assertEquals(left.data.length, 1);
  assertClean(page, api);
});

browserTest("console: a key with scopes is enough, and one that is revoked closes the page", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ turns: ["Hi."] });
  await using api = await startApi({ model, rig });
  const scopes = ["--scopes", "sessions,runs,approve"];
  const made = await runProgram(["serve", "keys", "add", "web", ...scopes], { rig });
  assertEquals(made.code, 0);
  await using browser = await startChromium();
  const page = await browser.open(`${api.url}/#key=${made.stdout.trim()}`);
  await page.waitFor(".empty");
  await say(page, "hello");
  await page.waitFor(".foot");
  await page.until("document.querySelector('.session-name')?.textContent === 'hello'");
  assertEquals((await runProgram(["serve", "keys", "revoke", "web"], { rig })).code, 0);
  await page.evaluate("dispatchEvent(new Event('online'))");
  await page.waitFor("#gate-error");
  assertEquals(await page.text("#gate-error"), "The key is no longer accepted.");
  assertEquals(await page.evaluate("[sessionStorage.length, document.querySelector('.bubble')]"), [0, null]);
  assertClean(page, api, [/401/]);
});

browserTest("console: the model picker chooses for the next message", async () => {
  await using model = await startModelServer({ turns: ["Hi."] });
  await using api = await startApi({ model });
  await using browser = await startChromium();
  const page = await openConsole(browser, api);
  await page.click("#model");
  await page.waitFor("dialog .model-row");
  await page.type("demo");
  await page.until(
    "document.querySelector('dialog .model-row:not([hidden]) .model-id').textContent === 'demo'",
  );
  await page.press("ArrowDown");
  await page.click("dialog .model-row");
  await page.until("document.querySelector('#model').textContent === 'demo'");
  await say(page, "hello");
  await page.waitFor(".foot");
  assertEquals(model.calls().length, 0);
  const runs = await (await api.call("/v1/runs")).json();
  assertEquals(runs.data[0].runtime.provider, "builtin");
  assertClean(page, api);
});

browserTest("console: both colour schemes are readable, and 360 pixels are enough", async () => {
  await using model = await startModelServer({
    turns: [`\`${"x".repeat(200)}\`\n\n| a | b |\n|---|---|\n| ${"y".repeat(80)} | ${"z".repeat(80)} |`],
  });
  await using api = await startApi({ model });
  await using browser = await startChromium();
  const page = await openConsole(browser, api, { width: 360, height: 640 });
  await say(page, "wide things");
  await page.click("#send").catch(() => {});
  await page.waitFor(".foot");
  assertEquals(
    await page.evaluate(
      "[document.documentElement.scrollWidth, document.querySelector('#scroller').scrollWidth <= document.querySelector('#scroller').clientWidth]",
    ),
    [360, true],
  );
  await page.click("#open-sidebar");
  await page.waitFor("#new-session");
  await page.press("Escape");
  await page.until("!document.querySelector('#new-session').checkVisibility({ visibilityProperty: true })");
  assertEquals(await page.evaluate("document.activeElement.id"), "open-sidebar");
  const contrasts: number[] = [];
  for (const scheme of ["light", "dark"] as const) {
    await page.look({ width: 1000, height: 700, scheme });
    await eventually(() => page.evaluate(`matchMedia("(prefers-color-scheme: ${scheme})").matches`));
    contrasts.push(await page.evaluate(LEAST_CONTRAST));
  }
  // WCAG AA for text.
  assert(contrasts.every((contrast) => contrast >= 4.5), String(contrasts));
  assertClean(page, api);
});

/** The least contrast of any visible, enabled text against what lies behind it. */
const LEAST_CONTRAST = `(() => {
  const parse = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(at).backgroundColor);
      if (a === 1 && getComputedStyle(at).backgroundColor.startsWith("rgb")) return [r, g, b];
    }
    return [255, 255, 255];
  };
  let least = 21;
  for (const element of document.querySelectorAll("#app *")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
    if (!hasText || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (element.closest("button:disabled, .visually-hidden, .skip")) continue;
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
    least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return least;
})()`;
