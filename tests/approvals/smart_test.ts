/** `src/approvals/smart.ts`: what counts as a verdict. */
import { readVerdict } from "../../src/approvals/smart.ts";
import { assertEquals } from "../support/assert.ts";

const read = (text: string) => readVerdict(text, (value) => value.replace("s3cret", "***"));

Deno.test("readVerdict() takes the first word, alone, and the reason behind it", () => {
  assertEquals(read("APPROVE only build output"), { verdict: "approve", reason: "only build output" });
  assertEquals(read("**DENY** — wipes s3cret\nmore"), { verdict: "deny", reason: "wipes ***" });
  assertEquals(read("ESCALATE"), { verdict: "escalate", reason: "" });
  assertEquals(read("\n  APPROVE: fine."), { verdict: "approve", reason: "fine." });
});

Deno.test("readVerdict() reads everything else as no verdict", () => {
  const texts = [
    "",
    "approve",
    "APPROVED",
    "I would APPROVE",
    "Sure! APPROVE",
    "APPROVE or DENY",
    "YES",
    "DENYING",
  ];
  for (const text of texts) assertEquals(read(text).verdict, "escalate", text);
});

Deno.test("readVerdict() bounds the reason", () => {
  assertEquals(read(`DENY ${"x".repeat(5_000)}`).reason.length, 200);
});
