/**
 * Looks for text that tries to give a model orders (core.md C.10): in project files before they enter the prompt, in
 * memories before they are written. It names what it found and judges nothing. Every pattern has bounded gaps, so a
 * scan takes time in proportion to the text, whatever the text is.
 */

/** Each scope includes the ones before it: `all` ⊂ `context` ⊂ `strict`. */
export type ScanScope = "all" | "context" | "strict";

/** Characters of a text that are looked at. */
export const SCAN_LIMIT = 65_536;

/**
 * `words`: a text with none of them cannot match, and the pattern is not even compiled for it. `source` is matched
 * against lower case: the flag `i` would make each pattern ten times as slow to compile.
 */
type Pattern = readonly [id: string, words: readonly string[], source: string];

/** Up to eight words of any kind between two key words. */
const GAP = "(?:[^\\s.!?]{1,40}\\s{1,8}){0,8}?";
/** A stretch of one line. */
const LINE = "[^\\n]{0,200}?";
const SECRET_NAME = "\\$\\{?\\w{0,40}(?:key|token|secret|password|credential|api)";
const AGENT_FILES = "(?:agents\\.md|claude\\.md|\\.cursorrules|\\.clinerules|\\.hermes\\.md)";
const CHANGE =
  "\\b(?:update|modify|edit|write|change|append|add)\\b(?:\\s{1,8}[^\\s.!?]{1,40}){0,8}?\\s{1,8}[^\\s]{0,40}";

const ALL: readonly Pattern[] = [
  [
    "prompt_injection",
    ["ignore"],
    `\\bignore\\s{1,8}${GAP}(?:previous|prior|all|above|earlier|preceding)\\s{1,8}${GAP}` +
    `(?:instruction|prompt|direction|rule|guideline|message)s?\\b`,
  ],
  ["sys_prompt_override", ["override"], "\\bsystem\\s{1,8}prompt\\s{1,8}override\\b"],
  [
    "disregard_rules",
    ["disregard"],
    `\\bdisregard\\s{1,8}${GAP}(?:your|all|any|the|previous)\\s{1,8}${GAP}(?:instruction|rule|guideline|polic)`,
  ],
  [
    "bypass_restrictions",
    ["act"],
    `\\bact\\s{1,8}as\\s{1,8}(?:if|though)\\s{1,8}${GAP}you\\s{1,8}${GAP}(?:have\\s{1,8}no|do\\s{1,8}not\\s{1,8}have|` +
    `don['’]t\\s{1,8}have)\\s{1,8}${GAP}(?:restriction|limit|rule|filter)`,
  ],
  [
    "html_comment_injection",
    ["<!--"],
    "<!--[^>]{0,500}?(?<![\\w-])(?:ignore|override|disregard|system\\s{1,8}prompt|secret|hidden)(?![\\w-])[^>]{0,500}?-->",
  ],
  ["hidden_div", ["display"], "<\\s{0,8}div\\b[^>]{0,300}?display\\s{0,8}:\\s{0,8}none"],
  [
    "translate_execute",
    ["translate"],
    `\\btranslate\\s${LINE}\\sinto\\s${LINE}\\band\\s{1,8}(?:then\\s{1,8})?(?:execute|run|eval)`,
  ],
  [
    "deception_hide",
    ["tell", "inform", "notify", "alert"],
    `\\b(?:do\\s{1,8}not|don['’]t|never)\\s{1,8}${GAP}(?:tell|inform|notify|alert)\\s{1,8}${GAP}the\\s{1,8}user\\b`,
  ],
  ["exfil_curl", ["curl"], `\\bcurl\\s${LINE}${SECRET_NAME}`],
  ["exfil_wget", ["wget"], `\\bwget\\s${LINE}${SECRET_NAME}`],
  [
    "read_secrets",
    ["cat"],
    `\\bcat\\s${LINE}(?:\\.env\\b|\\bcredentials\\b|\\.netrc\\b|\\.pgpass\\b|\\.npmrc\\b|\\.pypirc\\b)`,
  ],
];

