/**
 * Masks credentials in text that is shown, logged, stored or sent to a model (core.md C.9).
 *
 *   full      every class: events, logs, errors, approval payloads, tool results
 *   terminal  output of commands: tokens, known values, private keys; source code stays as it is
 *   file      file contents: like terminal plus URL passwords and literal assignments; what is masked becomes
 *             `«redacted:…»`, which can never be written back and taken for a key
 *
 * Every pass is linear in the text: patterns are anchored or bounded, long bodies are found by `indexOf`.
 * Redacting twice gives the same as once.
 */

export type RedactionMode = "full" | "terminal" | "file";

/** Of a known value a stream may show so much before it holds the rest back: it says nothing. */
export const HEAD = 4;

export interface Watch {
  /** Longer than `HEAD`. */
  readonly known: readonly string[];
  /** Finds the first `HEAD` characters of any of them; `null` where there are none. */
  readonly heads: RegExp | null;
}

export type Redact = (text: string, mode: RedactionMode) => string;

/** Left of a token: not inside a word. An escape or a colour code may stand there (`\n`, `ESC[0m`). */
const EDGE = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[nrtbf])|(?<=\[[0-9;]{0,12}m))`;
const BODY = "[A-Za-z0-9_-]";

/** Unmistakable wherever they stand. */
const STRONG = new RegExp(
  [
    `(?:gh[pousr]_|github_pat_|xox[baprs]-|xapp-\\d-|[sr]k_live_|sk_test_|do[op]_v1_|pplx-|retaindb_|bb_live_)${BODY}{10,}`,
    `AIza${BODY}{30,}`,
    `gAAAA[A-Za-z0-9_=-]{20,}`,
    "AKIA[A-Z0-9]{16}",
  ].join("|"),
  "g",
);
/** Only at the start of a word. */
const SK = new RegExp(`${EDGE}sk-${BODY}{10,}`, "g");
const SENDGRID = new RegExp(`${EDGE}SG\\.[A-Za-z0-9_.-]{10,}`, "g");
const LONG = new RegExp(`${EDGE}(?:xai-|fpk_)${BODY}{30,}`, "g");
/** Prefixes that ordinary names have too (`npm_config_cache`): the rest must look made, see `looksMade`. */
const WEAK = new RegExp(
  `${EDGE}(?:fal_|fc-|hf_|r8_|npm_|pypi-|am_|sk_|tvly-|exa_|gsk_|syt_|hsk-|mem0_|brv_|ntn_|fw-|fw_)${BODY}{10,}`,
  "g",
);
const JWT = /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g;
const TELEGRAM = /(?<![A-Za-z0-9])(?:bot)?\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g;

const URL_PASSWORD = /([a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"'<>«]{0,200}:)([^\s/@"'<>«]{1,500})(@)/gi;
const URL_TOKEN = /(https?:\/\/)([A-Za-z0-9_.~-]{12,500})(?::)?(@)/gi;

const AUTH_HEADER =
  /((?:proxy-)?authorization["']?\s{0,4}[:=]\s{0,4}["']?(?:bearer|basic|token|digest|apikey)\s{1,4})([^\s"',;]{4,4000})/gi;
const AUTH_PLAIN =
  /((?:proxy-)?authorization["']?\s{0,4}:\s{0,4}["']?)(?!bearer\s|basic\s|token\s|digest\s|apikey\s)([^\s"',;]{8,4000})/gi;
const BEARER = /(\bbearer\s{1,4})([A-Za-z0-9_.~+/=-]{16,4000})/gi;
const KEY_HEADER = /((?:x-[a-z0-9-]{0,20})?api-key["']?\s{0,4}[:=]\s{0,4}["']?)([^\s"',;]{6,4000})/gi;
const COOKIE = /((?:^|[\s"'{,])(?:set-)?cookie["']?\s{0,4}:\s{0,4}["']?)([^\s"'][^\r\n"']{3,4000})/gim;

/** `…KEY=value`, upper case as in shells and `.env` files. */
const ENV_ASSIGN =
  /((?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|_PAT)["']?\s{0,4}=(?![=~>])\s{0,4})(?:"([^"\n]{1,4000})"|'([^'\n]{1,4000})'|([^\s"'`,;&|<>(){}[\]$]{1,4000}))/g;
