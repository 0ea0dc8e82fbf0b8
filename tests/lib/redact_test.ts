/** Every class of credential in every mode, what must stay readable, and that no input makes it slow. */
import { createRedactor, type RedactionMode } from "@/lib/redact.ts";
import { assert, assertEquals, assertWithin } from "../support/assert.ts";

const KNOWN = ["zz-UNIQUE-0123456789abcdef", 'pa"ss/word99'];
const redact = createRedactor({ knownSecrets: () => KNOWN, enabled: true });
const MODES: readonly RedactionMode[] = ["full", "terminal", "file"];

/** Text, then what each mode makes of it; `null` = left as it is. */
type Row = readonly [text: string, full: string | null, terminal: string | null, file: string | null];

const ROWS: readonly Row[] = [
  ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_ab...6789", "ghp_ab...6789", "«redacted:ghp_…»"],
  ["sk-abcdefghij", "***", "***", "«redacted:sk-…»"],
  ["sk-abcdefghijklmnopqrst", "sk-abc...qrst", "sk-abc...qrst", "«redacted:sk-…»"],
  ["x zz-UNIQUE-0123456789abcdef y", "x zz-UNI...cdef y", "x zz-UNI...cdef y", "x «redacted:configured…» y"],
  ['pa\\"ss/word99 pa%22ss%2Fword99', "*** ***", "*** ***", "«redacted:configured…» «redacted:configured…»"],
  [
    '{"output":"a\\nghp_abcdefghijklmnopqrst"}',
    '{"output":"a\\nghp_ab...qrst"}',
    '{"output":"a\\nghp_ab...qrst"}',
    '{"output":"a\\n«redacted:ghp_…»"}',
  ],
  [
    "\u001b[32msk-abcdefghijklmnopqrst\u001b[0m",
    "\u001b[32msk-abc...qrst\u001b[0m",
    "\u001b[32msk-abc...qrst\u001b[0m",
    "\u001b[32m«redacted:sk-…»\u001b[0m",
  ],
  ["OPENAI_API_KEY=abc", "OPENAI_API_KEY=***", null, null],
  ['export FOO_TOKEN="two words here ok"', 'export FOO_TOKEN="***"', null, null],
  [
    "DB_PASSWORD='a1b2c3d4e5f6g7h8i9'",
    "DB_PASSWORD='a1b2c3...h8i9'",
    null,
    "DB_PASSWORD='«redacted:value…»'",
  ],
  ['{"api_key":"abcdef123456","max_tokens":100}', '{"api_key":"***","max_tokens":100}', null, null],
  ['{\\"client_secret\\":\\"abcdef123456\\"}', '{\\"client_secret\\":\\"***\\"}', null, null],
  ["password: hunter2hunter", "password: ***", null, null],
  ["model.api_key = abcd1234efgh", "model.api_key = ***", null, null],
  ["Authorization: Bearer abc.def.ghi", "Authorization: Bearer ***", null, null],
  ["authorization: Basic dXNlcjpwYXNzd29yZA==", "authorization: Basic dXNlcj...ZA==", null, null],
  ["x-api-key: 123456789", "x-api-key: ***", null, null],
  ["Cookie: a=b; session=xyz\r\nHost: x", "Cookie: ***\r\nHost: x", null, null],
  [
    "postgres://user:secretpw@host/db",
    "postgres://user:***@host/db",
    null,
    "postgres://user:«redacted:password…»@host/db",
  ],
  [
    "https://abcdef0123456789@github.com/x",
    "https://***@github.com/x",
    null,
    "https://«redacted:token…»@github.com/x",
  ],
  ["username=bob&password=hunter22", "username=bob&password=***", null, null],
  ["client_secret=hunter22&a=b", "client_secret=***&a=b", null, null],
  [
    "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb",
    "a\n-----BEGIN RSA PRIVATE KEY-----\n«redacted:private key»\n-----END RSA PRIVATE KEY-----\nb",
    "a\n-----BEGIN RSA PRIVATE KEY-----\n«redacted:private key»\n-----END RSA PRIVATE KEY-----\nb",
    "a\n-----BEGIN RSA PRIVATE KEY-----\n«redacted:private key»\n-----END RSA PRIVATE KEY-----\nb",
  ],
  [
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdef_123",
    "eyJhbG..._123",
    "eyJhbG..._123",
    "«redacted:jwt…»",
  ],
  ["123456789:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc", "123456...K-bc", "123456...K-bc", "«redacted:bot…»"],
  ["call +14155550123 now", "call *** now", null, null],
];