const CONTEXT: readonly Pattern[] = [
  [
    "role_hijack",
    ["you"],
    "\\byou\\s{1,8}are\\s{1,8}(?:[^\\s.!?]{1,40}\\s{1,8}){0,2}?now\\s{1,8}" +
    "(?:an?|the|my|in|no\\s{1,8}longer|acting|playing|called|named|unrestricted|free|dan)\\b",
  ],
  [
    "role_pretend",
    ["pretend"],
    `\\bpretend\\s{1,8}${GAP}(?:you\\s{1,8}are|you['’]re|to\\s{1,8}be)\\s`,
  ],
  [
    "leak_system_prompt",
    ["prompt"],
    `\\b(?:output|print|reveal|repeat|show|leak)\\s{1,8}${GAP}(?:system|initial|hidden)\\s{1,8}prompt\\b`,
  ],
  [
    "remove_filters",
    ["without"],
    `\\b(?:respond|answer|reply)\\s{1,8}without\\s{1,8}${GAP}(?:restriction|limitation|filter|safety|censor)`,
  ],
  [
    "fake_update",
    ["have"],
    `\\byou\\s{1,8}have\\s{1,8}been\\s{1,8}${GAP}(?:updated|upgraded|patched|reprogrammed)\\s{1,8}to\\b`,
  ],
  [
    "identity_override",
    ["yourself", "name"],
    `\\b(?:name|call)\\s{1,8}yourself\\s{1,8}\\w|\\byour\\s{1,8}(?:new|real|true)\\s{1,8}name\\s{1,8}is\\b`,
  ],
  [
    "c2_node_registration",
    ["register"],
    `\\bregister\\s{1,8}${GAP}(?:as\\s{1,8})(?:an?\\s{1,8})?(?:new\\s{1,8})?node\\b`,
  ],
  [
    "c2_heartbeat",
    ["heartbeat", "beacon", "check"],
    `\\b(?:send|start|keep)\\s{1,8}${GAP}(?:heartbeat|beacon|check[ -]?in)s?\\s{1,8}(?:to|with)\\s`,
  ],
  [
    "c2_task_pull",
    ["task"],
    `\\b(?:pull|poll|fetch)\\s{1,8}${GAP}(?:new\\s{1,8}tasks?|tasking)\\s{1,8}from\\b`,
  ],
  [
    "c2_network_connect",
    ["connect"],
    "\\bconnect\\s{1,8}to\\s{1,8}the\\s{1,8}(?:\\w{1,20}\\s{1,8})?network\\b",
  ],
  [
    "forced_action",
    ["must"],
    `\\byou\\s{1,8}must\\s{1,8}(?:[^\\s.!?]{1,40}\\s{1,8}){0,3}?(?:register|connect|report\\s{1,8}back|beacon)\\b`,
  ],
  [
    "anti_forensic_oneliner",
    ["only"],
    "\\bonly\\s{1,8}use\\s{1,8}(?:one|single)[ -]?(?:line\\s{1,8}command|liner)s?\\b",
  ],
  [
    "anti_forensic_disk",
    ["disk"],
    `\\bnever\\s{1,8}${GAP}(?:create|write|save|leave)\\s{1,8}${GAP}(?:to|on)\\s{1,8}(?:the\\s{1,8})?disk\\b`,
  ],
  [
    "env_var_unset_agent",
    ["unset"],
    "\\bunset\\s{1,8}\\w{0,40}(?:claude|codex|hermes|agent|openai|anthropic)\\w{0,40}",
  ],
  [
    "known_c2_framework",
    [
      "cobalt",
      "brute",
      "meterpreter",
      "metasploit",
      "brainworm",
      "sliver",
      "havoc",
      "mythic",
      "merlin",
      "covenant",
    ],
    "\\b(?:cobalt\\s{0,4}strike|brute\\s{0,4}ratel|meterpreter|metasploit|brainworm|" +
    "(?:sliver|havoc|mythic|merlin|covenant)\\s{1,4}(?:c2|implant|beacon|agent|framework|server))\\b",
  ],
  [
    "c2_explicit",
    ["c2"],
    "\\bc2\\s{1,8}(?:server|channel|infrastructure|beacon|node|operator)s?\\b",
  ],
  ["c2_explicit_long", ["control"], "\\bcommand[ -]and[ -]control\\b"],
];

