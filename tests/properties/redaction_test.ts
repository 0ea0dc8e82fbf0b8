/**
 * Redaction (core.md C.9, FC-26): a secret is gone from every text that is shown, wherever it stands and whichever
 * way it is written; redacting twice is redacting once; a text without a secret is not touched.
 */
import { createRedactor, type RedactionMode } from "@/lib/redact.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { fc, holds } from "./support.ts";

const MODES: readonly RedactionMode[] = ["full", "terminal", "file"];
const KNOWN = ["zz-UNIQUE-0123456789abcdef", 'p@ss"w\\rd ünï', "plainsecretword"];
const redact = createRedactor({ knownSecrets: () => KNOWN, enabled: true });

const body = (length: number) =>
  fc.string({
    unit: fc.constantFrom(..."ABCDEFGHJKMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789"),
    minLength: length,
    maxLength: length + 12,
  })
    .map((text) => `${text}7Qz`);

/** Tokens that are unmistakable by their form. */
const token = fc.oneof(
  fc.tuple(
    fc.constantFrom("ghp_", "gho_", "github_pat_", "xoxb-", "sk_live_", "rk_live_", "pplx-"),
    body(24),
  ),
  fc.tuple(fc.constantFrom("sk-", "sk-proj-", "sk-ant-api03-", "sk-or-v1-"), body(30)),
  fc.tuple(fc.constant("AIza"), body(35)),
  fc.tuple(fc.constantFrom("hf_", "gsk_", "npm_", "r8_"), body(30)),
  fc.tuple(fc.constant("xai-"), body(40)),
).map((parts) => parts.join(""));

const around = fc.constantFrom<(secret: string) => string>(
  (s) => s,
  (s) => `key: ${s}`,
  (s) => `"${s}"`,
  (s) => `'${s}',`,
  (s) => `(${s})`,
  (s) => `export OPENAI_API_KEY=${s}`,
  (s) => `OPENAI_API_KEY="${s}"\nB=2`,
  (s) => `{"api_key":"${s}","b":1}`,
  (s) => JSON.stringify({ a: JSON.stringify({ token: s }) }),
  (s) => `Authorization: Bearer ${s}\r\n`,
  (s) => `curl -H 'x-api-key: ${s}' https://x.example`,
  (s) => `https://x.example/?api_key=${s}&b=1`,
  (s) => `https://user:${s}@x.example/`,
  (s) => `line\n${s}\nline`,
  (s) => `\u001b[31m${s}\u001b[0m`,
  (s) => `a\\n${s}\\n`,
  (s) => `401: Incorrect API key provided: ${s}. You can find …`,
);

Deno.test("FC-26: a token is gone wherever it stands, in every mode", async () => {
  await holds(
    fc.property(token, around, around, fc.constantFrom(...MODES), (secret, inner, outer, mode) => {
      const text = outer(inner(secret));
      const shown = redact(text, mode);
      // The first six and the last four characters may stay, to tell keys apart.
      assert(!shown.includes(secret.slice(0, 14)), `${JSON.stringify(text)} → ${JSON.stringify(shown)}`);
      assert(!shown.includes(secret.slice(-10)), `${JSON.stringify(text)} → ${JSON.stringify(shown)}`);
    }),
    10,
  );
});

Deno.test("FC-26: a configured secret is gone in every spelling and every mode", async () => {
  const spell = fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => JSON.stringify(text),
    (text) => encodeURIComponent(text),
    (text) => JSON.stringify({ error: { message: `Bad key ${text}` } }),
    (text) => `${text}${text}`,
    (text) => `x${text}y`,
  );
  const noise = fc.string({ maxLength: 20 });
  await holds(
    fc.property(
      fc.constantFrom(...KNOWN),
      spell,
      noise,
      noise,
      fc.constantFrom(...MODES),
      (secret, spell, a, b, mode) => {
        const shown = redact(a + spell(secret) + b, mode);
        for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]) {
          assert(!shown.includes(form), `${form} is in ${JSON.stringify(shown)}`);
        }
      },
    ),
    5,
  );
});

const prose = fc.array(
  fc.oneof(
    token,
    fc.constantFrom(
      "token",
      "password:",
      "api_key=",
      "Authorization:",
      "Bearer",
      "https://",
      "user:pw12345@host",
      "«redacted:",
      "***",
      "sk-",
      "…",
      "\n",
      '"',
      "'",
      "=",
      ":",
      "const key = process.env.KEY",
      "the secret of good tea",
      "+491701234567",
      "-----BEGIN RSA PRIVATE KEY-----",
      "-----END RSA PRIVATE KEY-----",
      "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc",
    ),
    fc.string({ maxLength: 12 }),
  ),
  { maxLength: 8 },
).chain((parts) => fc.constantFrom("", " ").map((glue) => parts.join(glue)));

Deno.test("redacting twice is redacting once, in every mode and on any text", async () => {
  await holds(
    fc.property(prose, fc.constantFrom(...MODES), (text, mode) => {
      const once = redact(text, mode);
      assertEquals(redact(once, mode), once);
    }),
    10,
  );
});

Deno.test("a text without anything that looks like a secret comes back as it was", async () => {
  const plain = fc.array(
    fc.constantFrom(
      "def",
      "return",
      "x = 1",
      "{",
      "}",
      "// note",
      "42",
      "a-b_c",
      "é",
      "\n",
      "\t",
      "/usr/bin",
    ),
  )
    .map((words) => words.join(" "));
  await holds(
    fc.property(plain, fc.constantFrom(...MODES), (text, mode) => assertEquals(redact(text, mode), text)),
  );
});
