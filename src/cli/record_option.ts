/** `--record FILE`: the file is made at once, so that nothing is recorded over something else. */
import type { Platform } from "@/platform/mod.ts";
import { type ParsedArgs, UsageError } from "./args.ts";

/** Throws `UsageError` when there is such a file already, or none can be made. */
export async function recordOption(
  parsed: ParsedArgs,
  platform: Platform,
): Promise<{ readonly record?: string }> {
  const given = parsed.value("record");
  const isOverwriting = parsed.has("record-overwrite");
  if (given === undefined) {
    if (isOverwriting) throw new UsageError("--record-overwrite belongs to --record");
    return {};
  }
  if (given === "") throw new UsageError("--record takes the name of a file");
  const { files } = platform;
  const path = /^(?:\/|[A-Za-z]:[\\/])/.test(given) ? given : `${platform.cwd()}/${given}`;
  const found = await files.lstat(path);
  if (found && !found.isFile) throw new UsageError(`--record ${given} is not a plain file`);
  if (found && !isOverwriting) {
    throw new UsageError(
      `--record ${given}: there is such a file already; add --record-overwrite to replace it`,
    );
  }
  try {
    // A file that others may read does not become ours by writing into it.
    if (found) await files.remove(path);
    await files.write(path, new TextEncoder().encode('{ "turns": [] }\n'), { mode: 0o600 });
  } catch (error) {
    throw new UsageError(`--record ${given}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return { record: path };
}
