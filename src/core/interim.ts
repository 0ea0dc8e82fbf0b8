/**
 * Text that comes with tool calls, on surfaces that do not show it (core.md E.4 `display.interim_assistant_messages`).
 * What a text is shows only when the calls come, so there the text of a step is held back until the step ends. It
 * stays in the history either way.
 */
import type { CoreEventBody } from "./events.ts";
import type { Settings } from "./settings.ts";

const KEY = "interim_assistant_messages";
/** The other name of a surface under `display.platforms`. */
const OTHER_NAME: Readonly<Record<string, string>> = { tui: "gateway" };

/** The surface's own setting, then the one for all. */
export function showsInterim({ display, gateway }: Settings, surface: string): boolean {
  for (const name of [surface, OTHER_NAME[surface]]) {
    const own = name === undefined ? undefined : display.platforms?.[name];
    const told = typeof own === "object" && own !== null ? (own as Record<string, unknown>)[KEY] : undefined;
    if (typeof told === "boolean") return told;
  }
  if (surface === "api_server" && gateway.api_server.interim_assistant_messages === false) return false;
  return display.interim_assistant_messages !== false;
}

type Publish = (body: CoreEventBody) => void;

/** Passes on what is no such text; the final one comes in one piece, right before its end. */
export function withoutInterim(publish: Publish): Publish {
  let held = "";
  return (body) => {
    if (body.type === "text.delta") {
      held += body.text;
      return;
    }
    const isEnd = body.type === "text.end";
    if (isEnd || body.type === "tool.start") {
      const text = held;
      held = "";
      if (isEnd && !body.final) return;
      if (isEnd && text !== "") publish({ type: "text.delta", text });
    }
    publish(body);
  };
}
