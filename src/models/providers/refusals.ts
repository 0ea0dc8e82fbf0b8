/**
 * What a refused request teaches (core.md A.11): the reasons that a changed request cures, told by the provider's
 * own words and by what the request holds. Pure; `adapt.ts` changes the request.
 */

/** The ways in which a server takes less than it was given. */
export type Lesson =
  | "image_too_large"
  | "plain_tool_content"
  | "no_thought_replay"
  | "plain_schemas"
  | "no_summaries"
  | "no_effort"
  | "no_fast"
  | "no_long_context";

const IMAGE_SIZE =
  /image[^.]{0,80}(exceed|too large|too big|larger than|maximum)|(exceed|too large)[^.]{0,60}image|image_too_large|image_file_too_large|image dimensions/i;
const TOOL_CONTENT =
  /(tool|function|content|messages?[.[]).{0,120}(must be|should be|expected|only|not supported|not allowed|invalid|does not support).{0,60}|valid string|multimodal|image.{0,60}(not supported|not allowed|unsupported)/i;
const SIGNATURE =
  /signature|thinking[^.]{0,60}(block|cannot be modified|expected)|expected .?(redacted_)?thinking/i;
const ENCRYPTED =
  /encrypted[_ ]?content|item with id .?rs_|reasoning.{0,40}item.{0,80}(not found|without|required|provided)/i;
const GRAMMAR =
  /grammar|(schema|tool)[^.]{0,80}(pattern|format)\b|unsupported.{0,30}(pattern|format)|failed to (parse|convert).{0,40}schema/i;
const SUMMARY = /summar(y|ies)/i;
const EFFORT = /(reasoning|thinking|effort|output_config|\bthink\b)/i;
const FAST = /service[_ ]?tier|fast[- _]?mode|\bspeed\b|\bpriority\b/i;
const NOT_TAKEN =
  /not support|unsupported|unknown|unrecogni[sz]ed|not (a )?(valid|allowed|permitted)|invalid|verif|does not|extra inputs/i;

/** What the request holds that could be the reason. */
export interface Contents {
  readonly hasImages: boolean;
  readonly hasToolImages: boolean;
  readonly hasThoughts: boolean;
  readonly hasPatterns: boolean;
  readonly asksForSummaries: boolean;
  readonly asksForEffort: boolean;
  readonly asksForFast: boolean;
  /** A beta for longer conversations is named. */
  readonly asksForLongContext: boolean;
}

const CURABLE: ReadonlySet<number> = new Set([400, 404, 413, 415, 422, 500]);

/**
 * The request, or the beta that allows its length, belongs to a tier that the account does not have (core.md A.11
 * `long_context_tier`, `oauth_long_context_beta_forbidden`).
 */
export function isLongContextTier(text: string): boolean {
  return /long[- _]?context/i.test(text) &&
    /extra usage|not (yet )?(available|enabled|allowed|permitted|supported)|\brequire[ds]?\b|\bbeta\b|\btier\b/i
      .test(
        text,
      );
}

/** The window of the ordinary tier, in tokens: the limit that the refusal of the longer one means. */
export const ORDINARY_TIER = 200_000;

export function isImageTooLarge(text: string): boolean {
  return IMAGE_SIZE.test(text);
}

/** The lesson of a refusal; `null` when there is none. */
export function lessonOf(status: number, text: string, has: Contents): Lesson | null {
  if (has.asksForLongContext && status >= 400 && status < 500 && isLongContextTier(text)) {
    return "no_long_context";
  }
  if (!CURABLE.has(status)) return null;
  if (has.hasImages && isImageTooLarge(text)) return "image_too_large";
  if (has.hasThoughts && (SIGNATURE.test(text) || ENCRYPTED.test(text))) return "no_thought_replay";
  if (has.hasPatterns && GRAMMAR.test(text)) return "plain_schemas";
  if (has.asksForSummaries && SUMMARY.test(text)) return "no_summaries";
  if (has.asksForEffort && EFFORT.test(text) && NOT_TAKEN.test(text)) return "no_effort";
  if (has.asksForFast && FAST.test(text)) return "no_fast";
  if (has.hasToolImages && TOOL_CONTENT.test(text)) return "plain_tool_content";
  return null;
}

/**
 * The output cap that would fit, out of a refusal that names numbers: what is left of the window less 64 tokens, or
 * the model's own limit. `null` when no number says it.
 */
export function fittingCap(text: string): number | null {
  const plain = text.replace(/(\d)[,_](?=\d{3})/g, "$1");
  const sum = /(\d+)\s*\+\s*(\d+)\s*>\s*(\d+)/.exec(plain);
  if (sum) return room(Number(sum[3]) - Number(sum[1]) - 64);
  const difference = /\d+\s*>\s*(\d+)\s*-\s*(\d+)/.exec(plain);
  if (difference) return room(Number(difference[1]) - Number(difference[2]) - 64);
  const limit =
    /(?:at most|maximum (?:value|allowed|number)[^0-9]{0,60}|less than or equal to|<=|>\s)\s*(\d+)/i.exec(
      plain,
    );
  return limit ? room(Number(limit[1])) : null;
}

/** Too little room is an overflow, not a cap. */
function room(tokens: number): number | null {
  return tokens >= 256 ? tokens : null;
}

/** A window that an overflow error states; guessing is not allowed (core.md F.7). */
export function statedWindow(text: string): number | null {
  const plain = text.replace(/(\d)[,_](?=\d{3})/g, "$1");
  const found = /maximum context (?:length|window|size)(?: of| is|:)?[^0-9]{0,20}(\d+)/i.exec(plain) ??
    /max_model_len[^0-9]{0,20}(\d+)/i.exec(plain) ??
    /\d+ tokens? > (\d+) maximum/i.exec(plain) ??
    /context (?:length|window|size)[^0-9]{0,30}(\d+)/i.exec(plain);
  return found ? Number(found[1]) : null;
}