const STRICT: readonly Pattern[] = [
  [
    "send_to_url",
    ["http"],
    `\\b(?:send|post|upload|transmit)\\s${LINE}\\s(?:to|at)\\s{1,8}https?://`,
  ],
  [
    "context_exfil",
    ["conversation", "history", "messages", "context"],
    `\\b(?:include|output|print|share|send)\\s{1,8}${GAP}` +
    `(?:conversation|chat\\s{1,8}history|previous\\s{1,8}messages|(?:full|entire|whole)\\s{1,8}context)\\b`,
  ],
  ["ssh_backdoor", ["authorized_keys"], "\\bauthorized_keys\\b"],
  ["ssh_access", ["/.ssh"], "(?:\\$\\{?home\\}?|~)/\\.ssh\\b"],
  [
    "hermes_env",
    ["/.env"],
    "(?:\\$\\{?home\\}?/\\.hermes|~/\\.hermes|\\$\\{?hermes_home\\}?)/\\.env\\b",
  ],
  ["agent_config_mod", [".md", "rules"], `${CHANGE}${AGENT_FILES}`],
  [
    "hermes_config_mod",
    ["config", "soul"],
    `${CHANGE}(?:\\.hermes/config\\.(?:jsonc?|yaml)|soul\\.md)\\b`,
  ],
  [
    "hardcoded_secret",
    ["key", "token", "secret", "password"],
    "\\b(?:api[_-]?key|token|secret|password)\\s{0,8}[=:]\\s{0,8}[\"'][a-z0-9+/=_-]{20,}",
  ],
];

const SCOPES: Readonly<Record<ScanScope, readonly (readonly Pattern[])[]>> = {
  all: [ALL],
  context: [ALL, CONTEXT],
  strict: [ALL, CONTEXT, STRICT],
};

/** What joins the parts of one emoji hides nothing. The pattern is made where there is something to join. */
function withoutEmojiJoiners(text: string): string {
  return text.replace(
    /(?<=[\p{Extended_Pictographic}\u{1F3FB}-\u{1F3FF}\uFE0F])\u200D(?=\p{Extended_Pictographic})/gu,
    "",
  );
}

const INVISIBLE = /[\u200B-\u200D\u2060\u2062-\u2064\uFEFF\u202A-\u202E\u2066-\u2069]/g;

/** Ids of what was found, each once, in the order of the table; empty when the text is clean. */
export function scanForInjection(text: string, scope: ScanScope): string[] {
  const cut = text.length > SCAN_LIMIT ? text.slice(0, SCAN_LIMIT) : text;
  const head = cut.includes("\u200D") ? withoutEmojiJoiners(cut) : cut;
  const found: string[] = [];
  for (const char of new Set(head.match(INVISIBLE) ?? [])) {
    found.push(`invisible_unicode_U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`);
  }
  // Invisible characters between letters must not hide a word from the patterns.
  const plain = found.length > 0 ? head.replace(INVISIBLE, "") : head;
  const normal = plain.normalize("NFKC").slice(0, 2 * SCAN_LIMIT).toLowerCase();
  for (const patterns of SCOPES[scope]) {
    for (const [id, words, source] of patterns) {
      if (words.some((word) => normal.includes(word)) && new RegExp(source).test(normal)) found.push(id);
    }
  }
  return found;
}

/** Every id the patterns can give, for documentation and tests. */
export function scanIds(scope: ScanScope): readonly string[] {
  return SCOPES[scope].flatMap((patterns) => patterns.map(([id]) => id));
}
