/**
 * SHA-256 of a text as 64 hex digits; for names and fingerprints. On the spot: the texts are short, and handing one to
 * another thread takes longer than the sum itself. The module is loaded with the first text, not with the server.
 */
import process from "node:process";

export function sha256(text: string): Promise<string> {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return Promise.resolve(createHash("sha256").update(text.toWellFormed()).digest("hex"));
}