const PREFIXED = [
  "ghp_A1bcdefghij",
  "github_pat_A1bcdefghij",
  "gho_A1bcdefghij",
  "ghu_A1bcdefghij",
  "ghs_A1bcdefghij",
  "ghr_A1bcdefghij",
  "xapp-1-A1bcdefghij",
  "xoxb-A1bcdefghij",
  "xoxa-A1bcdefghij",
  "xoxp-A1bcdefghij",
  "xoxr-A1bcdefghij",
  "xoxs-A1bcdefghij",
  `AIza${"A1".repeat(15)}`,
  "pplx-A1bcdefghij",
  "fal_A1bcdefghij",
  "fc-A1bcdefghij",
  "bb_live_A1bcdefghij",
  `gAAAA${"A1".repeat(10)}`,
  "AKIAIOSFODNN7EXAMPLE",
  "sk_live_A1bcdefghij",
  "sk_test_A1bcdefghij",
  "rk_live_A1bcdefghij",
  "SG.A1bcdefghij",
  "hf_A1bcdefghij",
  "r8_A1bcdefghij",
  "npm_A1bcdefghij",
  "pypi-A1bcdefghij",
  "dop_v1_A1bcdefghij",
  "doo_v1_A1bcdefghij",
  "am_A1bcdefghij",
  "sk_A1bcdefghij",
  "tvly-A1bcdefghij",
  "exa_A1bcdefghij",
  "gsk_A1bcdefghij",
  "syt_A1bcdefghij",
  "retaindb_A1bcdefghij",
  "hsk-A1bcdefghij",
  "mem0_A1bcdefghij",
  "brv_A1bcdefghij",
  `xai-${"A1".repeat(15)}`,
  "ntn_A1bcdefghij",
  "fw-A1bcdefghij",
  "fw_A1bcdefghij",
  `fpk_${"A1".repeat(15)}`,
];

const PLAIN = [
  "task-management-system-2 and risk-assessment-2024",
  "npm_config_registry hf_hub_download sk_buff_head_init am_pm_indicator fal_client_subscribe",
  "API_KEY = os.environ['X']; const token = getToken(); if (KEY === undefined) return",
  "API_KEY=$OTHER API_KEY=${OTHER} API_KEY=<your key>",
  "token: string; password: string; secret?: boolean",
  "git@github.com:a/b.git user@example.com https://example.com/a?b=c",
  "the key is: a key. The secret of success: work.",
  '{"token":"string","key":"value","pattern_key":"recursive delete","prompt_tokens":12}',
  "+14155550123 is a line of a diff",
  "commit 8908ddb0a1b2c3d4e5f60718293a4b5c6d7e8f90",
  "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
];

Deno.test("createRedactor() masks each class as each mode promises, and twice is as once", () => {
  for (const [text, full, terminal, file] of ROWS) {
    const expected = { full, terminal, file };
    for (const mode of MODES) {
      const once = redact(text, mode);
      assertEquals(once, expected[mode] ?? text, `${mode}: ${text}`);
      assertEquals(redact(once, mode), once, `${mode} again: ${text}`);
    }
  }
});

Deno.test("core 45: createRedactor() masks every key prefix in every mode, alone and inside text", () => {
  for (const token of PREFIXED) {
    for (const mode of MODES) {
      for (const text of [token, `use ${token}, please`, `"${token}"`, `A=${token}\n`, `x\\n${token}\\n`]) {
        assert(!redact(text, mode).includes(token), `${mode}: ${text}`);
      }
    }
  }
});

Deno.test("createRedactor() leaves ordinary text alone", () => {
  for (const text of PLAIN) for (const mode of MODES) assertEquals(redact(text, mode), text, mode);
});

Deno.test("createRedactor() in terminal mode masks what looks like a dump of the environment", () => {
  const dump = "A=1\nB=2\nFOO_TOKEN=abcdef\nC=3\nD=4\nE=5\n";
  assertEquals(redact(dump, "terminal"), dump.replace("abcdef", "***"));
  assertEquals(redact("FOO_TOKEN=abcdef\n", "terminal"), "FOO_TOKEN=abcdef\n");
});

Deno.test("createRedactor() masks a private key that was cut off", () => {
  const cut = "x\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAA";
  for (const mode of MODES) assert(!redact(cut, mode).includes("b3BlbnNzaC1rZXk"));
});

Deno.test("FC-26: createRedactor() follows the list of known values, and enabled: false leaves texts alone", () => {
  let known: readonly string[] = ["first-value-1"];
  const live = createRedactor({ knownSecrets: () => known, enabled: true });
  assertEquals(live("first-value-1 second-value-2", "terminal"), "*** second-value-2");
  known = ["second-value-2", "second-value-2-long"];
  assertEquals(live("first-value-1 second-value-2-long", "terminal"), "first-value-1 second...long");
  const off = createRedactor({ knownSecrets: () => known, enabled: false });
  assertEquals(
    off("second-value-2 ghp_abcdefghijklmnopqrst", "full"),
    "second-value-2 ghp_abcdefghijklmnopqrst",
  );
});

Deno.test("createRedactor() is linear: a megabyte of anything takes no longer than a moment", () => {
  const pieces = [
    "a",
    "A",
    "eyJ",
    "eyJaaaaaaaa-",
    "-----BEGIN PRIVATE KEY-----",
    'KEY="',
    "KEY=",
    '"api_key":"',
    "token ",
    "token:",
    "authorization: ",
    "http://a:",
    "x://",
    "sk-",
    "-",
    "a_",
    "a.",
    "1",
    " +1234567890123456",
    " cookie:",
    "\n",
    " ",
    '"',
    "\\",
    "QUJD/+",
    "a=b&",
    "SG.",
    "1:",
    "A=1\n",
    "bearer ",
    "x-api-key",
    "password=",
    "user:pw@",
  ];
  for (const piece of pieces) {
    const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
    for (const mode of MODES) {
      const start = performance.now();
      redact(text, mode);
      const took = performance.now() - start;
      assertWithin(took, 2_000, `${mode}: ${JSON.stringify(piece)}`);
    }
  }
});
