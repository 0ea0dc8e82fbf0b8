/**
 * What an agent can do in a browser, by commands of the Chrome DevTools Protocol. Knows neither the extension's API nor
 * the server: `host` is the tab that they happen in.
 *
 *   host.send(method, params)   one command to the tab
 *   host.navigate(url)          opens an address in it
 *   host.tabs()                 [{ id, title, url, active }]
 *   host.activate(id)           makes another tab the active one, and goes on there
 */
import { clearField, fieldOf, pageOf, placeOf, scroll, snapshot } from "./page.js";

const WORLD = "hermes";
const LOAD_MS = 15_000;
/** Time that a click gets to begin loading a page. */
const BEGIN_MS = 150;
const LOOK_EVERY_MS = 100;
const ASK_MS = 1_000;
/** Pixels of a full-page picture at most. */
const MAX_SIDE = 7_900;

const MODIFIERS = { alt: 1, control: 2, ctrl: 2, meta: 4, command: 4, shift: 8 };
const KEYS = {
  Enter: { code: 13, text: "\r" },
  Tab: { code: 9 },
  Escape: { code: 27 },
  Backspace: { code: 8 },
  Delete: { code: 46 },
  Space: { code: 32, key: " ", text: " " },
  ArrowLeft: { code: 37 },
  ArrowUp: { code: 38 },
  ArrowRight: { code: 39 },
  ArrowDown: { code: 40 },
  PageUp: { code: 33 },
  PageDown: { code: 34 },
  End: { code: 35 },
  Home: { code: 36 },
};

/** `perform(action, args, signal)` for the line; throws an `Error` whose text is for the model. */
export function createActions(host) {
  const table = {
    "controller.noop": () => Promise.resolve({ ok: true }),
    browser_navigate: async ({ url }, signal) => {
      const problem = await host.navigate(url);
      if (problem) throw new Error(`The page could not be opened: ${problem}`);
      return await settled(host, signal);
    },
    browser_back: async (_, signal) => {
      const { currentIndex, entries } = await host.send("Page.getNavigationHistory");
      if (currentIndex === 0) throw new Error("There is no page to go back to");
      await host.send("Page.navigateToHistoryEntry", { entryId: entries[currentIndex - 1].id });
      return await settled(host, signal);
    },
    browser_snapshot: () => inPage(host, snapshot),
    browser_click: async ({ ref }, signal) => {
      const { x, y } = await inPage(host, placeOf, ref);
      const mouse = { x, y, button: "left", clickCount: 1 };
      await host.send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
      await host.send("Input.dispatchMouseEvent", { type: "mousePressed", ...mouse });
      await host.send("Input.dispatchMouseEvent", { type: "mouseReleased", ...mouse });
      return await settled(host, signal);
    },
    browser_type: async ({ ref, text, submit }, signal) => {
      const field = await inPage(host, fieldOf, ref, text);
      if (field === "typed" && text !== "") await host.send("Input.insertText", { text });
      else if (field === "typed") await inPage(host, clearField, ref);
      if (submit === true) await press(host, "Enter");
      return await settled(host, signal);
    },
    browser_press: async ({ key }, signal) => {
      await press(host, key);
      return await settled(host, signal);
    },
    browser_scroll: ({ direction, amount }) => inPage(host, scroll, direction, amount ?? null),
    browser_screenshot: async ({ full_page }) => {
      const { cssLayoutViewport: view, cssContentSize: all } = await host.send("Page.getLayoutMetrics");
      const width = full_page ? Math.min(all.width, MAX_SIDE) : view.clientWidth;
      const height = full_page ? Math.min(all.height, MAX_SIDE) : view.clientHeight;
      const clip = full_page ? { clip: { x: 0, y: 0, width, height, scale: 1 } } : {};
      const { data } = await host.send("Page.captureScreenshot", {
        format: "png",
        captureBeyondViewport: full_page === true,
        ...clip,
      });
      return { ...await inPage(host, pageOf), width, height, data_url: `data:image/png;base64,${data}` };
    },
    browser_tabs: async () => ({ tabs: await host.tabs() }),
    browser_tab_activate: async ({ tab_id }, signal) => {
      await host.activate(tab_id);
      return await settled(host, signal);
    },
    browser_evaluate: async ({ expression }) => {
      const answer = await host.send("Runtime.evaluate", {
        expression,
        returnByValue: true,
        awaitPromise: true,
        userGesture: true,
      });
      return { value: valueOf(answer) ?? null };
    },
    browser_cdp: async ({ method, params }) => await host.send(method, params ?? {}),
  };
  return async (action, args, signal) => {
    const perform = Object.hasOwn(table, action) ? table[action] : null;
    if (!perform) throw new Error(`There is no action ${action}`);
    return await perform(args ?? {}, signal);
  };
}

/** Runs a function of `page.js` beside the page's own scripts, which cannot see it. */
async function inPage(host, code, ...args) {
  const { frameTree } = await host.send("Page.getFrameTree");
  const { executionContextId } = await host.send("Page.createIsolatedWorld", {
    frameId: frameTree.frame.id,
    worldName: WORLD,
  });
  return valueOf(
    await host.send("Runtime.callFunctionOn", {
      functionDeclaration: code.toString(),
      arguments: args.map((value) => ({ value })),
      executionContextId,
      returnByValue: true,
      awaitPromise: true,
    }),
  );
}

function valueOf({ result, exceptionDetails }) {
  if (!exceptionDetails) return result.value;
  const text = exceptionDetails.exception?.description ?? exceptionDetails.text;
  throw new Error(text.replace(/^Error: /, "").replace(/\n +at [^]*$/, ""));
}

/** Address and title of the page when it has loaded, or after a while in any case. */
async function settled(host, signal) {
  await pause(BEGIN_MS);
  const end = Date.now() + LOAD_MS;
  for (;;) {
    signal.throwIfAborted();
    // Between two pages there is nothing to ask, and sometimes no answer.
    const page = await Promise.race([inPage(host, pageOf).catch(() => null), pause(ASK_MS)]);
    if (page?.ready) return { url: page.url, title: page.title };
    if (Date.now() > end) return { url: page?.url ?? "", title: page?.title ?? "", still_loading: true };
    await pause(LOOK_EVERY_MS);
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** `Enter`, `a`, `Control+Shift+K`. */
async function press(host, combination) {
  const parts = combination.length === 1 ? [combination] : combination.split("+").map((part) => part.trim());
  const name = parts.pop();
  let modifiers = 0;
  for (const part of parts) {
    const bit = MODIFIERS[part.toLowerCase()];
    if (!bit) throw new Error(`There is no modifier "${part}"`);
    modifiers |= bit;
  }
  const known = KEYS[Object.keys(KEYS).find((key) => key.toLowerCase() === name.toLowerCase())];
  if (!known && name.length !== 1) throw new Error(`There is no key "${name}"`);
  const key = known ? known.key ?? name : name;
  const text = modifiers & ~MODIFIERS.shift ? undefined : known ? known.text : name;
  const event = {
    key,
    modifiers,
    windowsVirtualKeyCode: known?.code ?? name.toUpperCase().charCodeAt(0),
    ...(known ? { code: name } : {}),
  };
  await host.send("Input.dispatchKeyEvent", {
    type: text === undefined ? "rawKeyDown" : "keyDown",
    ...event,
    ...(text === undefined ? {} : { text }),
  });
  await host.send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
}
