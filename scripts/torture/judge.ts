/**
 * What must hold after every attack, whatever it was: no word of a crash on stderr, no secret in any output, a sound
 * database, no process left behind. Collects what does not hold; ends nothing by itself.
 */
import { DatabaseSync } from "node:sqlite";
import { processesOfHome } from "../../tests/support/processes.ts";
import { eventually, type Rig } from "../../tests/support/program.ts";

/** The key of the model in every attack; it must never be seen outside of the request to the model. */
export const SECRET = "sk-torture-Zq8vN2mWc7Lr4Xt9Kd3Hs6Pb";

export interface Finding {
  readonly where: string;
  readonly what: string;
  /** What was sent, as far as it is known. */
  readonly input?: string;
}

/** Texts that only a fault inside the program writes. */
const INSIDE =
  /TypeError|RangeError|ReferenceError|SyntaxError|Uncaught|is not a function|is not iterable|Cannot read propert|reading '|undefined is not|Maximum call stack|SQLITE_|constraint failed|\.tsx?:\d+|panicked at|out of memory/;

export class Judge {
  readonly findings: Finding[] = [];

  /** `onFinding` is told at once, since a long run may be ended before it tells them all. */
  constructor(readonly where: string, readonly onFinding: (finding: Finding) => void = () => {}) {}

  report(what: string, input?: string): void {
    const finding = {
      where: this.where,
      what: what.slice(0, 1_500),
      ...(input === undefined ? {} : { input: cut(input) }),
    };
    this.findings.push(finding);
    this.onFinding(finding);
  }

  /** Looks through what the program has written to a person or a client. */
  text(what: string, text: string, input?: string): void {
    if (text.includes(SECRET)) {
      this.report(`${what} shows the key: ${around(text, text.indexOf(SECRET))}`, input);
    }
    const inside = INSIDE.exec(text);
    if (inside) this.report(`${what} tells of a fault inside: ${around(text, inside.index)}`, input);
  }

  database(rig: Rig): void {
    const fault = databaseFault(rig);
    if (fault) this.report(`hermes.db: ${fault}`);
  }

  /** Waits a moment for the program's children to end; ends those that stay. */
  async processes(rig: Rig, own: readonly number[] = []): Promise<void> {
    const left = async () => (await processesOfHome(rig.home)).filter((pid) => !own.includes(pid));
    const gone = await eventually(async () => (await left()).length === 0, 4_000).catch(() => false);
    if (gone) return;
    for (const pid of await left()) {
      const line = await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "");
      this.report(`left behind: ${line.replaceAll("\0", " ").trim()}`);
      try {
        Deno.kill(pid, "SIGKILL");
      } catch {
        // It has ended by now.
      }
    }
  }
}

function cut(input: string): string {
  return input.length <= 1_500 ? input : `${input.slice(0, 1_500)}… (${input.length} characters)`;
}

function around(text: string, at: number): string {
  return text.slice(Math.max(0, at - 200), at + 400);
}

/** Opens the database of a home; `null` when there is none yet. */
export function openDatabase(rig: Rig): DatabaseSync | null {
  try {
    const db = new DatabaseSync(`${rig.home}/hermes.db`, { readOnly: true });
    db.exec("PRAGMA busy_timeout=3000");
    return db;
  } catch {
    return null;
  }
}

function databaseFault(rig: Rig): string | null {
  const db = openDatabase(rig);
  if (!db) return null;
  try {
    const rows = db.prepare("PRAGMA integrity_check").all() as { integrity_check: string }[];
    const texts = rows.map((row) => row.integrity_check);
    if (texts.join() !== "ok") return texts.join("; ");
    const broken = db.prepare("PRAGMA foreign_key_check").all();
    return broken.length === 0 ? null : `foreign keys: ${JSON.stringify(broken).slice(0, 400)}`;
  } catch (error) {
    return String(error);
  } finally {
    db.close();
  }
}

/** A text that changes when sessions or messages do; a database that is not there yet has none. */
export function fingerprint(rig: Rig): string {
  const db = openDatabase(rig);
  if (!db) return JSON.stringify([[], []]);
  try {
    const sessions = db.prepare("SELECT * FROM sessions ORDER BY id").all();
    const messages = db.prepare("SELECT * FROM messages ORDER BY id").all();
    return JSON.stringify(
      [sessions, messages],
      (_, value) => typeof value === "bigint" ? String(value) : value,
    );
  } finally {
    db.close();
  }
}

type Row = Record<string, unknown>;

/** What has changed from one fingerprint to the next, for a person: table, id, column, both values. */
export function difference(before: string, after: string): string {
  const [old, now] = [before, after].map((text) => JSON.parse(text) as Row[][]);
  return ["sessions", "messages"].flatMap((table, n) => {
    const byId = (rows: readonly Row[]) => new Map(rows.map((row) => [row["id"], row]));
    const [had, has] = [byId(old![n]!), byId(now![n]!)];
    const gone = [...had.keys()].filter((id) => !has.has(id)).map((id) => `${table} ${id} is gone`);
    const changed = [...has].flatMap(([id, row]) => {
      const was = had.get(id);
      if (!was) return [`${table} ${id} is new: ${JSON.stringify(row).slice(0, 300)}`];
      const columns = Object.keys(row).filter((name) => row[name] !== was[name]);
      return columns.map((name) => `${table} ${id} ${name}: ${was[name]} → ${row[name]}`.slice(0, 300));
    });
    return [...gone, ...changed];
  }).slice(0, 20).join("; ");
}

/** Texts of the user that are stored. */
export function storedPrompts(rig: Rig): string[] {
  const db = openDatabase(rig);
  try {
    const rows = db?.prepare("SELECT content FROM messages WHERE role = 'user'").all() ?? [];
    return rows.map((row) => String(row["content"]));
  } finally {
    db?.close();
  }
}
