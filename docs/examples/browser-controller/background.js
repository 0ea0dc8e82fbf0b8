/**
 * The extension's worker: one line to one session, and the active tab as the host of its actions. The browser shows a
 * bar while a tab is driven; closing that bar takes the browser back. What the user has typed in is kept in memory
 * only, and forgotten with the browser.
 */
import { createActions } from "./actions.js";
import { Link } from "./link.js";

const CAPABILITIES = [
  "browser_back",
  "browser_click",
  "browser_navigate",
  "browser_press",
  "browser_screenshot",
  "browser_scroll",
  "browser_snapshot",
  "browser_tab_activate",
  "browser_tabs",
  "browser_type",
  "controller.noop",
  // Taken by the server only in its developer mode.
  "browser_cdp",
  "browser_evaluate",
];
const CDP_VERSION = "1.3";
const AWAKE = "awake";

const attached = new Set();
let link = null;
let status = { state: "stopped", text: "Not connected" };

// ── The active tab ──────────────────────────────────────────────────────────────────────────────────────────

async function activeTab() {
  const [focused] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
  const [any] = focused ? [focused] : await chrome.tabs.query({ active: true });
  if (!any) throw new Error("No tab is open");
  return any;
}

/** One action, from its beginning to its end in the tab that is active now, whatever the user turns to meanwhile. */
async function perform(action, args, signal) {
  const host = hostOf((await activeTab()).id);
  const result = await createActions(host)(action, args, signal);
  const tab = await activeTab();
  if (tab.id === host.tabId || typeof result !== "object") return result;
  return { ...result, active_tab: { id: tab.id, title: tab.title, url: tab.url } };
}

function hostOf(tabId) {
  const host = {
    tabId,
    send: async (method, params = {}) => {
      await attach(host.tabId);
      return await chrome.debugger.sendCommand({ tabId: host.tabId }, method, params);
    },
    /** Gives why it failed, or nothing. Pages of the browser itself cannot be attached to, but left. */
    navigate: async (url) => {
      const { url: from = "" } = await chrome.tabs.get(host.tabId);
      if (/^(https?|file|about|data):/.test(from)) {
        return (await host.send("Page.navigate", { url })).errorText;
      }
      await chrome.tabs.update(host.tabId, { url });
      return null;
    },
    tabs: async () => {
      const { id: current } = await activeTab();
      return (await chrome.tabs.query({})).map(({ id, title, url }) => ({
        id,
        title,
        url,
        active: id === current,
      }));
    },
    activate: async (id) => {
      const tab = await chrome.tabs.update(id, { active: true }).catch(() => null);
      if (!tab) throw new Error(`There is no tab ${id}`);
      await chrome.windows.update(tab.windowId, { focused: true });
      host.tabId = id;
    },
  };
  return host;
}

async function attach(tabId) {
  if (attached.has(tabId)) return;
  await chrome.debugger.attach({ tabId }, CDP_VERSION);
  attached.add(tabId);
  await chrome.debugger.sendCommand({ tabId }, "Page.enable");
}

async function release() {
  for (const tabId of [...attached]) await chrome.debugger.detach({ tabId }).catch(() => {});
  attached.clear();
}

chrome.debugger.onDetach.addListener(({ tabId }, reason) => {
  attached.delete(tabId);
  if (reason === "canceled_by_user") void inTurn(() => disconnect("You have taken the browser back"));
});

// A question of the page would hold up everything: it is answered with no.
chrome.debugger.onEvent.addListener(({ tabId }, method) => {
  if (method !== "Page.javascriptDialogOpening") return;
  chrome.debugger.sendCommand({ tabId }, "Page.handleJavaScriptDialog", { accept: false }).catch(() => {});
});

// ── The line ────────────────────────────────────────────────────────────────────────────────────────────────

/** An id that stays with this installation. */
async function ownId(name) {
  const { [name]: known } = await chrome.storage.local.get(name);
  if (known) return known;
  const made = crypto.randomUUID();
  await chrome.storage.local.set({ [name]: made });
  return made;
}

let last = Promise.resolve();
/** One after the other: the popup and the alarm may both want something. */
function inTurn(job) {
  last = last.then(job).catch((error) =>
    status = { state: "stopped", text: String(error?.message ?? error) }
  );
  return last;
}

async function connect({ server, key, sessionId }) {
  await disconnect("Not connected");
  await chrome.storage.session.set({ wanted: { server, key, sessionId } });
  await chrome.alarms.create(AWAKE, { periodInMinutes: 1 });
  link = new Link({
    server,
    key,
    sessionId,
    controllerId: await ownId("controllerId"),
    profileId: await ownId("profileId"),
    capabilities: CAPABILITIES,
    perform,
    onStatus: (state, text) => {
      status = { state, text };
      const badges = { connected: "on", waiting: "…", connecting: "…", refused: "!" };
      void chrome.action.setBadgeText({ text: badges[state] ?? "" });
      if (state === "refused") void inTurn(forget);
    },
  });
  link.start();
}

async function forget() {
  link = null;
  await chrome.storage.session.remove("wanted");
  await chrome.alarms.clear(AWAKE);
  await release();
}

async function disconnect(text) {
  link?.stop(text);
  await forget();
}

/** After the worker was put to sleep. */
async function resume() {
  const { wanted } = await chrome.storage.session.get("wanted");
  if (wanted && !link) await connect(wanted);
}

chrome.alarms.onAlarm.addListener(() => void inTurn(resume));
chrome.runtime.onMessage.addListener((message, _sender, answer) => {
  if (message.type === "status") answer(status);
  else if (message.type === "connect") inTurn(() => connect(message)).then(() => answer(status));
  else if (message.type === "disconnect") inTurn(() => disconnect("Disconnected")).then(() => answer(status));
  return true;
});
void inTurn(resume);
