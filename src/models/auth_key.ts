/**
 * `auth.json` of the data home as far as choosing a provider needs it (core.md F.3): its shape, and the first key of a
 * provider. Everything else that is done with the file is in `auth_file.ts`.
 */
import { isUsableKey } from "./keys.ts";

export type AuthEntry = Readonly<Record<string, unknown>>;

/** Members that are not known here are kept as they are. */
export interface AuthFile {
  readonly [member: string]: unknown;
  readonly credential_pool: Readonly<Record<string, readonly AuthEntry[]>>;
}

/** `null`: it is broken. No file, or an empty one, is one without keys. */
export function parseAuth(text: string | null): AuthFile | null {
  try {
    const value: unknown = JSON.parse(text?.trim() || "{}");
    if (!isRecord(value)) return null;
    const pools = value["credential_pool"] ?? {};
    if (!isRecord(pools)) return null;
    const lists = Object.entries(pools).map((
      [id, list],
    ) => [id, Array.isArray(list) ? list.filter(isRecord) : []]);
    return {
      version: 1,
      providers: {},
      active_provider: null,
      ...value,
      credential_pool: Object.fromEntries(lists),
    };
  } catch {
    return null;
  }
}

/** The key that stands in the entry itself; logins and references are none. */
export function keyIn(entry: AuthEntry): string | null {
  const { access_token, auth_type = "api_key" } = entry;
  return auth_type === "api_key" && typeof access_token === "string" && isUsableKey(access_token)
    ? access_token.trim()
    : null;
}

export function priorityOf({ priority }: AuthEntry): number {
  return typeof priority === "number" ? priority : 0;
}

export function firstKey(file: AuthFile | null, provider: string): string | null {
  const pool = file !== null && Object.hasOwn(file.credential_pool, provider)
    ? file.credential_pool[provider]!
    : [];
  const sorted = [...pool].sort((a, b) => priorityOf(a) - priorityOf(b));
  return sorted.map(keyIn).find((key) => key !== null) ?? null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
