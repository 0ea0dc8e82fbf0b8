/**
 * The real program on a pseudo-terminal of 80×24 (or `columns`), made by `script` of util-linux: what is sent are keys, what is
 * seen is what a terminal would get, escape sequences included.
 */
import { eventually, programCommand, type Rig } from "../../support/program.ts";

export const KEY = { enter: "\r", ctrlC: "\x03", ctrlD: "\x04", ctrlZ: "\x1a", altEnter: "\x1b\r" } as const;

/** False where there is no `script` that can do it. */
export const hasTerminal = Deno.build.os === "linux" && canRun("script") && canRun("stty");

function canRun(name: string): boolean {
  try {
    return new Deno.Command(name, { args: ["--version"], stdout: "null", stderr: "null" }).outputSync()
      .success;
  } catch {
    return false;
  }
}

export interface OnTerminal extends AsyncDisposable {
  send(keys: string): Promise<void>;
  /** As a terminal in bracketed-paste mode sends what is pasted. */
  paste(text: string): Promise<void>;
  /** Waits until the pattern stands on the screen behind what an earlier `see` has found. */
  see(pattern: RegExp): Promise<string>;
  /** All that was written so far. */
  screen(): string;
  /** The exit code, once the program has left. */
  readonly exitCode: Promise<number>;
}

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

/**
 * Starts `hermes <args>` on a terminal of its own; `after` is a shell command that runs there when it has left, `to` a
 * file that takes stdout.
 */
export function onTerminal(
  args: readonly string[],
  { rig, env, after = "", to, columns = 80 }: {
    rig: Rig;
    env?: Record<string, string>;
    after?: string;
    to?: string;
    columns?: number;
  },
): OnTerminal {
  const program = [...programCommand(), ...args].map(quoted).join(" ");
  const started = to === undefined ? program : `${program} > ${quoted(to)}`;
  const line = `stty cols ${columns} rows 24; set -m; ${started}; code=$?; ${after || ":"}; exit $code`;
  const child = new Deno.Command("script", {
    args: ["-qec", line, "/dev/null"],
    cwd: rig.workspace,
    clearEnv: true,
    env: { ...rig.env, TERM: "xterm", SHELL: "/bin/sh", ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  let screen = "";
  let seen = 0;
  const reading = (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) screen += text;
  })();
  const send = (keys: string) => writer.write(new TextEncoder().encode(keys));
  return {
    send,
    paste: (text) => send(`\x1b[200~${text.replaceAll("\n", "\r")}\x1b[201~`),
    see: async (pattern) => {
      const found = await eventually(
        () => pattern.exec(screen.slice(seen)) ?? undefined,
        15_000,
        String(pattern),
      )
        .catch((error) => {
          throw new Error(`${error.message}; on the screen:\n${screen.slice(seen)}`);
        });
      seen += found.index + found[0].length;
      return found[0];
    },
    screen: () => screen,
    exitCode: child.status.then(({ code }) => code),
    [Symbol.asyncDispose]: async () => {
      await writer.close().catch(() => {/* it has left */});
      try {
        child.kill("SIGKILL");
      } catch {
        // It has left.
      }
      await Promise.all([reading, child.status]);
    },
  };
}
