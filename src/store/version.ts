/** Which schema a database file has, and a look at that alone, for a start that must not load the rest of the room. */
import { HermesError } from "@/core/contract.ts";
import { Db } from "./db.ts";
import { MIGRATIONS } from "./migrations.ts";

/**
 * Throws `store_newer` for a file that a newer program has written, and changes nothing. Whatever else is wrong with
 * it is told by who opens it.
 */
export function refuseNewer(path: string): void {
  try {
    const db = new Db(path, { readOnly: true });
    try {
      readVersion(db, path);
    } finally {
      db.close();
    }
  } catch (error) {
    if (error instanceof HermesError && error.code === "store_newer") throw error;
  }
}

/** The schema of the file. Throws `store_newer`, and `store_failed` for a database of something else. */
export function readVersion(db: Db, path: string): number {
  let version: number;
  try {
    version = Number(db.get("SELECT version FROM schema_version")?.["version"] ?? 0);
  } catch (error) {
    if (!/no such table/.test(String(error))) throw error;
    if (Number(db.get("SELECT count(*) AS n FROM sqlite_schema")?.["n"]) === 0) return 0;
    throw new HermesError("store_failed", `Cannot use "${path}": it is a database of another program`, {
      path,
    });
  }
  if (version <= MIGRATIONS.length) return version;
  throw new HermesError(
    "store_newer",
    `Cannot use "${path}": a newer hermes has written it (schema ${version}, this one knows ${MIGRATIONS.length}); ` +
      "update hermes, or set HERMES_HOME to another directory",
    { path, version, supported: MIGRATIONS.length },
  );
}
