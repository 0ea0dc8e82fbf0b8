/** Cards of the tools for memory, skills and past sessions. */
import { type Args, cut, maybeString, shorten } from "../args.ts";
import type { Card } from "./mod.ts";

/** What is kept or taken out, one line for each change. */
function memoryLines(args: Args): string {
  const list = Array.isArray(args.operations) ? args.operations : [args];
  const lines = list.map((item) => {
    const change = (typeof item === "object" && item !== null ? item : {}) as Args;
    const text = maybeString(change, "content") ?? maybeString(change, "old_text") ?? "";
    return shorten(`${maybeString(change, "action") ?? ""} ${text}`, 200);
  });
  return cut(lines.filter((line) => line !== "").join("\n"), 1_200);
}

export const memory: Card = (args) => {
  const target = maybeString(args, "target") ?? "";
  const count = Array.isArray(args.operations) ? args.operations.length : 0;
  const startText = memoryLines(args);
  const action = count > 0 ? `${count} change${count === 1 ? "" : "s"}` : maybeString(args, "action") ?? "";
  return {
    title: ["memory", action].filter(Boolean).join(" ") + (target ? `: ${shorten(target)}` : ""),
    label: count > 0 ? action : shorten(startText),
    kind: "other",
    locations: [],
    startText,
  };
};

export const sessionSearch: Card = (args) => {
  const label = shorten(maybeString(args, "query") ?? maybeString(args, "session_id") ?? "newest");
  return { title: `session search: ${label}`, label, kind: "other", locations: [], startText: "" };
};

export const skillsList: Card = (args) => {
  const label = shorten(maybeString(args, "category") ?? "");
  return {
    title: label ? `skills list: ${label}` : "skills list",
    label,
    kind: "read",
    locations: [],
    startText: "",
  };
};

export const skillView: Card = (args) => {
  const label = shorten(
    [maybeString(args, "name"), maybeString(args, "file_path")].filter(Boolean).join(" "),
  );
  return { title: `skill view (${label})`, label, kind: "read", locations: [], startText: label };
};

export const skillManage: Card = (args) => {
  const [action = "", name = ""] = [maybeString(args, "action") ?? "", maybeString(args, "name") ?? ""];
  const label = shorten(`${action} ${name}`);
  return {
    title: `skill ${shorten(action, 20)}: ${shorten(name)}`,
    label,
    kind: "edit",
    locations: [],
    startText: "",
  };
};
