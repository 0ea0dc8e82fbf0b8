/** Which model the next run uses: the server's default, or one of the providers that are set up. And what it costs. */
import { h } from "./dom.js";
import { show } from "./dialogs.js";

/** @typedef {{ provider: string, model: string }} ModelChoice */

/** The rows of the picker from `/api/model/options`. @param {any} options */
export function groupsOf(options) {
  return options.providers
    .filter((/** @type {any} */ row) => row.authenticated && row.models.length > 0)
    .sort((/** @type {any} */ a, /** @type {any} */ b) => Number(b.is_current) - Number(a.is_current))
    .map((/** @type {any} */ row) => ({
      slug: row.slug,
      name: row.name,
      warning: row.warning ?? "",
      models: row.models.map((/** @type {string} */ id) => ({ id, price: row.pricing?.[id] ?? null })),
    }));
}

/** Dollars, `null` when the price is not known. @param {any} options @param {ModelChoice | null} choice @param {any} session */
export function costOf(options, choice, session) {
  if (typeof session.actual_cost_usd === "number") return session.actual_cost_usd;
  if (typeof session.estimated_cost_usd === "number") return session.estimated_cost_usd;
  const provider = choice?.provider ?? options?.provider;
  const model = choice?.model ?? options?.model;
  const row = options?.providers.find((/** @type {any} */ entry) => entry.slug === provider);
  const price = row?.pricing?.[model];
  if (!price) return null;
  const [input, output] = [perMillion(price.input), perMillion(price.output)];
  if (input === null || output === null) return null;
  const cache = price.cache === null ? input : perMillion(price.cache) ?? input;
  return ((session.input_tokens + session.cache_write_tokens) * input + session.cache_read_tokens * cache +
    session.output_tokens * output) / 1e6;
}

/** @param {string} text `$3.00` or `free` */
function perMillion(text) {
  if (text === "free") return 0;
  const value = Number(String(text).replace("$", ""));
  return Number.isFinite(value) ? value : null;
}

/** @param {number} value */
export function dollars(value) {
  if (value === 0) return "$0";
  return value < 0.01 ? `$${value.toFixed(4)}` : `$${value.toFixed(2)}`;
}

/**
 * @param {any} options @param {ModelChoice | null} current
 * @returns {Promise<ModelChoice | null | undefined>} `null` = the default, `undefined` = nothing chosen
 */
export async function pickModel(options, current) {
  /** @type {ModelChoice | null | undefined} */
  let picked;
  const choose = (/** @type {ModelChoice | null} */ choice) => () => {
    picked = choice;
    dialog.close("yes");
  };
  const list = h("div", { class: "model-list", role: "group", "aria-label": "Models" });
  const filter = h("input", {
    type: "search",
    placeholder: "Filter models",
    "aria-label": "Filter models",
    autofocus: true,
    on: { input: () => draw() },
  });
  const draw = () => {
    const words = filter.value.toLowerCase().trim();
    const groups = groupsOf(options).flatMap((/** @type {any} */ group) =>
      groupElements(group, words, current, choose)
    );
    const usual = words === ""
      ? [row("Server default", options.model || "not set up", current === null, choose(null))]
      : [];
    const rows = [...usual, ...groups];
    list.replaceChildren(...rows.length > 0 ? rows : [h("p", { class: "hint" }, "No model matches.")]);
  };
  const dialog = h(
    "dialog",
    { class: "dialog models", "aria-label": "Choose a model", on: { keydown: moveFocus } },
    h("h2", {}, "Model"),
    filter,
    list,
    h("p", { class: "hint" }, "Counts for the messages you send from now on."),
    h("button", { type: "button", class: "button end", on: { click: () => dialog.close("") } }, "Close"),
  );
  draw();
  await show(dialog);
  return picked;
}

/**
 * @param {any} group @param {string} words @param {ModelChoice | null} current
 * @param {(choice: ModelChoice) => () => void} choose
 */
function groupElements(group, words, current, choose) {
  const models = group.models.filter((/** @type {any} */ model) =>
    `${group.name} ${model.id}`.toLowerCase().includes(words)
  );
  if (models.length === 0) return [];
  const rows = models.slice(0, 200).map((/** @type {any} */ { id, price }) => {
    const note = price ? (price.free ? "free" : `${price.input} in · ${price.output} out`) : "";
    const isCurrent = current?.provider === group.slug && current?.model === id;
    return row(id, note, isCurrent, choose({ provider: group.slug, model: id }));
  });
  return [h("h3", {}, group.name), ...rows];
}

/** @param {string} label @param {string} note @param {boolean} isCurrent @param {() => void} onClick */
function row(label, note, isCurrent, onClick) {
  return h(
    "button",
    { type: "button", class: "model-row", "aria-pressed": String(isCurrent), on: { click: onClick } },
    h("span", { class: "model-id" }, label),
    h("span", { class: "model-note" }, note),
  );
}

/** Arrow keys go through the list. @param {KeyboardEvent} event */
function moveFocus(event) {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const rows = [.../** @type {HTMLElement} */ (event.currentTarget).querySelectorAll(".model-row")];
  const at = rows.indexOf(/** @type {Element} */ (document.activeElement));
  const next = rows[at + (event.key === "ArrowDown" ? 1 : -1)];
  if (!next) return;
  event.preventDefault();
  /** @type {HTMLElement} */ (next).focus();
}
