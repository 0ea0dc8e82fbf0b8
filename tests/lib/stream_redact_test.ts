import { assert, assertEquals } from "../support/assert.ts";
import { createRedactor, createWatch } from "../../src/lib/redact.ts";
import { createStreamRedactor } from "../../src/lib/stream_redact.ts";

const KNOWN = ["hunter2-is-my-password", 'pa"ss word'];
const whole = createRedactor({ knownSecrets: () => KNOWN, enabled: true });
const watch = createWatch(() => KNOWN);
const redact = (text: string) => whole(text, "terminal");

function stream(pieces: readonly string[]): string[] {
  const redactor = createStreamRedactor({ redact, watch: watch() });
  return [...pieces.map((piece) => redactor.push(piece)), redactor.end()];
}

/** The same cuts each time. */
function cuts(text: string, seed: number): string[] {
  const pieces: string[] = [];
  for (let at = 0, n = seed; at < text.length;) {
    n = (n * 1_103_515_245 + 12_345) % 2_147_483_648;
    const size = 1 + n % 9;
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${"MIIEabcd0123\n".repeat(30)}-----END RSA PRIVATE KEY-----\n`;
const TEXTS: readonly { text: string; secrets: readonly string[] }[] = [
  { text: "use sk-abcdefghij0123456789xyz for it", secrets: ["ghij0123456789"] },
  {
    text: "AKIAABCDEFGHIJKLMNOP is public, ghp_0123456789abcdefABCDEF is not",
    secrets: ["GHIJKLMN", "6789abcdef"],
  },
  { text: `the password is "hunter2-is-my-password", remember it`, secrets: ["-is-my-pass"] },
  { text: `say pa"ss word twice: pa"ss word end`, secrets: ['pa"ss word'] },
  { text: "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefgh end", secrets: ["iOiJIUzI1NiJ9"] },
  { text: `the key:\n${PEM}and more`, secrets: ["MIIEabcd0123"] },
  { text: `short sk-abcdefghijk end`, secrets: ["abcdefghijk"] },
];

Deno.test("FC-26: no cut of a stream shows a credential, and the rest of the text is whole", () => {
  for (const { text, secrets } of TEXTS) {
    for (let seed = 1; seed <= 200; seed++) {
      const shown = stream(cuts(text, seed)).join("");
      for (const secret of secrets) {
        assert(!shown.includes(secret), `${JSON.stringify(shown)} of seed ${seed}`);
      }
      assertEquals(shown.slice(0, 4), text.slice(0, 4));
      assertEquals(shown.slice(-4), text.slice(-4));
    }
    assertEquals(stream([text]).join(""), redact(text));
  }
});

Deno.test("ordinary text passes at once, piece by piece", () => {
  const pieces = [
    "The ",
    "hunt",
    "er said: ",
    "task-",
    "list, team_",
    "name and a ",
    "https://example.com/x?y=1",
    " too",
  ];
  const shown = stream(pieces);
  assertEquals(shown.join(""), pieces.join(""));
  assertEquals(shown.slice(0, 1), ["The "]);
  const plain = ["Hello", " ", "world", ".\n", "a", "b"];
  assertEquals(stream(plain), [...plain, ""]);
});

Deno.test("a beginning that turns out to be none is shown when that is clear", () => {
  assertEquals(stream(["hunter2-is-my-cat", " is"]), ["hunter2-is-my-cat", " is", ""]);
  assertEquals(stream(["hunter2-is-my-pass", "port"]), ["", "hunter2-is-my-passport", ""]);
  assertEquals(stream(["hunter2-is-my-pass"]), ["", "hunter2-is-my-pass"]);
});

Deno.test("a private key longer than what can be held stays hidden to its end", () => {
  const body = "MIIEabcd0123\n".repeat(3_000);
  const text = `a -----BEGIN PRIVATE KEY-----\n${body}-----END PRIVATE KEY----- b`;
  const shown = stream(cuts(text, 7)).join("");
  assert(!shown.includes("MIIEabcd0123"));
  assert(shown.startsWith("a -----BEGIN PRIVATE KEY-----"));
  assert(shown.endsWith("-----END PRIVATE KEY----- b"));
});
