/** SHA-256 of a text as 64 hex digits; for names and fingerprints. */

const encoder = new TextEncoder();

export async function sha256(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(text)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
