/** Start of the page: finds the key in the address or in this tab, or asks for it, and opens the console with it. */
import { Api, ApiFailure } from "./api.js";
import { Console } from "./console.js";
import { byId } from "./dom.js";

const KEY = "hermes.key";
const NOTICE = "hermes.notice";

/** `#key=…`, as the server prints it at its first start; taken out of the address and the history at once. */
function keyFromAddress() {
  const match = /^#key=([^&]+)/.exec(location.hash);
  if (!match) return null;
  history.replaceState(null, "", location.pathname);
  try {
    return decodeURIComponent(match[1]);
  } catch {
    return null;
  }
}

/** @param {string} message */
function showGate(message) {
  byId("app").hidden = true;
  byId("gate").hidden = false;
  const error = byId("gate-error");
  error.textContent = message;
  error.hidden = message === "";
  const input = byId("gate-key");
  input.value = "";
  input.setAttribute("aria-invalid", String(message !== ""));
  input.focus();
}

/** @param {string} key */
async function tryKey(key) {
  const button = byId("gate-submit");
  button.disabled = true;
  button.textContent = "Checking…";
  try {
    const api = new Api(key);
    const capabilities = await api.json("/v1/capabilities");
    sessionStorage.setItem(KEY, key);
    openConsole(key, capabilities);
  } catch (error) {
    showGate(explain(error));
    // Kept for another try when only the server was away.
    if (!(error instanceof ApiFailure && error.status === 401)) byId("gate-key").value = key;
    else sessionStorage.removeItem(KEY);
  } finally {
    button.disabled = false;
    button.textContent = "Open the console";
  }
}

/** @param {unknown} error */
function explain(error) {
  if (!(error instanceof ApiFailure)) {
    return "This key cannot be used: it has characters that a key never has.";
  }
  if (error.status === 401) return "The server does not accept this key.";
  return error.status === 0 ? "The server cannot be reached. Is it running?" : error.message;
}

/** @param {string} key @param {any} capabilities */
function openConsole(key, capabilities) {
  byId("gate").hidden = true;
  byId("app").hidden = false;
  const api = new Api(key, { onRefused: () => leave("The key is no longer accepted.") });
  const view = new Console(api, capabilities, () => leave(""));
  void view.start();
}

/** Forgets everything that this tab has kept, and begins anew. @param {string} notice what the gate then says */
function leave(notice) {
  sessionStorage.clear();
  if (notice !== "") sessionStorage.setItem(NOTICE, notice);
  history.replaceState(null, "", location.pathname);
  location.reload();
}

byId("gate-form").addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  const key = byId("gate-key").value.trim();
  if (key !== "") void tryKey(key);
});

const key = keyFromAddress() ?? sessionStorage.getItem(KEY);
if (key === null) {
  showGate(sessionStorage.getItem(NOTICE) ?? "");
  sessionStorage.removeItem(NOTICE);
} else void tryKey(key);