const FIELD_WORDS =
  "api[_-]?key|access[_-]?key(?:[_-]?id)?|secret[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|" +
  "[a-z]{0,20}[_-]?token|[a-z]{0,20}[_-]?secret|password|passwd|passphrase|credentials?";
const FIELD_EDGE = "(?<![A-Za-z0-9])";
/** `"api_key": "value"`, also with the quotes escaped inside another JSON text. */
const JSON_FIELD = new RegExp(
  `(\\\\?["'](?:[A-Za-z0-9.]{1,24}[_.-]){0,3}(?:${FIELD_WORDS})\\\\?["']\\s{0,8}:\\s{0,8}\\\\?["'])([^"'\\\\\\n]{4,4000})`,
  "gi",
);
/** `api_key: value` and `model.api_key = value`. */
const PLAIN_FIELD = new RegExp(
  `(${FIELD_EDGE}(?:[A-Za-z0-9]{1,24}[_.-]){0,3}(?:${FIELD_WORDS})\\s{0,4}[:=]\\s{0,4})(?:"([^"\\n]{4,4000})"|'([^'\\n]{4,4000})'|([^\\s"'\`,;&|<>(){}[\\]$]{6,4000}))`,
  "gi",
);
const FORM_FIELD = new RegExp(
  `([?&](?:[A-Za-z0-9]{1,24}_)?(?:${FIELD_WORDS}|key)=)([^&\\s"'<>]{4,4000})`,
  "gi",
);
const FORM_START = new RegExp(`^((?:${FIELD_WORDS})=)([^&\\s"'<>]{4,4000})(?=&|$)`, "gi");
/** Numbers that follow each other without a gap are one find, so that the second is not left for another pass. */
const PHONE = /(?<=[^\n\w+.\/-])(?:\+[1-9]\d{9,14})+(?![\w])/g;

/** Cheap tests, one scan each; a text that passes none of them is returned as it came. */
export const TOKEN_HINT =
  /gh[pousr]_|github_pat_|xox[baprs]-|xapp-|k_live_|k_test_|do[op]_v1_|pplx-|retaindb_|b_live_|AIza|gAAAA|AKIA|sk-|SG\.|xai-|fpk_|fal_|fc-|hf_|r8_|npm_|pypi-|am_|sk_|tvly-|exa_|gsk_|syt_|hsk-|mem0_|brv_|ntn_|fw[-_]|eyJ|PRIVATE KEY|\d:[A-Za-z0-9_-]{30}/;
const FIELD_HINT =
  /key|token|secret|passw|passphrase|credential|authorization|bearer|cookie|_PAT|:\/\/[^\s\/]{0,700}@|\+[1-9]\d{9}/i;

const MASKED = /^(?:\*{3,}|.{6}\.\.\..{4}|.{0,40}«redacted.*)$/s;
const PLACEHOLDER =
  /^(?:<.*>|\$.*|%.*%|\{.*\}|your[-_ ].*|x{3,}|\*+|\.{3,}|…|null|none|nil|true|false|undefined|string|number|boolean|str|required|optional|changeme|example|placeholder|redacted|.*(?:process\.env|os\.environ|getenv|import\.meta|config\.|self\.|this\.).*)$/i;

function looksMade(token: string): boolean {
  const body = token.slice(token.search(/[_-]/) + 1);
  return /[0-9A-Z]/.test(body) || !/[_-]/.test(body);
}

/** A literal that was drawn, not written: long, and letters mixed with digits. */
function looksDrawn(value: string): boolean {
  return value.length >= 16 && /\d/.test(value) && /[A-Za-z]/.test(value) &&
    /^[A-Za-z0-9_+/=.~:-]+$/.test(value);
}

