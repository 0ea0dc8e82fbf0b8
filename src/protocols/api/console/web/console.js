/**
 * The console itself: which conversation is open, the run that works in it, and what the user does about it. Every
 * change goes through the public API; what is shown is what the server said.
 *
 *   address (#/s/id) ─► open: messages + active run ─► follow its events ─► end: usage, list
 */
import { ApiFailure } from "./api.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { askText, confirm, showHelp } from "./dialogs.js";
import { byId, h, icon } from "./dom.js";
import { Activity, setBanner, setDrawer, showUsage } from "./frame.js";
import { followRun, isEnd } from "./follow.js";
import { pickModel } from "./models.js";
import { QuestionCard } from "./questions.js";
import { isActive, nameOf, SessionList } from "./sessions.js";

const POLL_MS = 10_000;
const PAGE = 200;
const FILL_AFTER_MS = 250;
const MODEL = "hermes.model";

const EXAMPLES = [
  "What is in this workspace?",
  "Run the tests and fix what fails",
  "Summarise the latest changes",
];

const SHORTCUTS = /** @type {const} */ ([
  ["Enter", "send; while the agent works: steer it"],
  ["Shift+Enter", "new line"],
  ["Alt+A", "go to the question that waits"],
  ["Alt+S", "stop the run"],
  ["Alt+N", "new conversation"],
  ["Ctrl+K", "search conversations"],
  ["Alt+M", "choose a model"],
  ["?", "this list, outside of text fields"],
]);

export class Console {
  /** @param {import("./api.js").Api} api @param {any} capabilities @param {() => void} onLock */
  constructor(api, capabilities, onLock) {
    this.api = api;
    this.onLock = onLock;
    /** What belongs to the open conversation; aborted when another one is opened. */
    this.visit = new AbortController();
    /** @type {string | null} */
    this.sessionId = null;
    /** @type {any} */
    this.session = null;
    /** @type {string | null} */
    this.runId = null;
    this.runStarted = 0;
    /** @type {any} */
    this.options = null;
    /** @type {import("./models.js").ModelChoice | null} */
    this.choice = JSON.parse(sessionStorage.getItem(MODEL) ?? "null");
    this.status = "";
    /** @type {string | null} */
    this.stoppingRun = null;
    this.firstWords = "";
    this.activity = new Activity(() => this.goToQuestion());
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.filling = undefined;
    this.isBehind = false;
    byId("server-name").textContent = capabilities.model;
    this.conversation = new Conversation({
      timeline: byId("timeline"),
      scroller: byId("scroller"),
      jump: byId("jump"),
      onApproval: (request, choice, reason) => this.decide(request, choice, reason),
      onAnswer: (request, answer) => this.answer(request, answer),
      announce: (text) => byId("announcer").textContent = text,
    });
    this.composer = new Composer(
      { onSend: (text) => void this.send(text), onStop: () => void this.stop() },
    );
    this.list = new SessionList(() => this.api, {
      list: byId("sessions"),
      note: byId("sessions-note"),
      more: byId("more-sessions"),
      search: byId("search"),
      onRename: (id) => void this.rename(id),
      onDelete: (id) => void this.remove(id),
    });
  }

  async start() {
    this.wire();
    this.list.draw();
    await Promise.all([this.poll(), this.loadModels(), this.route()]);
  }

