/**
 * `hermes auth list|add|remove|wake`: several keys of one provider in `auth.json` (core.md F.3). A key is asked for, or
 * read from stdin; it is never an argument, and nothing prints one. Calls no model.
 */
import { startHermes } from "@/app/base.ts";
import type { HermesBase } from "@/app/mod.ts";
import { loadAuth } from "@/models/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import { parseCommandLine, type ParsedArgs, UsageError } from "./args.ts";
import { openLineInput } from "./line_input.ts";
import { AUTH } from "./specs.ts";
import { closest } from "./suggest.ts";
import { type Terminal, withTerminal } from "./terminal.ts";
import { withoutControls } from "./text_layout.ts";

interface Context {
  readonly hermes: HermesBase;
  readonly terminal: Terminal;
  readonly parsed: ParsedArgs;
  readonly words: readonly string[];
}

type Auth = Awaited<ReturnType<typeof loadAuth>>;

const SUBCOMMANDS: Readonly<Record<string, (context: Context, auth: Auth) => Promise<number> | number>> = {
  list,
  add,
  remove,
  wake,
};

export async function run(args: readonly string[], platform: Platform): Promise<number> {
  const parsed = parseCommandLine(AUTH, args);
  const [name = "list", ...words] = parsed.positionals;
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  if (!subcommand) {
    const near = closest(name, Object.keys(SUBCOMMANDS));
    throw new UsageError(`unknown subcommand "${name}"` + (near ? `; did you mean "auth ${near}"?` : ""));
  }
  const auth = await loadAuth();
  return await withTerminal(platform, async (terminal) => {
    const hermes = startHermes(platform, { surface: "cli" });
    return await subcommand({ hermes, terminal, parsed, words }, auth);
  });
}

function list({ hermes, terminal, parsed, words }: Context, auth: Auth): number {
  const wanted = words[0] === undefined ? null : poolOf(words, auth, 1, "list");
  const { keys, isBroken } = auth.listPooled(hermes.platform, hermes.home);
  const shown = keys.filter(({ provider }) => wanted === null || provider === wanted);
  if (isBroken) {
    terminal.note(`hermes: warning: ${auth.authPath(hermes.home)} is broken, its keys are not used`);
  }
  if (parsed.has("json")) {
    const rows = shown.map((key) => ({
      provider: key.provider,
      id: key.id,
      label: key.label,
      source: key.source,
      fingerprint: key.fingerprint,
      requests: key.requests,
      status: key.status,
      rests_until: key.restsUntil,
      error_code: key.errorCode,
    }));
    terminal.line(JSON.stringify({ keys: rows }, null, 2));
    return 0;
  }
  if (shown.length === 0) terminal.note("no keys in auth.json; hermes auth add <provider> adds one");
  for (const { provider, id, label, source, requests, restsUntil, errorCode } of shown) {
    const state = restsUntil === null
      ? "ok"
      : `rests until ${new Date(restsUntil * 1000).toISOString()} (${errorCode})`;
    const name = `${provider}  ${id}  ${withoutControls(label)}`;
    terminal.line(`${name}  ${source}  ${requests} ${requests === 1 ? "request" : "requests"}  ${state}`);
  }
  return 0;
}

async function add(context: Context, auth: Auth): Promise<number> {
  const { hermes, terminal, parsed, words } = context;
  const provider = poolOf(words, auth, 1, "add");
  const label = parsed.value("label")?.trim() || null;
  if (label !== null && label.length > 60) throw new UsageError("--label takes at most 60 characters");
  const key = await askKey(context, provider);
  if (key === null) return 1;
  const id = await added(auth, context, { provider, key, label });
  if (id === null) {
    terminal.note(`hermes: ${provider} has this key already`);
    return 1;
  }
  const count =
    auth.listPooled(hermes.platform, hermes.home).keys.filter((one) => one.provider === provider).length;
  if (parsed.has("json")) terminal.line(JSON.stringify({ provider, id }));
  else {terminal.line(
      `added ${id} to ${provider}, which has ${count} ${count === 1 ? "key" : "keys"} in auth.json`,
    );}
  return 0;
}

async function added(
  auth: Auth,
  { hermes }: Context,
  entry: { provider: string; key: string; label: string | null },
): Promise<string | null> {
  try {
    return await auth.addPooled(hermes.platform, hermes.home, entry);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError("this can be no key");
    throw error;
  }
}

async function askKey({ terminal, hermes }: Context, provider: string): Promise<string | null> {
  const input = openLineInput(terminal, hermes.platform);
  try {
    const answer = await input.ask(`Key for ${provider} (not shown): `, { hidden: true });
    if (answer.type !== "line" || answer.text.trim() === "") {
      terminal.note("hermes: no key was given");
      return null;
    }
    return answer.text.trim();
  } finally {
    input.close();
  }
}

async function remove({ hermes, terminal, words }: Context, auth: Auth): Promise<number> {
  const provider = poolOf(words, auth, 2, "remove");
  const removed = await auth.removePooled(hermes.platform, hermes.home, provider, words[1]!);
  if (removed === 0) {
    terminal.note(`hermes: ${provider} has no key "${words[1]}" (hermes auth list)`);
    return 1;
  }
  terminal.line(`removed ${removed} ${removed === 1 ? "key" : "keys"} of ${provider}`);
  return 0;
}

async function wake({ hermes, terminal, words }: Context, auth: Auth): Promise<number> {
  const provider = poolOf(words, auth, 1, "wake");
  const woken = await auth.wakePooled(hermes.platform, hermes.home, provider);
  terminal.line(`${woken} ${woken === 1 ? "key" : "keys"} of ${provider} rested, and will be used again`);
  return 0;
}

function poolOf(words: readonly string[], auth: Auth, most: number, subcommand: string): string {
  const [name] = words;
  if (words.length < most || name === undefined) {
    throw new UsageError(
      `auth ${subcommand} needs a provider${most > 1 ? " and the id or label of a key" : ""}`,
    );
  }
  if (words.length > most) {
    throw new UsageError(`unexpected argument "${words[most]}"; a key is never an argument`);
  }
  const provider = auth.poolName(name);
  if (provider === null) {
    throw new UsageError(
      `"${name}" is no provider with keys; hermes model list --all shows them, or custom:<name>`,
    );
  }
  return provider;
}