/** The public part of a token's form; empty when it has none. */
function prefixOf(token: string): string {
  const found =
    /^(?:AIza|AKIA|gAAAA|eyJ|SG\.|github_pat_|gh[pousr]_|xox[baprs]-|xapp-|[sr]k_live_|sk_test_|do[op]_v1_|[a-z0-9]{2,8}[_-])/
      .exec(token);
  return found?.[0] ?? "";
}

function display(value: string): string {
  return value.length < 18 ? "***" : `${value.slice(0, 6)}...${value.slice(-4)}`;
}

type Mask = (value: string, kind: string) => string;

const SHOW: Mask = (value) => display(value);
const SEAL: Mask = (value, kind) => `«redacted:${(kind === "token" && prefixOf(value)) || kind}…»`;

function hide(value: string, kind: string, mask: Mask): string {
  return MASKED.test(value) ? value : mask(value, kind);
}

function maskTokens(text: string, mask: Mask): string {
  return text
    .replace(STRONG, (token) => hide(token, "token", mask))
    .replace(SK, (token) => hide(token, "token", mask))
    .replace(SENDGRID, (token) => hide(token, "token", mask))
    .replace(LONG, (token) => hide(token, "token", mask))
    .replace(WEAK, (token) => looksMade(token) ? hide(token, "token", mask) : token)
    .replace(JWT, (token) => hide(token, "jwt", mask))
    .replace(TELEGRAM, (token) => hide(token, "bot", mask));
}

/** Private keys in PEM form; one that is cut off is masked to the end of the text. */
function maskPem(text: string): string {
  if (!text.includes("PRIVATE KEY-----")) return text;
  const begin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----/g;
  let out = "";
  let kept = 0;
  for (let found = begin.exec(text); found; found = begin.exec(text)) {
    const body = found.index + found[0].length;
    const end = text.indexOf("-----END", body);
    const stop = end === -1 ? text.length : end;
    out += `${text.slice(kept, body)}\n«redacted:private key»\n`;
    kept = stop;
    begin.lastIndex = stop;
  }
  return out + text.slice(kept);
}

function maskUrls(text: string, mask: Mask): string {
  if (!text.includes("://")) return text;
  return text
    .replace(
      URL_PASSWORD,
      (whole, head: string, value: string, at: string) =>
        PLACEHOLDER.test(value)
          ? whole
          : head + hide(value, "password", mask === SHOW ? () => "***" : mask) + at,
    )
    .replace(
      URL_TOKEN,
      (_, head: string, value: string, at: string) => head + hide(value, "token", mask) + at,
    );
}

interface AssignRule {
  readonly mask: Mask;
  readonly accepts: (value: string, quoted: boolean) => boolean;
}

/** Puts the masked value back between its quotes. Groups: head, double-quoted, single-quoted, bare. */
function assigner(rule: AssignRule) {
  return (whole: string, head: string, double?: string, single?: string, bare?: string): string => {
    const value = double ?? single ?? bare ?? "";
    if (PLACEHOLDER.test(value) || !rule.accepts(value, bare === undefined)) return whole;
    const quote = double !== undefined ? '"' : single !== undefined ? "'" : "";
    return head + quote + hide(value, "value", rule.mask) + quote;
  };
}

function maskHeaders(text: string, mask: Mask): string {
  const whole = (_: string, head: string, value: string) =>
    PLACEHOLDER.test(value) ? head + value : head + hide(value, "header", mask);
  return text
    .replace(AUTH_HEADER, whole)
    .replace(AUTH_PLAIN, whole)
    .replace(BEARER, whole)
    .replace(KEY_HEADER, whole)
    .replace(COOKIE, (_, head: string, value: string) => head + hide(value, "cookie", () => "***"));
}

function maskFields(text: string): string {
  const plain = (_: string, head: string, value: string) =>
    PLACEHOLDER.test(value) ? head + value : head + hide(value, "value", SHOW);
  return text
    .replace(ENV_ASSIGN, assigner({ mask: SHOW, accepts: () => true }))
    .replace(JSON_FIELD, plain)
    .replace(
      PLAIN_FIELD,
      assigner({ mask: SHOW, accepts: (value, quoted) => quoted || looksLikeSecret(value) }),
    )
    .replace(FORM_FIELD, plain)
    .replace(FORM_START, plain);
}

