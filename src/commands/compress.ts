/**
 * `/compress` and `/compact` (core.md H.2, A.16): what the user may ask of a compression, read in one place for every
 * surface, and how it is told. Nothing is compressed on words that could not be read.
 */
import type {
  CompactionPreview,
  CompactionReport,
  CompactOptions,
  CompressionWish,
} from "@/core/contract.ts";
import { HermesError } from "@/core/contract.ts";
import { type Command, grouped, hostOf, text } from "./command.ts";

const PREVIEW = "--preview";
const POSSIBLE = "use a topic, here, here 3 (keeps your last 3 turns) or --preview (shows what would happen)";

/**
 * `here` keeps the last turn, `here N` the last N; all other words are the topic. `--preview` goes with both. Throws
 * `invalid_argument` on another option and on a `here` that no number follows.
 */
export function parseCompression(args: string): CompressionWish {
  const words = args.trim().split(/\s+/);
  const options = words.filter(isOption).map((word) => word.replace(/^[–—―]/, "--"));
  const unknown = options.find((option) => option.toLowerCase() !== PREVIEW);
  if (unknown !== undefined) throw refused(`/compress has no option ${unknown}`);
  const preview = options.length > 0;
  const rest = preview ? words.filter((word, n) => !isOption(word, n)) : words;
  if (rest[0]?.toLowerCase() === "here") return { preview, keepTurns: countOf(rest.slice(1)) };
  const focus = preview ? rest.join(" ") : args.trim();
  return focus === "" ? { preview } : { preview, focus };
}

/** Also with the one long dash that an editor makes of two; a single one counts in the first word only. */
function isOption(word: string, n: number): boolean {
  return /^(?:--|[–—―][a-z])/i.test(word) || (n === 0 && /^-[a-z]/i.test(word));
}

function countOf(words: readonly string[]): number {
  const count = words.join(" ") || "1";
  if (/^[1-9]\d{0,5}$/.test(count)) return Number(count);
  throw refused(`"${count}" is no number of turns`);
}

function refused(what: string): HermesError {
  return new HermesError("invalid_argument", `${what}: ${POSSIBLE}`);
}

export function compactOptions({ focus, keepTurns }: CompressionWish, signal?: AbortSignal): CompactOptions {
  return {
    ...(focus === undefined ? {} : { focus }),
    ...(keepTurns === undefined ? {} : { keepTurns }),
    ...(signal ? { signal } : {}),
  };
}

/** One line on what was wished for; `null` when that was nothing. */
export function describeWish({ focus, keepTurns }: CompressionWish): string | null {
  if (focus !== undefined) return `Focus: ${focus}`;
  if (keepTurns === undefined) return null;
  return keepTurns === 1 ? "Kept: your last turn" : `Kept: your last ${keepTurns} turns`;
}

export function describePlan({ kept, summarised }: CompactionPreview): string {
  const first = kept.first === 0 ? "" : `the first ${kept.first} and `;
  return `Summarised: ${counted(summarised.messages)}, about ${grouped(summarised.tokens)} tokens. ` +
    `Kept word for word: ${first}the last ${counted(kept.last)}.`;
}

function counted(messages: number): string {
  return messages === 1 ? "1 message" : `${messages} messages`;
}

export const compact: Command = {
  name: "compact",
  aliases: ["compress"],
  description: "Summarise the older part of the conversation now",
  argsHint: "[here [N] | topic | --preview]",
  firstWords: ["here", PREVIEW],
  category: "Session",
  surfaces: ["acp", "cli"],
  needsIdle: true,
  run: async (args, { session, signal }) => {
    const wish = parseCompression(args);
    const options = compactOptions(wish, signal);
    if (!wish.preview) return text(numbers("Compressed", await session.compact(options), describeWish(wish)));
    const preview = await session.previewCompaction(options);
    const lines = preview && [describePlan(preview), describeWish(wish)].filter((line) => line !== null);
    return text(numbers("Preview, nothing was changed", preview, lines?.join("\n") ?? null));
  },
};

function numbers(what: string, report: CompactionReport | null, note: string | null): string {
  if (!report) return "There is too little to compress.";
  const { before, after } = report;
  const line =
    `${what}: ${before.messages} → ${after.messages} messages, about ${grouped(before.tokens)} → ` +
    `${grouped(after.tokens)} tokens.`;
  return note === null ? line : `${line}\n${note}`;
}

export const compress: Command = {
  ...compact,
  name: "compress",
  aliases: ["compact"],
  surfaces: ["gateway"],
  run: async (args, context) => text(await hostOf(context).compress(parseCompression(args))),
};
