/**
 * `hermes auth list|add|remove|wake`: several keys of one provider in `auth.json` (core.md F.3). A key is asked for, or
 * read from stdin; it is never an argument, and nothing prints one. Calls no model.
 */
import { startHermes } from "@/app/base.ts";
import type { HermesBase } from "@/app/mod.ts";
import { plural } from "@/lib/plural.ts";
import { createRedactor } from "@/lib/redact.ts";
import { loadAuth } from "@/models/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import { parseCommandLine, type ParsedArgs, UsageError } from "./args.ts";
import { EXIT } from "./exit_codes.ts";
import { askOnce } from "./question.ts";
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
  if (shown.length === 0 && wanted !== null) {
    terminal.note(`${wanted} has no keys in auth.json; hermes auth add ${wanted} adds one`);
  } else if (shown.length === 0) {
    terminal.note("no keys in auth.json; hermes auth add <provider> adds one");
  }
  for (const { provider, id, label, source, requests, restsUntil, errorCode } of shown) {
    const state = restsUntil === null
      ? "ok"
      : `rests until ${new Date(restsUntil * 1000).toISOString()} (${errorCode})`;
    const name = `${provider}  ${id}  ${withoutControls(label)}`;
    terminal.line(`${name}  ${source}  ${plural(requests, "request")}  ${state}`);
  }
  return 0;
}

async function add(context: Context, auth: Auth): Promise<number> {
  const { hermes, terminal, parsed, words } = context;
  const provider = poolOf(words, auth, 1, "add");
  const label = labelOf(parsed);
  const key = await askKey(context, provider);
  if (typeof key === "number") return key;
  const id = await added(auth, context, { provider, key, label });
  if (id === null) {
    terminal.note(`hermes: ${provider} has this key already`);
    return EXIT.failed;
  }
  const count = keysOf(context, auth, provider).length;
  if (parsed.has("json")) terminal.line(JSON.stringify({ provider, id }));
  else {terminal.line(
      `added ${id} to ${provider}, which has ${plural(count, "key")} in auth.json`,
    );}
  const endpoint = endpointOf(provider);
  const endpoints = (hermes.config.get("providers") ?? {}) as Readonly<Record<string, unknown>>;
  if (endpoint !== null && !Object.hasOwn(endpoints, endpoint)) {
    terminal.note(
      `hermes: warning: no endpoint of yours is called ${endpoint} yet: ` +
        `hermes config set providers.${endpoint}.base_url <url>`,
    );
  }
  return EXIT.done;
}

/** `custom:<name>` is the entry `providers.<name>`; `null` for a provider that is known. */
function endpointOf(provider: string): string | null {
  return provider.startsWith("custom:") ? provider.slice("custom:".length) : null;
}

/** A label is shown, so it may be no key. */
function labelOf(parsed: ParsedArgs): string | null {
  const label = parsed.value("label")?.trim() || null;
  if (label === null) return null;
  if (label.length > 60) throw new UsageError("--label takes at most 60 characters");
  const redact = createRedactor({ knownSecrets: () => [], enabled: true });
  if (redact(label, "full") !== label) {
    throw new UsageError("--label takes a name, and this looks like a key; the key itself is asked for");
  }
  return label;
}

function keysOf({ hermes }: Context, auth: Auth, provider: string): ReturnType<Auth["listPooled"]>["keys"] {
  return auth.listPooled(hermes.platform, hermes.home).keys.filter((one) => one.provider === provider);
}

async function added(
  auth: Auth,
  { hermes }: Context,
  entry: { provider: string; key: string; label: string | null },
): Promise<string | null> {
  try {
    return await auth.addPooled(hermes.platform, hermes.home, entry);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError("this can be no key: it is too short, has a space in it or is a stand-in");
  }
}

/** The key, or the exit code where none was given. */
async function askKey({ terminal, hermes }: Context, provider: string): Promise<string | number> {
  const prompt = `Key for ${provider} (not shown): `;
  const answer = await askOnce(prompt, { hidden: true }, terminal, hermes.platform);
  if (answer.type === "line" && answer.text.trim() !== "") return answer.text.trim();
  terminal.note("hermes: no key was given, nothing was changed");
  return answer.type === "interrupt" ? EXIT.interrupted : EXIT.failed;
}

async function remove(context: Context, auth: Auth): Promise<number> {
  const { hermes, terminal, words } = context;
  const provider = poolOf(words, auth, 2, "remove");
  const name = words[1]!;
  const matches = keysOf(context, auth, provider).filter(({ id, label }) => id === name || label === name);
  if (matches.length > 1) {
    const ids = matches.map(({ id }) => id).join(", ");
    throw new UsageError(`${matches.length} keys of ${provider} have this label; name one by its id: ${ids}`);
  }
  const removed = await auth.removePooled(hermes.platform, hermes.home, provider, name);
  if (removed === 0) {
    // Not repeated: it may be the key itself.
    terminal.note(`hermes: ${provider} has no key with this id or label; hermes auth list shows them`);
    return EXIT.failed;
  }
  terminal.line(`removed ${plural(removed, "key")} of ${provider}`);
  const source = matches[0]?.source ?? "manual";
  if (source !== "manual") {
    const place = source === "config" ? "config.jsonc" : source.replace(/^env:/, "");
    terminal.note(`hermes: while it stands in ${place}, it joins the others again`);
  }
  return EXIT.done;
}

async function wake(context: Context, auth: Auth): Promise<number> {
  const { hermes, terminal, words } = context;
  const provider = poolOf(words, auth, 1, "wake");
  const woken = await auth.wakePooled(hermes.platform, hermes.home, provider);
  if (woken > 0) {
    terminal.line(`${plural(woken, "key")} of ${provider} rested, and will be used again`);
  } else if (keysOf(context, auth, provider).length > 0) terminal.line(`no key of ${provider} rests`);
  else terminal.note(`${provider} has no keys in auth.json; hermes auth add ${provider} adds one`);
  return EXIT.done;
}

function poolOf(words: readonly string[], auth: Auth, most: number, subcommand: string): string {
  const [name] = words;
  if (words.length < most || name === undefined) {
    throw new UsageError(
      `auth ${subcommand} needs a provider${most > 1 ? " and the id or label of a key" : ""}`,
    );
  }
  if (words.length > most) {
    // Not repeated: it may be the key itself.
    throw new UsageError(
      `auth ${subcommand} takes no more than ${
        most === 1 ? "a provider" : "a provider and an id or label"
      }; ` +
        "a key is never an argument, it is asked for",
    );
  }
  const provider = auth.poolName(name);
  if (provider !== null) return provider;
  if (name.trim().toLowerCase() === "custom") {
    throw new UsageError(
      "the endpoint of model.base_url has one key; to give it several, name it as providers.<name>, " +
        "and say custom:<name>",
    );
  }
  throw new UsageError(
    `"${name}" is no provider with keys; hermes model list --all shows them, or custom:<name>`,
  );
}