/** A bare value after `token:` in prose or code: a word is left alone, a mixture is not. */
function looksLikeSecret(value: string): boolean {
  return value.length >= 8 && /\d/.test(value) && /[A-Za-z!@#%^*]/.test(value);
}

function maskKnown(text: string, known: readonly string[], mask: Mask): string {
  let out = text;
  for (const value of known) {
    if (out.includes(value)) out = out.replaceAll(value, mask(value, "configured"));
  }
  return out;
}

/** Each secret as it stands, and as JSON and URLs would spell it; longest first. */
function spellings(values: readonly string[]): readonly string[] {
  const all = new Set<string>();
  for (const value of values) {
    all.add(value);
    all.add(JSON.stringify(value).slice(1, -1));
    if (value.isWellFormed()) all.add(encodeURIComponent(value));
  }
  return [...all].sort((a, b) => b.length - a.length);
}

function redactFull(text: string): string {
  let out = text;
  if (TOKEN_HINT.test(out)) out = maskPem(maskTokens(out, SHOW));
  if (!FIELD_HINT.test(out)) return out;
  return maskFields(maskHeaders(maskUrls(out, SHOW), SHOW)).replace(PHONE, (number) => display(number));
}

function redactFile(text: string): string {
  let out = text;
  if (TOKEN_HINT.test(out)) out = maskPem(maskTokens(out, SEAL));
  if (!FIELD_HINT.test(out)) return out;
  const drawn = assigner({ mask: SEAL, accepts: looksDrawn });
  return maskUrls(out, SEAL).replace(ENV_ASSIGN, drawn).replace(PLAIN_FIELD, drawn).replace(
    JSON_FIELD,
    (whole: string, head: string, value: string) =>
      looksDrawn(value) ? head + hide(value, "value", SEAL) : whole,
  );
}

/** Five `NAME=value` lines in a row: what `env`, `export -p` and the like print. */
const ENV_DUMP = /(?:^|\n)(?:(?:declare -x |export )?[A-Za-z_]\w{0,80}=[^\n]{0,4000}\n){5}/;

function redactTerminal(text: string): string {
  const out = TOKEN_HINT.test(text) ? maskPem(maskTokens(text, SHOW)) : text;
  return FIELD_HINT.test(out) && ENV_DUMP.test(out) ? maskFields(maskUrls(out, SHOW)) : out;
}

/** What is made of a list, once for each list: the same array gives the same thing again. */
function keptFor<T>(list: () => readonly string[], make: (values: readonly string[]) => T): () => T {
  let source: readonly string[] | null = null;
  let made: T;
  return () => {
    const values = list();
    if (values !== source) [source, made] = [values, make(values)];
    return made;
  };
}

/** What streams look for (`stream_redact.ts`): every spelling of the known values, and how each begins. */
export function createWatch(knownSecrets: () => readonly string[]): () => Watch {
  return keptFor(knownSecrets, (values) => {
    const known = spellings(values).filter((value) => value.length > HEAD);
    const heads = new Set(known.map((value) => RegExp.escape(value.slice(0, HEAD))));
    return { known, heads: heads.size === 0 ? null : new RegExp([...heads].join("|")) };
  });
}

/**
 * Makes the redactor. `knownSecrets` is asked on every call and must be cheap: the same array for the same values.
 * With `enabled: false` texts pass unchanged.
 */
export function createRedactor(
  options: { knownSecrets: () => readonly string[]; enabled: boolean },
): Redact {
  const known = keptFor(options.knownSecrets, spellings);
  return (text, mode) => {
    if (!options.enabled || text.length < 8) return text;
    const out = maskKnown(text, known(), mode === "file" ? SEAL : SHOW);
    switch (mode) {
      case "full":
        return redactFull(out);
      case "terminal":
        return redactTerminal(out);
      case "file":
        return redactFile(out);
    }
  };
}
