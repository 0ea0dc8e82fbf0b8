/** Small questions to the user in native dialogs: they trap the focus, close with Escape and give the focus back. */
import { h } from "./dom.js";

/** Shows a dialog until it is closed; resolves with its return value. @param {HTMLDialogElement} dialog @returns {Promise<string>} */
export function show(dialog) {
  document.body.append(dialog);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close("");
  });
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue);
    }, { once: true });
    dialog.showModal();
  });
}

/** @param {string} title @param {string} text @param {string} action @returns {Promise<boolean>} */
export async function confirm(title, text, action) {
  const close = (/** @type {string} */ value) => () => dialog.close(value);
  const dialog = h(
    "dialog",
    { class: "dialog", "aria-label": title },
    h("h2", {}, title),
    h("p", {}, text),
    h(
      "div",
      { class: "choices end" },
      h("button", { type: "button", class: "button", autofocus: true, on: { click: close("") } }, "Cancel"),
      h("button", { type: "button", class: "button danger", on: { click: close("yes") } }, action),
    ),
  );
  return await show(dialog) === "yes";
}

/** @param {string} title @param {string} value @returns {Promise<string | null>} `null` = cancelled */
export async function askText(title, value) {
  const input = h("input", { type: "text", value, maxLength: 100, "aria-label": title, autofocus: true });
  const dialog = h(
    "dialog",
    { class: "dialog", "aria-label": title },
    h(
      "form",
      {
        on: {
          submit: (/** @type {Event} */ event) => {
            event.preventDefault();
            dialog.close("yes");
          },
        },
      },
      h("h2", {}, title),
      input,
      h(
        "div",
        { class: "choices end" },
        h("button", { type: "button", class: "button", on: { click: () => dialog.close("") } }, "Cancel"),
        h("button", { type: "submit", class: "button primary" }, "Save"),
      ),
    ),
  );
  const answer = show(dialog);
  input.select();
  return await answer === "yes" ? input.value.trim() : null;
}

/** @param {readonly (readonly [string, string])[]} rows */
export function showHelp(rows) {
  const dialog = h(
    "dialog",
    { class: "dialog", "aria-label": "Keyboard shortcuts" },
    h("h2", {}, "Keyboard shortcuts"),
    h(
      "dl",
      { class: "keys" },
      ...rows.flatMap(([keys, what]) => [h("dt", {}, h("kbd", {}, keys)), h("dd", {}, what)]),
    ),
    h(
      "div",
      { class: "choices end" },
      h(
        "button",
        { type: "button", class: "button", autofocus: true, on: { click: () => dialog.close("") } },
        "Close",
      ),
    ),
  );
  return show(dialog);
}
