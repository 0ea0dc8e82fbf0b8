/**
 * `hermes model [show|list|set|refresh]`: the default model. `set` writes the config, after the model was checked;
 * `refresh` fetches what is known about models anew.
 */
import type { Hermes } from "@/app/mod.ts";
import type { ResolvedModel } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import { parseCommandLine, type ParsedArgs, UsageError } from "./args.ts";
import { asArgument } from "./exit_codes.ts";
import { hermesOptions, withHermes } from "./hermes_session.ts";
import { MODEL_COMMAND } from "./specs.ts";
import { type Terminal, withTerminal } from "./terminal.ts";
import { table } from "./text_layout.ts";

interface Context {
  readonly hermes: Hermes;
  readonly terminal: Terminal;
  readonly parsed: ParsedArgs;
  readonly words: readonly string[];
}

const SUBCOMMANDS: Readonly<Record<string, (context: Context) => Promise<number>>> = {
  show,
  list,
  set,
  refresh,
};

export async function run(args: readonly string[], platform: Platform): Promise<number> {
  const parsed = parseCommandLine(MODEL_COMMAND, args);
  const [name = "show", ...words] = parsed.positionals;
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  if (!subcommand) throw new UsageError(`unknown subcommand "${name}"; did you mean "model set ${name}"?`);
  return await withTerminal(
    platform,
    (terminal) =>
      withHermes(
        platform,
        hermesOptions(parsed),
        (hermes) => subcommand({ hermes, terminal, parsed, words }),
      ),
  );
}

function modelJson(model: ResolvedModel): Record<string, unknown> {
  return {
    model: model.model,
    provider: model.provider,
    label: model.label,
    base_url: model.baseUrl,
    api_mode: model.apiMode,
    context_window: model.contextWindow,
    is_demo: model.isDemo,
    source: model.source,
  };
}

const SOURCES: Readonly<Record<string, string>> = {
  request: "the command line",
  environment: "the environment",
  config: "the config",
  auto: "the keys that were found",
};

/** Where the choice came from, in words. */
export function chosenBy(model: ResolvedModel): string {
  return SOURCES[model.source] ?? model.source;
}

async function show({ hermes, terminal, parsed }: Context): Promise<number> {
  await hermes.models.settling?.();
  const model = hermes.models.resolve();
  if (parsed.has("json")) terminal.line(JSON.stringify(modelJson(model), null, 2));
  else {
    const rows = [
      ["model", model.model],
      ["provider", `${model.provider} (${model.label})`],
      ["endpoint", model.baseUrl || "none"],
      ["context", model.contextWindow === null ? "unknown" : `${model.contextWindow} tokens`],
      ["chosen by", chosenBy(model)],
    ];
    for (const line of table(rows, Math.max(terminal.columns, 100))) terminal.line(line);
  }
  return 0;
}

interface ProviderRow {
  readonly slug: string;
  readonly name: string;
  readonly is_current?: boolean;
  readonly authenticated?: boolean;
  readonly models?: readonly string[];
  readonly warning?: string;
  readonly key_env?: string;
}

/** What keeps a provider from being used, and what to set. */
function hintOf({ authenticated, key_env, warning }: ProviderRow): string {
  return authenticated === false && key_env ? `needs ${key_env}` : warning ?? "";
}

async function list({ hermes, terminal, parsed }: Context): Promise<number> {
  const options = await hermes.models.options({
    refresh: parsed.has("refresh"),
    includeUnconfigured: parsed.has("all"),
  });
  if (parsed.has("json")) {
    terminal.line(JSON.stringify(options, null, 2));
    return 0;
  }
  const { paint } = terminal;
  const rows = options.providers as readonly ProviderRow[];
  const widest = Math.max(0, ...rows.map((row) => row.slug.length));
  for (const row of rows) {
    const hint = hintOf(row) === "" ? "" : paint.dim(`  ${hintOf(row)}`);
    const slug = paint.bold(row.slug) + " ".repeat(widest - row.slug.length);
    terminal.line(`${row.is_current ? paint.green("* ") : "  "}${slug}  ${row.name}${hint}`);
    for (const model of row.models ?? []) {
      const isCurrent = row.is_current && model === options.model;
      terminal.line(`    ${isCurrent ? paint.green(`${model}  (in force)`) : model}`);
    }
  }
  return 0;
}

async function set({ hermes, terminal, words }: Context): Promise<number> {
  if (words.length === 0) throw new UsageError("model set needs a name: hermes model set provider:model");
  let current: ResolvedModel | null = null;
  try {
    current = hermes.models.resolve();
  } catch {
    // Nothing usable so far, which is why a model is being set.
  }
  const { model, warning } = await hermes.models.switchTo(words.join(" "), current).catch((error) => {
    throw asArgument(error);
  });
  await writeDefaultModel(hermes, model);
  if (warning) terminal.note(`hermes: warning: ${warning}`);
  terminal.line(`${model.model} (${model.provider}) is the default now  (${hermes.config.path})`);
  return 0;
}

/** Exit code 1 only when nothing at all could be read; the old knowledge stays in any case. */
async function refresh({ hermes, terminal, parsed }: Context): Promise<number> {
  const { models, lists, warnings } = await hermes.models.refreshCatalog();
  const failed = models === null && lists.length === 0 && warnings.length > 0;
  if (parsed.has("json")) {
    terminal.line(JSON.stringify({ models, lists, warnings }, null, 2));
    return failed ? 1 : 0;
  }
  if (models !== null) terminal.line(`catalogue: ${models} models`);
  for (const list of lists) terminal.line(`${list.provider}: ${list.models} models`);
  if (models === null && lists.length === 0 && !failed) terminal.line("nothing to refresh");
  for (const warning of warnings) terminal.note(`hermes: warning: ${warning}; what was known before is kept`);
  return failed ? 1 : 0;
}

/** Makes a model the default: name, provider and address (core.md F.4). */
async function writeDefaultModel(hermes: Hermes, model: ResolvedModel): Promise<void> {
  const { config } = hermes;
  await config.write(["model", "default"], model.model);
  await config.write(["model", "provider"], model.provider);
  await config.write(["model", "base_url"], model.baseUrl || undefined);
}
