/**
 * `hermes mcp login <name>` and `logout`: a person logs in at a server with `auth: "oauth"` in the browser (core.md
 * G.3). What a login gives is stored and never printed.
 */
import type { Platform } from "@/platform/mod.ts";
import { UsageError } from "./args.ts";
import { EXIT } from "./exit_codes.ts";
import type { McpContext } from "./mcp.ts";
import { adviceForError } from "./mcp_advice.ts";
import { withoutControls } from "./text_layout.ts";

const DEFAULT_TIMEOUT_S = 300;
const OPENERS: Readonly<Record<Platform["os"], readonly string[]>> = {
  linux: ["xdg-open"],
  darwin: ["open"],
  windows: ["rundll32", "url.dll,FileProtocolHandler"],
};

export async function login({ hermes, terminal, parsed, words }: McpContext): Promise<number> {
  const name = oneName(words, "login");
  const seconds = parsed.positive("timeout") ?? DEFAULT_TIMEOUT_S;
  const opens = terminal.stderrIsTty && !parsed.has("no-browser");
  const stop = new AbortController();
  const release = terminal.onInterrupt(() => stop.abort());
  const show = (url: string) => {
    terminal.note("Log in at this address, in a browser on this machine:");
    terminal.note("");
    terminal.note(`  ${withoutControls(url)}`);
    terminal.note("");
    terminal.note(`Waiting for it, at most ${seconds} s. Ctrl-C gives up.`);
    if (opens) openBrowser(url, hermes.platform);
  };
  try {
    const result = await hermes.mcp.login(name, { show, signal: stop.signal, timeoutMs: seconds * 1000 });
    if (!result) throw unknownServer(name, hermes.config.path);
    if (parsed.has("json")) {
      const { issuer, scope, expiresIn, renews } = result;
      terminal.line(JSON.stringify({ name, logged_in: true, issuer, scope, expires_in: expiresIn, renews }));
    } else {
      terminal.line(withoutControls(`${name}: logged in at ${result.issuer}`));
      terminal.line(
        result.renews ? "  it is renewed by itself" : `  it is not renewed: ${untilWhen(result.expiresIn)}`,
      );
      terminal.line(`  now: hermes mcp test ${name}`);
    }
    return EXIT.done;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (stop.signal.aborted) {
      terminal.note("hermes: not logged in: given up");
      return EXIT.interrupted;
    }
    const why = error instanceof Error ? error.message : String(error);
    terminal.note(`hermes: not logged in at "${name}": ${withoutControls(hermes.redact(why))}`);
    const advice = adviceForError(why, name);
    if (advice) terminal.note(`  do:  ${advice}`);
    return EXIT.failed;
  } finally {
    release();
  }
}

export async function logout({ hermes, terminal, words }: McpContext): Promise<number> {
  const name = oneName(words, "logout");
  try {
    const removed = await hermes.mcp.logout(name);
    if (removed === null) throw unknownServer(name, hermes.config.path);
    terminal.line(
      removed ? `${name}: logged out; the token is deleted here` : `${name}: nobody was logged in`,
    );
    return EXIT.done;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    terminal.note(`hermes: ${withoutControls(error instanceof Error ? error.message : String(error))}`);
    return EXIT.failed;
  }
}

function oneName(words: readonly string[], verb: string): string {
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) {
    throw new UsageError(`mcp ${verb} takes one name: hermes mcp ${verb} <name>`);
  }
  return name;
}

function unknownServer(name: string, path: string): UsageError {
  return new UsageError(`no MCP server "${name}" in ${path}`);
}

function untilWhen(seconds: number | null): string {
  return seconds === null
    ? "when it has run out, log in again"
    : `it runs out in ${Math.round(seconds / 60)} min, then log in again`;
}

/** Best effort: the address is on the screen as well. */
function openBrowser(url: string, platform: Platform): void {
  const [program, ...args] = OPENERS[platform.os];
  try {
    const child = platform.spawn(program!, [...args, url], {
      cwd: platform.homeDir(),
      env: platform.env(),
      stdin: "null",
      onStdout: () => {},
      onStderr: () => {},
    });
    child.exited.catch(() => {/* there is no such program */});
    child.unref();
  } catch {
    // There is no browser here.
  }
}
