/**
 * Does a client's own history continue what a stored session holds (api-server.md D2, FC-09)? Compared are the
 * texts of user and assistant in order, white space aside. A client may keep of a turn with tools either its last
 * text or all of them joined, as it read the plain answer or the stream; of a turn that it stopped it may have read
 * less than was stored.
 */
import { type Content, isUserTurn, type Message, textOf } from "@/core/contract.ts";

interface Exchange {
  readonly user: string;
  readonly answers: string[];
  /** The turn was interrupted while it spoke. */
  interrupted: boolean;
}

/** `part`: a stopped answer in it is known by its beginning alone, which may fit others, too. */
export type Fit = "whole" | "part" | "none";

export function fitOf(stored: readonly Message[], claimed: readonly Message[]): Fit {
  const ours = exchanges(stored);
  const theirs = exchanges(claimed);
  if (ours.length !== theirs.length) return "none";
  const fits = ours.map((exchange, i) => compare(exchange, theirs[i]!));
  return fits.find((fit) => fit === "none") ?? fits.find((fit) => fit === "part") ?? "whole";
}

/** True when nobody has said anything yet. */
export function isUntouched(messages: readonly Message[]): boolean {
  return exchanges(messages).length === 0;
}

function compare(ours: Exchange, theirs: Exchange): Fit {
  if (ours.user !== theirs.user) return "none";
  const claimed = theirs.answers.join(" ");
  const whole = ours.answers.join(" ");
  if (claimed === whole || claimed === (ours.answers.at(-1) ?? "")) return "whole";
  return ours.interrupted && claimed !== "" && whole.startsWith(claimed) ? "part" : "none";
}

function exchanges(messages: readonly Message[]): Exchange[] {
  const list: Exchange[] = [];
  for (const message of messages) {
    if (message.role === "user") {
      if (isUserTurn(message)) list.push(exchange(plain(message.content)));
    } else if (message.role === "assistant" && message.displayKind === undefined) {
      const text = plain(message.content ?? "");
      if (text === "") continue;
      // An assistant that speaks first (a greeting) answers nobody.
      if (list.length === 0) list.push(exchange(""));
      const last = list.at(-1)!;
      last.answers.push(text);
      last.interrupted = message.finishReason === "interrupted";
    }
  }
  return list;
}

function exchange(user: string): Exchange {
  return { user, answers: [], interrupted: false };
}

function plain(content: Content): string {
  const images = typeof content === "string" ? 0 : content.filter((part) => part.type === "image_url").length;
  return "[image] ".repeat(images) + textOf(content).replace(/\s+/g, " ").trim();
}
