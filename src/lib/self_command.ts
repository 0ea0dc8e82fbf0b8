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
