/**
 * Who asks, and what of the server is theirs. The full key sees everything; a scoped one what it made itself, and the
 * rest is to it as if it were not there: 404, never 403. A scope that is missing is 403, and says which one.
 */
import type { Scope, ScopedKey } from "./api_keys.ts";
import { ApiError } from "./errors.ts";

export interface Caller {
  /** `null`: sees everything (the full key, or the scope `admin`). */
  readonly keyId: string | null;
  /** For logs and metrics. */
  readonly name: string;
  readonly workspace: string | null;
  may(scope: Scope): boolean;
}

export const FULL: Caller = { keyId: null, name: "full", workspace: null, may: () => true };

export function callerOf(key: ScopedKey): Caller {
  const isAdmin = key.scopes.includes("admin");
  return {
    keyId: isAdmin ? null : key.id,
    name: key.name,
    workspace: key.workspace,
    may: (scope) =>
      isAdmin || key.scopes.includes(scope) || (scope === "runs:read" && key.scopes.includes("runs")),
  };
}

/** Throws 403 for the first scope that is missing. */
export function requireScopes(caller: Caller, scopes: readonly Scope[]): void {
  const missing = scopes.find((scope) => !caller.may(scope));
  if (missing === undefined) return;
  throw new ApiError(
    403,
    "insufficient_scope",
    `The key "${caller.name}" does not have the scope "${missing}"`,
  );
}

/** Whether something with this owner is there for the caller; no owner = made with the full key. */
export function sees(caller: Caller, owner: string | null | undefined): boolean {
  return caller.keyId === null || caller.keyId === owner;
}

/** For rows that the caller makes. */
export function ownedBy(caller: Caller): { readonly keyId?: string } {
  return caller.keyId === null ? {} : { keyId: caller.keyId };
}

/** Keeps names that clients choose (keys of requests, conversations) apart; nobody can spell another key's. */
export function privately(caller: Caller, name: string): string {
  if (caller.keyId !== null) return `key:${caller.keyId}:${name}`;
  return name.startsWith("key:") ? `key::${name}` : name;
}
