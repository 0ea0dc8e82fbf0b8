/**
 * How this program is started again: the binary itself, or the runtime with the source.
 *
 * The runtime takes a child whose command is exactly the running program for `deno` and puts `run -A` before its
 * arguments; another spelling of the same path is left alone.
 */
export function selfCommand(execPath: string): readonly [command: string, ...args: string[]] {
  const isRuntime = /^deno(\.exe)?$/i.test(execPath.replace(/^.*[/\\]/, ""));
  if (!isRuntime) return [execPath.replace(/([/\\])(?=[^/\\]*$)/, "$1.$1")];
  return [execPath, "run", "-A", "--no-check", "--quiet", new URL("../../main.ts", import.meta.url).href];
}

/** What the runtime needs to start, and nothing that unlocks anything. */
const NEEDED =
  /^(PATH|HOME|USERPROFILE|LOCALAPPDATA|APPDATA|SYSTEMROOT|SYSTEMDRIVE|WINDIR|TMPDIR|TEMP|TMP|XDG_CACHE_HOME|DENO_DIR|DENO_NO_UPDATE_CHECK|LD_LIBRARY_PATH)$/i;

/** The environment of such a process; a home that is named is not looked for, nor a profile. */
export function selfEnv(given: Readonly<Record<string, string>>, home: string): Record<string, string> {
  const passed = Object.entries(given).filter(([name]) => NEEDED.test(name));
  return { ...Object.fromEntries(passed), HERMES_HOME: home, NO_COLOR: "1" };
}
