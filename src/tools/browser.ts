/**
 * The `browser_*` tools (core.md B.2), for a browser that a door reaches: what the model may ask for, how a call is
 * shown, and what it reads back. Each call is alone in its segment and final: what a browser has done or refused is
 * never tried in another way. Everything that comes back is a stranger's words. Loaded with the first browser.
 */
import type { BrowserDriver, JsonSchema, Tool, ToolContext, ToolKind, ToolOutcome } from "@/core/contract.ts";
import { wrapUntrusted } from "@/lib/untrusted.ts";
import { type Args, cut, maybeString, readText, shorten, ToolError } from "./args.ts";
import { outcomeOf, pictureOf } from "./browser_results.ts";
import { checkAddress } from "./browser_rules.ts";
import { fail, settle } from "./result.ts";

interface Action {
  readonly name: string;
  readonly about: string;
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
  readonly kind: ToolKind;
  /** The word before the main argument, and which argument that is. */
  readonly shown: readonly [word: string, argument: string | null];
  /** The result is a picture. */
  readonly picture?: true;
}

const REF: JsonSchema = { type: "string", description: "Of an element, from browser_snapshot: e3" };

const ACTIONS: readonly Action[] = [
  {
    name: "browser_navigate",
    about: "Opens an address in the active tab of the user's browser.",
    properties: { url: { type: "string", description: "http or https" } },
    required: ["url"],
    kind: "fetch",
    shown: ["navigate", "url"],
  },
  {
    name: "browser_back",
    about: "Goes back one page.",
    properties: {},
    required: [],
    kind: "execute",
    shown: ["back", null],
  },
  {
    name: "browser_snapshot",
    about: "Reads the page as text: headings, texts, and everything that can be used, each with a ref. " +
      "Refs hold until the page changes.",
    properties: {},
    required: [],
    kind: "read",
    shown: ["read page", null],
  },
  {
    name: "browser_click",
    about: "Clicks an element.",
    properties: { ref: REF },
    required: ["ref"],
    kind: "execute",
    shown: ["click", "ref"],
  },
  {
    name: "browser_type",
    about: "Replaces what is in a field; in a list it chooses the entry of that text.",
    properties: {
      ref: REF,
      text: { type: "string" },
      submit: { type: "boolean", default: false, description: "Press Enter afterwards" },
    },
    required: ["ref", "text"],
    kind: "execute",
    shown: ["type", "text"],
  },
  {
    name: "browser_press",
    about: "Presses a key, or several together: Enter, Escape, Tab, ArrowDown, Control+A.",
    properties: { key: { type: "string" } },
    required: ["key"],
    kind: "execute",
    shown: ["press", "key"],
  },
  {
    name: "browser_scroll",
    about: "Scrolls the page.",
    properties: {
      direction: { type: "string", enum: ["up", "down", "left", "right"] },
      amount: { type: "integer", minimum: 1, description: "Pixels; most of a screen without it" },
    },
    required: ["direction"],
    kind: "execute",
    shown: ["scroll", "direction"],
  },
  {
    name: "browser_screenshot",
    about: "Takes a picture of what is visible.",
    properties: {
      full_page: { type: "boolean", default: false },
      question: { type: "string", description: "What you want to know of the picture" },
    },
    required: [],
    kind: "read",
    shown: ["look at page", "question"],
    picture: true,
  },
  {
    name: "browser_tabs",
    about: "Lists the open tabs with their ids.",
    properties: {},
    required: [],
    kind: "read",
    shown: ["tabs", null],
  },
  {
    name: "browser_tab_activate",
    about: "Makes a tab the active one.",
    properties: { tab_id: { type: "integer", description: "From browser_tabs" } },
    required: ["tab_id"],
    kind: "execute",
    shown: ["tab", "tab_id"],
  },
  {
    name: "browser_evaluate",
    about: "Runs a JavaScript expression in the page and gives its value.",
    properties: { expression: { type: "string" } },
    required: ["expression"],
    kind: "execute",
    shown: ["evaluate", "expression"],
  },
  {
    name: "browser_cdp",
    about: "Sends one command of the Chrome DevTools Protocol to the active tab.",
    properties: {
      method: { type: "string", description: "Domain.command" },
      params: { type: "object", description: "As the protocol wants them" },
    },
    required: ["method"],
    kind: "execute",
    shown: ["cdp", "method"],
  },
];

const START_CHARS = 1_200;

/** One tool for each action that the browser takes. */
export function createBrowserTools(driver: BrowserDriver): readonly Tool[] {
  return ACTIONS.filter(({ name }) => driver.actions.includes(name)).map((action) => toolOf(action, driver));
}

function toolOf(action: Action, driver: BrowserDriver): Tool {
  const { name, about, properties, required, kind, picture } = action;
  return {
    name,
    toolset: "browser",
    description: about,
    parameters: { type: "object", properties, required },
    parallel: "never",
    ...(picture ? { available: ({ images }: { images?: boolean }) => images === true } : {}),
    describe(args) {
      const [word, argument] = action.shown;
      const label = argument === null ? "" : shorten(maybeString(args, argument) ?? "");
      const startText = kind === "execute" ? cut(JSON.stringify(args), START_CHARS) : "";
      return { title: label === "" ? word : `${word}: ${label}`, label, kind, locations: [], startText };
    },
    execute: (args, context) => settle(() => perform(action, args, { driver, context })),
  };
}

interface Scene {
  readonly driver: BrowserDriver;
  readonly context: ToolContext;
}

async function perform(action: Action, args: Args, { driver, context }: Scene): Promise<ToolOutcome> {
  const { name } = action;
  const checked = checkArguments(action, args);
  if (name === "browser_navigate") await checkAddress(readText(args, "url"), driver.isLocal, context);
  const { callId, signal } = context;
  const outcome = await driver.run(name, checked, { callId, signal });
  if (!outcome.ok) {
    const { content, isError } = fail(
      outcome.error,
      outcome.code === undefined ? {} : { code: outcome.code },
    );
    const text = outcome.fromBrowser ? wrapUntrusted(name, content as string) : content;
    return { content: text, isError, effect: outcome.mayHaveRun ? "unknown" : "none" };
  }
  return action.picture
    ? await pictureOf(name, outcome.result, { question: maybeString(args, "question"), context })
    : outcomeOf(name, outcome.result);
}

/** What the schema knows, with everything needed in it: a browser gets no call that cannot be meant. */
function checkArguments({ properties, required }: Action, args: Args): Args {
  for (const name of required) {
    const value = args[name];
    if (value === undefined || value === null) throw new ToolError(`Missing required argument '${name}'`);
    const { type, enum: choices } = properties[name]!;
    const actual: string = typeof value;
    const isRight = type === "integer" ? Number.isInteger(value) : actual === type;
    if (!isRight) throw new ToolError(`Argument '${name}' must be of type ${type}`);
    if (choices && !choices.includes(value)) {
      throw new ToolError(`Argument '${name}' must be one of ${choices.join(", ")}`);
    }
  }
  return Object.fromEntries(Object.entries(args).filter(([name]) => Object.hasOwn(properties, name)));
}
