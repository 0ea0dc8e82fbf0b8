/** Titles of sessions (core.md D.7): one line, at most 100 characters, unique among all sessions. */
import { HermesError } from "@/core/contract.ts";
import type { Db } from "./db.ts";

const MAX_TITLE = 100;
// Zero-width, bidirectional and other invisible format characters; then controls that are not white space.
const INVISIBLE = /[\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF]/g;
// deno-lint-ignore no-control-regex
const CONTROL = /[\u0000-\u0008\u000E-\u001F\u007F-\u0084\u0086-\u009F]/g;

/** `null` when nothing is left. Throws `invalid_title` when it is too long. */
export function cleanTitle(title: string | null | undefined): string | null {
  if (title === null || title === undefined) return null;
  const clean = title.toWellFormed().replace(INVISIBLE, "").replace(CONTROL, "").replace(/[\s\u0085]+/g, " ")
    .trim();
  const length = [...clean].length;
  if (length > MAX_TITLE) {
    throw new HermesError(
      "invalid_title",
      `Title is too long: ${length} characters, at most ${MAX_TITLE} are allowed`,
      {
        length,
        max: MAX_TITLE,
      },
    );
  }
  return clean === "" ? null : clean;
}

/** Id of the session that has exactly this title. */
export function titleOwner(db: Db, title: string): string | null {
  return (db.get("SELECT id FROM sessions WHERE title = ?", title)?.["id"] ?? null) as string | null;
}

export function titleTaken(title: string, owner: string): HermesError {
  return new HermesError("title_taken", `Title '${title}' is already in use by session ${owner}`, {
    title,
    owner,
  });
}

/** `base` itself while it is free, then "base #2", "base #3", …; a number at the end of `base` is not doubled. */
export function nextTitle(db: Db, base: string): string {
  const clean = (base.toWellFormed().replace(/\s+#\d+\s*$/, "").trim()) || "session";
  let stem = [...clean].slice(0, MAX_TITLE).join("");
  if (titleOwner(db, stem) === null && highestNumber(db, stem) === 0) return stem;
  stem = [...clean].slice(0, MAX_TITLE - 8).join("");
  return `${stem} #${Math.max(1, highestNumber(db, stem)) + 1}`;
}

/** The highest N of "stem #N"; 0 without any. */
function highestNumber(db: Db, stem: string): number {
  // "$" follows "#": the range is exactly the titles that begin with "stem #", read from the index.
  const rows = db.all("SELECT title FROM sessions WHERE title >= ? AND title < ?", `${stem} #`, `${stem} $`);
  let highest = 0;
  for (const row of rows) {
    const digits = String(row["title"]).slice(stem.length + 2);
    if (/^\d{1,9}$/.test(digits)) highest = Math.max(highest, Number(digits));
  }
  return highest;
}
