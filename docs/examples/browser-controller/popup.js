/** The popup: which server, which session, and what the line is doing. Makes a session when none is named. */

const field = (id) => document.getElementById(id);
const say = (text) => field("status").textContent = text;

async function ask(path, init = {}) {
  const [server, key] = [field("server").value.trim(), field("key").value.trim()];
  const headers = { "Authorization": `Bearer ${key}`, "Content-Type": "application/json" };
  const response = await fetch(new URL(path, server), { ...init, headers });
  const body = await response.json();
  if (!response.ok) throw new Error(body.error?.message ?? `The server said ${response.status}`);
  return body;
}

async function newSession() {
  return (await ask("/api/sessions", { method: "POST", body: "{}" })).session.id;
}

/** The latest conversations, to choose one. */
async function listSessions() {
  const { data } = await ask("/api/sessions?limit=20");
  field("sessions").replaceChildren(
    ...data.map(({ id, title, preview }) => new Option(title || preview || id, id)),
  );
}

/** The browser asks the user the first time that a server is not on this machine. */
async function mayReach(server) {
  const origins = [`${new URL(server).origin.replace(/:\d+$/, "")}/*`];
  return await chrome.permissions.contains({ origins }) || await chrome.permissions.request({ origins });
}

async function connect() {
  const server = field("server").value.trim();
  const key = field("key").value.trim();
  if (!await mayReach(server)) return say("The browser may not reach this server");
  field("session").value ||= await newSession();
  await chrome.storage.local.set({ server });
  await chrome.storage.session.set({ session: field("session").value });
  await chrome.runtime.sendMessage({
    type: "connect",
    server,
    key,
    sessionId: field("session").value.trim(),
  });
}

field("form").addEventListener("submit", (event) => {
  event.preventDefault();
  connect().catch((error) => say(error.message));
});
field("disconnect").addEventListener("click", () => chrome.runtime.sendMessage({ type: "disconnect" }));

const { server } = await chrome.storage.local.get("server");
if (server) field("server").value = server;
const { session, wanted } = await chrome.storage.session.get(["session", "wanted"]);
if (session) field("session").value = session;
if (wanted) field("key").value = wanted.key;
field("key").addEventListener("change", () => void listSessions().catch(() => {/* the button will tell */}));

let shown = "";
for (;;) {
  const { text } = await chrome.runtime.sendMessage({ type: "status" });
  if (text !== shown) say(shown = text);
  await new Promise((resolve) => setTimeout(resolve, 500));
}