  wire() {
    const click = (/** @type {string} */ id, /** @type {() => void} */ run) =>
      byId(id).addEventListener("click", run);
    for (
      const [id, name] of /** @type {const} */ ([
        ["open-sidebar", "menu"],
        ["close-sidebar", "close"],
        ["show-help", "help"],
        ["forget-key", "lock"],
      ])
    ) {
      byId(id).replaceChildren(icon(name));
    }
    click("new-session", () => this.startNew());
    click("open-sidebar", () => setDrawer(true));
    click("close-sidebar", () => setDrawer(false));
    click("scrim", () => setDrawer(false));
    click("show-help", () => void showHelp(SHORTCUTS));
    click("forget-key", () => this.onLock());
    click("model", () => void this.chooseModel());
    globalThis.addEventListener("hashchange", () => void this.route());
    globalThis.addEventListener("online", () => void this.poll());
    document.addEventListener("visibilitychange", () => document.hidden || void this.poll());
    document.addEventListener("keydown", (event) => this.onKey(event));
    setInterval(() => document.hidden || void this.poll(), POLL_MS);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const isTyping = event.target instanceof HTMLElement && event.target.matches("input, textarea");
    /** @type {Record<string, () => void>} */
    const actions = {
      KeyA: () => this.goToQuestion(),
      KeyS: () => void this.stop(),
      KeyN: () => this.startNew(),
      KeyM: () => void this.chooseModel(),
    };
    let run = event.altKey && !event.ctrlKey && !event.metaKey ? actions[event.code] : undefined;
    if ((event.ctrlKey || event.metaKey) && event.key === "k") run = () => this.goToSearch();
    if (event.key === "?" && !isTyping) run = () => void showHelp(SHORTCUTS);
    if (event.key === "Escape" && document.body.dataset.drawer === "open") run = () => setDrawer(false);
    if (!run || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    run();
  }

  goToQuestion() {
    const element = this.conversation.waiting()?.element;
    element?.scrollIntoView({ block: "nearest" });
    element?.focus();
  }

  goToSearch() {
    setDrawer(true);
    byId("search").focus();
    byId("search").select();
  }

  // ── Server state ──────────────────────────────────────────────────────────────────────────────────────────

  /** @returns {Promise<boolean>} whether the list is fresh now */
  async poll() {
    const retry = () => void this.poll();
    try {
      await this.list.refresh();
      setBanner("", retry);
      this.showSession();
      return true;
    } catch (error) {
      const isRefused = error instanceof ApiFailure && error.status === 401;
      if (!isRefused) setBanner(textOfError(error), retry);
      return false;
    }
  }

  async loadModels() {
    try {
      this.options = await this.api.json("/api/model/options");
    } catch {
      this.options = null;
    }
    this.showSession();
  }

  async chooseModel() {
    if (!this.options) await this.loadModels();
    if (!this.options) return setBanner("The models cannot be listed", () => void this.chooseModel());
    const choice = await pickModel(this.options, this.choice);
    if (choice !== undefined) {
      this.choice = choice;
      if (choice) sessionStorage.setItem(MODEL, JSON.stringify(choice));
      else sessionStorage.removeItem(MODEL);
    }
    this.showSession();
    this.composer.focus();
  }

  /** Title, model and usage of the open conversation. */
  showSession() {
    if (this.sessionId !== null) this.session = this.list.find(this.sessionId) ?? this.session;
    const title = this.session ? nameOf(this.session) : this.firstWords || "New conversation";
    byId("title").textContent = title;
    const model = this.choice?.model ?? this.session?.model ?? this.options?.model;
    const label = String(model || "No model").split("/").at(-1);
    byId("model").replaceChildren(h("span", { class: "model-label" }, label));
    byId("model").title = model ?? "";
    byId("model").setAttribute("aria-label", `Model: ${model || "none"}. Choose another`);
    showUsage(this.session, this.options, this.choice);
    this.showTitle(title);
  }

  /** @param {string} title */
  showTitle(title) {
    const sign = this.status === "waiting"
      ? "● Approval needed · "
      : this.status === "asked"
      ? "● Question · "
      : this.runId
      ? "… "
      : "";
    document.title = `${sign}${title} · hermes`;
  }

  // ── Which conversation ────────────────────────────────────────────────────────────────────────────────────

  async route() {
    const match = /^#\/s\/(.+)$/.exec(location.hash);
    setDrawer(false);
    if (!match) return this.openNew();
    let id = match[1];
    try {
      id = decodeURIComponent(id);
    } catch {
      // Used as it is.
    }
    if (id !== this.sessionId) await this.open(id);
  }

  startNew() {
    if (location.hash === "" || location.hash === "#/") this.openNew();
    else location.hash = "#/";
  }

  /** @param {string | null} id */
  enter(id) {
    this.visit.abort();
    this.visit = new AbortController();
    clearTimeout(this.filling);
    this.filling = undefined;
    this.sessionId = id;
    this.session = id === null ? null : this.list.find(id);
    /** What a conversation that the server has not listed yet is called. */
    this.firstWords = "";
    this.runId = null;
    this.setStatus("idle");
    this.list.select(id);
    this.composer.open(id ?? "new");
    this.showSession();
  }

  openNew() {
    this.enter(null);
    this.conversation.showEmpty(EXAMPLES, (text) => {
      this.composer.set(text);
      this.composer.focus();
    });
    this.composer.focus();
  }

  /** @param {string} id */
  async open(id) {
    this.enter(id);
    const { signal } = this.visit;
    this.conversation.showLoading();
    try {
      const [messages, runs, head] = await Promise.all([
        this.readMessages(id, PAGE, signal),
        this.api.json(`/v1/runs?limit=20&session_id=${encodeURIComponent(id)}`, { signal }),
        this.api.json(`/api/sessions/${encodeURIComponent(id)}`, { signal }),
      ]);
      if (signal.aborted) return;
      this.session = head.session;
      this.showSession();
      const run = runs.data.filter(isActive).at(-1) ?? null;
      this.show(messages, run);
      if (run) void this.follow(run.run_id, run.created_at);
      this.composer.focus();
    } catch (error) {
      if (signal.aborted) return;
      const isGone = error instanceof ApiFailure && error.status === 404;
      if (isGone && this.list.loaded) return this.showGone();
      this.conversation.showFailure(textOfError(error), () => void this.open(id));
    }
  }

  showGone() {
    this.conversation.reset();
    this.conversation.notice("error", "This conversation does not exist any more.", {
      label: "New conversation",
      run: () => this.startNew(),
    });
  }

  /** The newest messages, oldest first. @param {string} id @param {number} count @param {AbortSignal} signal */
  async readMessages(id, count, signal) {
    /** @type {any[]} */
    const all = [];
    let more = true;
    while (more && all.length < count) {
      const size = Math.min(500, count - all.length);
      const page = await this.api.json(
        `/api/sessions/${encodeURIComponent(id)}/messages?order=latest&limit=${size}&offset=${all.length}`,
        { signal },
      );
      all.push(...page.data);
      more = page.has_more;
    }
    return { list: all.reverse(), more, count };
  }

  /** What a run does comes from its events, so its stored messages are left out. @param {{ list: any[], more: boolean, count: number }} messages @param {any} run */
  show(messages, run) {
    const { list, more, count } = messages;
    const id = /** @type {string} */ (this.sessionId);
    const at = run
      ? list.findIndex((message) => message.role === "user" && message.timestamp >= run.created_at)
      : -1;
    const earlier = more && !run
      ? async () => {
        const { signal } = this.visit;
        const found = await this.readMessages(id, count + 500, signal).catch(() => null);
        if (found && !signal.aborted) this.conversation.keepPlace(() => this.show(found, null));
      }
      : null;
    this.conversation.showMessages(at === -1 ? list : list.slice(0, at + 1), earlier);
    if (!run) return;
    this.conversation.startTurn(at === -1 ? sessionStorage.getItem(`hermes.prompt.${run.run_id}`) : null);
  }

  /** @param {string} id */
  async rename(id) {
    const title = await askText("Rename the conversation", this.list.find(id)?.title ?? "");
    if (title === null) return;
    await this.attempt(async () => {
      const { session } = await this.api.json(`/api/sessions/${encodeURIComponent(id)}`, {
        method: "PATCH",
        body: { title: title === "" ? null : title },
      });
      if (id === this.sessionId) this.session = session;
    });
    await this.poll();
  }

  /** @param {string} id */
  async remove(id) {
    const name = nameOf(this.list.find(id));
    const sure = await confirm(
      "Delete this conversation?",
      `“${name}” and its messages are removed for good. Files stay as they are.`,
      "Delete",
    );
    if (!sure) return;
    const done = await this.attempt(() =>
      this.api.json(`/api/sessions/${encodeURIComponent(id)}`, { method: "DELETE" })
    );
    if (done && id === this.sessionId) this.startNew();
    await this.poll();
  }

  /** A failure is shown in the conversation. @param {() => Promise<unknown>} run */
  async attempt(run) {
    try {
      await run();
      return true;
    } catch (error) {
      this.conversation.notice("error", textOfError(error));
      return false;
    }
  }

  // ── Runs ──────────────────────────────────────────────────────────────────────────────────────────────────

  /** @param {string} text */
  async send(text) {
    if (this.runId !== null) return await this.steer(text);
    const { signal } = this.visit;
    const isNew = this.sessionId === null;
    const sessionId = this.sessionId ?? `web_${Math.floor(Date.now() / 1000)}_${hex(8)}`;
    const { draftKey } = this.composer;
    this.conversation.startTurn(text);
    this.setStatus("starting");
    try {
      const run = await this.api.json("/v1/runs", {
        body: { input: text, session_id: sessionId, clarify: true, ...(this.choice ?? {}) },
        headers: { "Idempotency-Key": hex(32) },
      });
      sessionStorage.setItem(`hermes.prompt.${run.run_id}`, text);
      if (signal.aborted) return;
      if (isNew) this.adopt(sessionId, text);
      void this.follow(run.run_id, Date.now() / 1000);
      void this.poll();
    } catch (error) {
      this.composer.giveBack(text, draftKey);
      if (signal.aborted) return;
      this.conversation.dropTurn();
      this.conversation.notice("error", textOfError(error));
      this.setStatus("idle");
    }
  }

  /** A new conversation has got its id. @param {string} id @param {string} text */
  adopt(id, text) {
    this.sessionId = id;
    this.session = null;
    history.replaceState(null, "", `#/s/${encodeURIComponent(id)}`);
    this.composer.draftKey = `hermes.draft.${id}`;
    this.list.select(id);
    this.firstWords = text.slice(0, 80);
    this.showSession();
  }

  /** @param {string} runId @param {number} startedAt Unix seconds */
  async follow(runId, startedAt) {
    const { signal } = this.visit;
    this.runId = runId;
    this.runStarted = startedAt;
    this.isBehind = false;
    this.setStatus("running");
    const outcome = await followRun(this.api, runId, signal, {
      onEvent: (event) => this.onEvent(event),
      onLost: (pauseMs) => this.setStatus("lost", pauseMs),
      onBack: () => this.setStatus(this.liveStatus()),
    });
    if (signal.aborted || outcome === "left") return;
    sessionStorage.removeItem(`hermes.prompt.${runId}`);
    this.runId = null;
    this.setStatus("idle");
    // What its events did not tell in full is in the store.
    if (outcome === "gone" || this.isBehind) await this.reload();
    else await this.fill(signal);
    if (await this.poll()) await this.followNext(signal);
  }

  /** A run of somebody else may have waited behind this one. @param {AbortSignal} signal */
  async followNext(signal) {
    const id = this.sessionId;
    if (signal.aborted || id === null || this.status !== "idle" || !this.list.active.has(id)) return;
    await this.open(id);
  }

  /** @param {any} event */
  onEvent(event) {
    if (event.event === "replay.truncated") this.isBehind = true;
    if (this.sessionId !== null && this.firstWords !== "" && !this.list.find(this.sessionId)) {
      this.firstWords = "";
      void this.poll();
    }
    this.conversation.apply(isEnd(event) ? { event: "" } : event);
    if (/^(approval|clarify)\./.test(event.event)) this.setStatus(this.liveStatus());
    else if (event.event === "tool.started" || event.event === "tool.completed") this.fillSoon();
    if (!isEnd(event)) return;
    const seconds = event.timestamp - this.runStarted;
    if (event.usage) event.usage.seconds = Math.max(0, seconds);
    this.conversation.endTurn(event);
    if (event.pending_steer) this.onUnreadSteer(event.pending_steer);
  }

  /** @param {string} text */
  onUnreadSteer(text) {
    this.composer.giveBack(text);
    this.conversation.notice(
      "info",
      "The agent was done before it could read your guidance. It is back in the message field.",
    );
  }

  fillSoon() {
    const { signal } = this.visit;
    this.filling ??= setTimeout(() => {
      this.filling = undefined;
      if (!signal.aborted) void this.fill(signal);
    }, FILL_AFTER_MS);
  }

  /** Events carry previews; the whole arguments and results are in the stored messages. @param {AbortSignal} signal */
  async fill(signal) {
    if (this.sessionId === null) return;
    try {
      const { list } = await this.readMessages(this.sessionId, 60, signal);
      if (!signal.aborted) this.conversation.fill(list);
    } catch {
      // The cards keep their previews.
    }
  }

  async reload() {
    const { signal } = this.visit;
    const id = this.sessionId;
    if (id === null) return;
    try {
      const messages = await this.readMessages(id, PAGE, signal);
      if (!signal.aborted) this.show(messages, null);
    } catch (error) {
      if (!signal.aborted) this.conversation.notice("error", textOfError(error));
    }
  }

  /** @param {string} text */
  async steer(text) {
    const runId = this.runId;
    const { draftKey } = this.composer;
    this.conversation.steers.push(text);
    try {
      await this.api.json(`/v1/runs/${runId}/steer`, { body: { input: text } });
    } catch (error) {
      this.conversation.steers = this.conversation.steers.filter((entry) => entry !== text);
      this.composer.giveBack(text, draftKey);
      if (this.runId === runId) this.conversation.notice("warn", textOfError(error));
    }
  }

  async stop() {
    const runId = this.runId;
    if (runId === null || this.status === "stopping") return;
    this.setStatus("stopping");
    try {
      await this.api.json(`/v1/runs/${runId}/stop`, { method: "POST", body: {} });
    } catch (error) {
      if (this.runId !== runId) return;
      this.setStatus("running");
      this.conversation.notice("error", `It could not be stopped: ${textOfError(error)}`);
    }
  }

  /** @param {any} request @param {string} choice @param {string} reason */
  async decide(request, choice, reason) {
    await this.api.json(`/v1/runs/${request.run_id}/approval`, {
      body: { request_id: request.request_id, choice, ...(reason === "" ? {} : { reason }) },
    });
  }

  /** @param {any} request @param {string} answer empty: skipped */
  async answer(request, answer) {
    await this.api.json(`/v1/runs/${request.run_id}/clarify`, {
      body: { request_id: request.request_id, answer },
    });
  }

  // ── What it is doing ──────────────────────────────────────────────────────────────────────────────────────

  /** Of a run that goes on: whether it waits, and for what. */
  liveStatus() {
    const card = this.conversation.waiting();
    return card === null ? "running" : card instanceof QuestionCard ? "asked" : "waiting";
  }

  /** @param {import("./frame.js").Status} status @param {number} [pauseMs] */
  setStatus(status, pauseMs = 0) {
    // A run that is being stopped stays so until it ends.
    if (
      this.status === "stopping" && (status === "running" || status === "waiting" || status === "asked") &&
      this.stoppingRun === this.runId
    ) return;
    this.status = status;
    this.stoppingRun = status === "stopping" ? this.runId : null;
    this.composer.setMode(status === "lost" ? "running" : status);
    this.activity.set(status, this.runStarted, pauseMs);
    this.showTitle(byId("title").textContent ?? "");
  }
}

/** @param {unknown} error */
function textOfError(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @param {number} length */
function hex(length) {
  const bytes = crypto.getRandomValues(new Uint8Array(length / 2));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
