/** `session/list` (acp.md C3): pages of fifty, newest first; the cursor names the last row, so deleted rows do no harm. */
import type { SessionSummary } from "@/core/contract.ts";
import type { Connection } from "./connection.ts";
import { invalidParams } from "./errors.ts";
import { oneLine } from "./render/text.ts";
import type { SessionInfo } from "./sdk.ts";

const PAGE = 50;

function encodeCursor(row: SessionSummary): string {
  return btoa(JSON.stringify([row.lastActivityAt, row.id]));
}

function decodeCursor(cursor: string): { lastActivityAt: number; id: string } {
  try {
    const value: unknown = JSON.parse(atob(cursor));
    if (Array.isArray(value) && typeof value[0] === "number" && typeof value[1] === "string") {
      return { lastActivityAt: value[0], id: value[1] };
    }
  } catch {
    // Not one of ours: refused below.
  }
  throw invalidParams("Invalid cursor", { cursor: cursor.slice(0, 200) });
}

function titleOf(row: SessionSummary): string {
  return row.title || oneLine(row.preview, 80) || row.cwd?.split(/[\\/]/).findLast(Boolean) || "New thread";
}

function infoOf(row: SessionSummary): SessionInfo {
  return {
    sessionId: row.rootId,
    cwd: row.cwd ?? "/",
    title: titleOf(row),
    updatedAt: new Date(row.lastActivityAt * 1000).toISOString(),
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
