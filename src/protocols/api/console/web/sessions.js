/** The list of conversations: newest activity first, searched as one types, renamed and deleted in place. */
import { ApiFailure } from "./api.js";
import { ago, h, iconButton } from "./dom.js";

const PAGE = 60;
/** Searching loads older pages until this many conversations have been looked at. */
const SEARCH_DEPTH = 600;

/**
 * @typedef {object} SessionListHost
 * @property {HTMLElement} list
 * @property {HTMLElement} note
 * @property {HTMLElement} more
 * @property {HTMLInputElement} search
 * @property {(id: string) => void} onRename
 * @property {(id: string) => void} onDelete
 */

/** What a conversation is called. @param {any} session */
export function nameOf(session) {
  return session?.title || session?.preview || "Untitled";
}

export class SessionList {
  /** @param {() => import("./api.js").Api} api @param {SessionListHost} host */
  constructor(api, host) {
    this.api = api;
    this.host = host;
    /** @type {any[]} */
    this.rows = [];
    this.hasMore = false;
    this.pages = 1;
    /** @type {string | null} */
    this.current = null;
    /** @type {Set<string>} */
    this.active = new Set();
    this.loaded = false;
    this.drawn = "";
    /** @type {Promise<void> | null} */
    this.loading = null;
    /** @type {Promise<void> | null} */
    this.next = null;
    host.search.addEventListener("input", () => void this.onSearch());
    host.more.addEventListener("click", () => void this.loadMore());
  }

  /** @param {string} id */
  find(id) {
    return this.rows.find((row) => row.id === id) ?? null;
  }

  /**
   * Reads the list again, one reading at a time; one that has begun may be too old for who asks now, so there is
   * another one after it. Throws `ApiFailure`.
   * @returns {Promise<void>}
   */
  refresh() {
    if (!this.loading) return this.loading = this.load().finally(() => this.loading = null);
    return this.next ??= this.loading.catch(() => {}).then(() => {
      this.next = null;
      return this.refresh();
    });
  }

  async load() {
    const [pages, runs] = await Promise.all([this.readPages(), this.readRuns()]);
    this.rows = pages;
    this.loaded = true;
    this.active = new Set(runs.data.filter(isActive).map((/** @type {any} */ run) => run.session_id));
    this.draw();
  }

  async readPages() {
    const rows = [];
    const seen = new Set();
    for (let page = 0; page < this.pages; page++) {
      const { data, has_more } = await this.api().json(`/api/sessions?limit=${PAGE}&offset=${page * PAGE}`);
      for (const row of data) {
        if (!seen.has(row.id)) rows.push(row);
        seen.add(row.id);
      }
      this.hasMore = has_more;
      if (!has_more) break;
    }
    return rows;
  }

  /** A key may be one that sees sessions and no runs. @returns {Promise<{ data: any[] }>} */
  async readRuns() {
    try {
      return await this.api().json("/v1/runs?limit=50");
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 403) return { data: [] };
      throw error;
    }
  }

  async loadMore() {
    this.pages++;
    await this.refresh().catch(() => {/* the poll says so */});
  }

  async onSearch() {
    this.draw();
    while (this.host.search.value.trim() !== "" && this.hasMore && this.pages * PAGE < SEARCH_DEPTH) {
      await this.loadMore();
    }
  }

  /** @param {string | null} id */
  select(id) {
    this.current = id;
    this.draw();
  }

  draw() {
    const { list, note, more, search } = this.host;
    const words = search.value.toLowerCase().trim();
    const shown = words === ""
      ? this.rows
      : this.rows.filter((row) => `${row.title ?? ""} ${row.preview ?? ""}`.toLowerCase().includes(words));
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.focus;
    const now = Date.now() / 1000;
    const rows = shown.map((row) => [row.id, nameOf(row), this.active.has(row.id), ago(lastOf(row), now)]);
    const drawn = JSON.stringify([this.current, rows]);
    // What is the same stays: a click that has begun must find its row again.
    if (drawn !== this.drawn) list.replaceChildren(...shown.map((row) => this.item(row, now)));
    this.drawn = drawn;
    if (focused) {
      /** @type {HTMLElement | null} */ (list.querySelector(`[data-focus="${CSS.escape(focused)}"]`))
        ?.focus();
    }
    note.textContent = !this.loaded
      ? "Loading…"
      : shown.length > 0
      ? ""
      : words === ""
      ? "No conversations yet."
      : "Nothing found.";
    more.hidden = !this.hasMore || words !== "";
  }

  /** @param {any} row @param {number} now */
  item(row, now) {
    const name = nameOf(row);
    const isActiveRow = this.active.has(row.id);
    const mark = (/** @type {HTMLElement} */ button, /** @type {string} */ what) => {
      button.dataset.focus = `${what}:${row.id}`;
      return button;
    };
    return h(
      "li",
      { class: row.id === this.current ? "session current" : "session" },
      h(
        "a",
        {
          href: `#/s/${encodeURIComponent(row.id)}`,
          "aria-current": row.id === this.current ? "page" : null,
          dataset: { focus: `open:${row.id}` },
          title: name,
        },
        h("span", { class: "session-name" }, name),
        h(
          "span",
          { class: "session-meta" },
          isActiveRow ? h("span", { class: "live" }, "working") : ago(lastOf(row), now),
        ),
      ),
      h(
        "span",
        { class: "session-actions" },
        mark(iconButton("pencil", `Rename “${name}”`, () => this.host.onRename(row.id)), "rename"),
        mark(iconButton("trash", `Delete “${name}”`, () => this.host.onDelete(row.id)), "delete"),
      ),
    );
  }
}

/** Unix seconds. @param {any} row @returns {number} */
function lastOf(row) {
  return row.last_active ?? row.started_at;
}

/** @param {any} run */
export function isActive(run) {
  return ["queued", "running", "waiting_for_approval", "waiting_for_clarify", "stopping"].includes(
    run.status,
  );
}
