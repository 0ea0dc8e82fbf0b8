/** `session/list` (acp.md C3): pages of fifty, newest first; the cursor names the last row, so deleted rows do no harm. */
import type { SessionSummary } from "@/core/contract.ts";
import type { Connection } from "./connection.ts";
import { invalidParams } from "./errors.ts";
import type { SessionInfo } from "./sdk.ts";

const PAGE = 50;

/** Base64 of UTF-8: ids of other doors may hold any character. */
function encodeCursor(row: SessionSummary): string {
  const bytes = new TextEncoder().encode(JSON.stringify([row.lastActivityAt, row.id]));
  return btoa(String.fromCharCode(...bytes));
}

function decodeCursor(cursor: string): { lastActivityAt: number; id: string } {
  try {
    const bytes = Uint8Array.from(atob(cursor), (c) => c.charCodeAt(0));
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (
      Array.isArray(value) && value.length === 2 && Number.isFinite(value[0]) && typeof value[1] === "string"
    ) {
      return { lastActivityAt: value[0], id: value[1] };
    }
  } catch {
    // Not one of ours: refused below.
  }
  throw invalidParams("Invalid cursor", { cursor: cursor.slice(0, 200) });
}

function titleOf(row: SessionSummary): string {
  return row.title || row.firstText || row.cwd?.split(/[\\/]/).findLast(Boolean) || "New thread";
}

function infoOf(row: SessionSummary): SessionInfo {
  const updated = new Date(row.lastActivityAt * 1000);
  return {
    sessionId: row.rootId,
    cwd: row.cwd ?? "/",
    title: titleOf(row),
    // One row with a time that is none must not hide the others.
    ...(Number.isNaN(updated.getTime()) ? {} : { updatedAt: updated.toISOString() }),
  };
}

export function listSessions(
  connection: Connection,
  params: { cwd?: string | null | undefined; cursor?: string | null | undefined },
) {
  const { hermes, sources, comparer } = connection;
  const wanted = typeof params.cwd === "string" ? comparer.formOfFilter(params.cwd) : null;
  const before = typeof params.cursor === "string" ? decodeCursor(params.cursor) : null;
  const rows = hermes.store().listSessions({
    limit: PAGE + 1,
    ...(sources ? { sources } : {}),
    ...(before ? { before } : {}),
    ...(wanted === null ? {} : { cwd: (cwd) => cwd !== null && comparer.formOf(cwd) === wanted }),
  });
  const page = rows.slice(0, PAGE);
  const last = page.at(-1);
  const nextCursor = rows.length > PAGE && last ? encodeCursor(last) : null;
  return { sessions: page.map(infoOf), ...(nextCursor ? { nextCursor } : {}) };
}
