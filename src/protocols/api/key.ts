/**
 * Key rules of api-server.md A3: on loopback a missing key is made, stored and shown once; anywhere else it is
 * required; weak and placeholder keys are refused. What cannot be judged counts as unsafe.
 */
import type { HermesBase } from "@/app/mod.ts";

const MIN_LENGTH = 16;
const PLACEHOLDERS = new Set([
  "changeme",
  "your_api_key",
  "your_api_key_here",
  "your-api-key",
  "placeholder",
  "example",
  "dummy",
  "null",
  "none",
  "*",
  "**",
  "***",
]);

export type Resolve = (host: string) => Promise<readonly string[]>;

export function isLoopbackAddress(address: string): boolean {
  const text = address.toLowerCase().replace(/^\[|\]$/g, "");
  if (text === "::1") return true;
  const v4 = text.startsWith("::ffff:") ? text.slice(7) : text;
  return /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(v4);
}

/** A name is loopback only if every address it resolves to is; a failed look-up is not. */
export async function isLoopbackHost(host: string, resolve: Resolve): Promise<boolean> {
  if (isLoopbackAddress(host)) return true;
  if (/^[\d.]+$/.test(host) || host.includes(":")) return false;
  try {
    const addresses = await resolve(host);
    return addresses.length > 0 && addresses.every(isLoopbackAddress);
  } catch {
    // The name is unknown: it may be anything by the time it is bound.
    return false;
  }
}

/** Why a key cannot be used; `null` when it can. */
export function keyWeakness(key: string): string | null {
  const trimmed = key.trim();
  if (PLACEHOLDERS.has(trimmed.toLowerCase())) return "it is a placeholder";
  if (trimmed.length < MIN_LENGTH) return `it is shorter than ${MIN_LENGTH} characters`;
  return null;
}

export interface KeyResult {
  readonly key: string;
  /** True when it was made and stored just now. */
  readonly made: boolean;
}

/** The key to serve with; `given` is empty when none is set. Throws an `Error` with advice when the server must not start. */
export async function settleKey(
  hermes: HermesBase,
  given: string,
  bind: { host: string; loopback: boolean },
): Promise<KeyResult> {
  if (given.trim() !== "") {
    const weakness = keyWeakness(given);
    if (weakness === null) return { key: given.trim(), made: false };
    throw new Error(
      `Cannot use API_SERVER_KEY: ${weakness}. Set one of at least ${MIN_LENGTH} characters, e.g. from "openssl rand -hex 32"`,
    );
  }
  if (!bind.loopback) {
    throw new Error(
      `Cannot serve on ${bind.host} without a key: it can be reached from the network. Set API_SERVER_KEY, or use --host 127.0.0.1`,
    );
  }
  return { key: await makeKey(hermes), made: true };
}

async function makeKey(hermes: HermesBase): Promise<string> {
  const bytes = (hermes.platform.ids.hex(64).match(/../g) ?? []).map((pair) => parseInt(pair, 16));
  const key = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll(
    "=",
    "",
  );
  try {
    await hermes.config.setEnv("API_SERVER_KEY", key);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `Cannot store a new API key in ${hermes.config.envPath}: ${reason}. Set API_SERVER_KEY yourself`,
    );
  }
  return key;
}
