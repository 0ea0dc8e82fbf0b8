/** `hermes sessions import <file>`: what `sessions export` has written comes in. Calls no model. */
import type { Hermes } from "@/app/mod.ts";
import { plural } from "@/lib/plural.ts";
import { type ParsedArgs, UsageError } from "./args.ts";
import { MAX_IMPORT, readImport } from "./session_import.ts";
import type { Terminal } from "./terminal.ts";

interface Context {
  readonly hermes: Hermes;
  readonly terminal: Terminal;
  readonly parsed: ParsedArgs;
  readonly words: readonly string[];
}

/** Sessions that are here already stay as they are. */
export async function importSessions({ hermes, terminal, parsed, words }: Context): Promise<number> {
  const [path, ...rest] = words;
  if (path === undefined || rest.length > 0) throw new UsageError("sessions import needs one file");
  const sessions = readFile(path, await readText(path, hermes));
  let imported = 0;
  for (const session of sessions) {
    if (await hermes.store().importSession(session)) imported++;
    else if (!parsed.has("json")) terminal.note(`${session.row.id} is here already`);
  }
  if (parsed.has("json")) terminal.line(JSON.stringify({ imported, skipped: sessions.length - imported }));
  else {terminal.line(
      `imported ${imported} of ${plural(sessions.length, "session")}`,
    );}
  return 0;
}

function readFile(path: string, text: string): ReturnType<typeof readImport> {
  try {
    return readImport(text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${path}, ${error.message}; nothing was imported`);
  }
}

async function readText(path: string, { platform }: Hermes): Promise<string> {
  const stat = await platform.files.stat(path);
  if (!stat?.isFile) throw new UsageError(`there is no file ${path}`);
  if (stat.size > MAX_IMPORT) throw new UsageError(`${path} has more than 25 MB; split it by lines`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await platform.files.read(path));
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`${path} is no text in UTF-8`);
    throw error;
  }
}
