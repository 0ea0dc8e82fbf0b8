import { createLogger } from "@/lib/log.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("createLogger() writes one redacted line per message, from its level on", () => {
  const lines: string[] = [];
  const when = new Date(2026, 0, 2, 3, 4, 5).getTime();
  const log = createLogger({
    write: (line) => void lines.push(line),
    redact: (text) => text.replaceAll("secret", "***"),
    level: "INFO",
    name: "acp",
    now: () => when,
  });
  log.debug("hidden");
  log.info("a\r\nb\u2028c\u0000d\u001b[31m secret");
  log.warn("w");
  log.error("x".repeat(5000));
  assertEquals(lines.slice(0, 2), [
    "2026-01-02 03:04:05 [INFO] acp: a b c d [31m ***",
    "2026-01-02 03:04:05 [WARNING] acp: w",
  ]);
  assertEquals(lines[2], `2026-01-02 03:04:05 [ERROR] acp: ${"x".repeat(4000)}…`);
});

Deno.test("createLogger() with format json writes one object per line, redacted, whatever the message holds", () => {
  const lines: string[] = [];
  const log = createLogger({
    write: (line) => lines.push(line),
    redact: (text) => text.replaceAll("secret", "***"),
    level: "INFO",
    name: "hermes",
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 6),
    format: "json",
  });
  log.debug("not this");
  log.warn('a "secret"\nin two lines');
  assertEquals(lines.map((line) => JSON.parse(line)), [{
    time: "2026-01-02T03:04:05.006Z",
    level: "WARNING",
    logger: "hermes",
    message: 'a "***" in two lines',
  }]);
  assertEquals(lines[0]!.includes("\n"), false);
});
