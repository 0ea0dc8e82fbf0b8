/**
 * The one reader of every session that remembers for later: the audit trail, and the contents that files had before
 * a turn changed them. A turn never waits for it: events are noted at once and written in order a moment later; what
 * cannot be written is told on stderr, once.
 */
import type {
  AuditEntry,
  CoreEvent,
  FileChange,
  FileEdit,
  Logger,
  ObservedSession,
  Settings,
  Store,
} from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import { hashText, SnapshotFiles } from "@/store/mod.ts";
import { auditOf, createClean } from "./audit_entries.ts";

export interface JournalDeps {
  readonly platform: Platform;
  /** Data home, absolute. */
  readonly home: string;
  readonly log: Logger;
  store(): Store;
  settings(): Settings;
  /** Old contents of files are kept. */
  keepsFiles(): boolean;
  redact(text: string): string;
}

interface Note {
  readonly entry: AuditEntry;
  readonly edits: readonly FileEdit[];
  /** Whose files they are: a child's changes are put back with its parent's. */
  readonly of: { readonly sessionId: string; readonly turnId: string };
}

type ChangeOrigin = Pick<FileChange, "at" | "sessionId" | "turnId">;

/** What one event gives at once is written together. */
const GATHER_MS = 20;
/** Notes in memory while the database is locked; more are lost, and that is told. */
const MAX_WAITING = 5_000;
/** Contents kept before the folder is looked through again. */
const PRUNE_EVERY = 100;
const DAY_MS = 24 * 3_600_000;
const MEGABYTE = 1024 * 1024;
const MAX_FILES_TOLD = 50;
const MAX_CLIENT = 200;

export class Journal {
  readonly #deps: JournalDeps;
  readonly #files: SnapshotFiles;
  readonly #clean: ReturnType<typeof createClean>;
  readonly #closing = new AbortController();
  readonly #told = new Set<string>();
  #waiting: Note[] = [];
  #writing: Promise<void> | null = null;
  #kept = 0;

  constructor(deps: JournalDeps) {
    this.#deps = deps;
    this.#files = new SnapshotFiles(deps.platform, `${deps.home}/snapshots`);
    this.#clean = createClean((text) => deps.redact(text));
  }

  /** Reads a session from now to its end. */
  watch(session: ObservedSession): void {
    const known = session.sessionKey ?? session.source;
    let client = known;
    session.hub.subscribe((event) => {
      if (event.type === "turn.start") client = session.client ?? known;
      this.#note(event, session, this.#clean(client, MAX_CLIENT));
    });
  }

  /** Resolves when all that was noted until now is written, or was told to be lost. */
  async written(): Promise<void> {
    await this.#writing;
  }

  /** Writes what waits; nothing is written afterwards. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writing;
  }

  #note(event: CoreEvent, { surface, worksFor }: ObservedSession, client: string): void {
    const noted = this.#closing.signal.aborted ? null : auditOf(event, this.#clean);
    if (noted === null) return;
    if (this.#waiting.length >= MAX_WAITING) {
      return this.#warn("the database takes too long; entries are lost");
    }
    const { clock } = this.#deps.platform;
    const { sessionId, turnId } = event;
    this.#waiting.push({
      entry: { at: clock.now() / 1000, sessionId, turnId, surface, client, ...noted },
      edits: event.type === "tool.end" ? event.edits : [],
      of: worksFor ?? { sessionId, turnId },
    });
    this.#writing ??= this.#write();
  }

  async #write(): Promise<void> {
    await this.#deps.platform.clock.delay(GATHER_MS, { signal: this.#closing.signal }).catch(() => {
      // Closing: what waits is written at once.
    });
    while (this.#waiting.length > 0) {
      const notes = this.#waiting;
      this.#waiting = [];
      try {
        await this.#save(notes);
      } catch (error) {
        this.#warn(error instanceof Error ? error.message : String(error));
      }
    }
    this.#writing = null;
  }

  async #save(notes: readonly Note[]): Promise<void> {
    const entries: AuditEntry[] = [];
    const changes: FileChange[] = [];
    for (const { entry, edits, of } of notes) {
      const made = await Promise.all(edits.map((edit) => this.#changeOf({ at: entry.at, ...of }, edit)));
      changes.push(...made);
      const files = made.slice(0, MAX_FILES_TOLD).map(({ path, before, after }) => ({ path, before, after }));
      const detail = files.length === 0
        ? entry.detail
        : { ...entry.detail, files, files_changed: made.length };
      entries.push({ ...entry, detail });
    }
    const store = this.#deps.store();
    await store.audit.append(entries);
    if (changes.length > 0) await store.snapshots.record(changes);
  }

  async #changeOf({ at, sessionId, turnId }: ChangeOrigin, edit: FileEdit): Promise<FileChange> {
    const hash = async (text: string | null) => text === null ? null : await hashText(text);
    const before = await hash(edit.oldText);
    if (before !== null) await this.#keep(before, edit.oldText as string);
    return { at, sessionId, turnId, path: edit.path, before, after: await hash(edit.newText) };
  }

  /** A content that cannot be kept is no reason to lose the rest. */
  async #keep(hash: string, text: string): Promise<void> {
    const limits = this.#deps.settings().snapshots;
    if (!this.#deps.keepsFiles() || text.length > (limits?.max_file_mb ?? 5) * MEGABYTE) return;
    try {
      await this.#files.put(hash, text);
      if (this.#kept++ % PRUNE_EVERY === 0) await this.#prune();
    } catch (error) {
      this.#warn(`a file's old content: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  async #prune(): Promise<void> {
    const limits = this.#deps.settings().snapshots;
    const maxAgeMs = (limits?.retention_days ?? 30) * DAY_MS;
    await this.#files.prune({ maxBytes: (limits?.max_mb ?? 200) * MEGABYTE, maxAgeMs });
    await this.#deps.store().snapshots.prune((this.#deps.platform.clock.now() - maxAgeMs) / 1000);
  }

  #warn(why: string): void {
    if (this.#told.has(why)) return;
    this.#told.add(why);
    this.#deps.log.warn(`Cannot keep the record of what was done: ${why}`);
  }
}
