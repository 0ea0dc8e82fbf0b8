/** `--help` texts from the option tables. Pure: tables in, text out. */
import { type CommandSpec, HELP_OPTION, type OptionSpec } from "./args.ts";
import { EXIT_HELP } from "./exit_codes.ts";
import type { Paint } from "./paint.ts";
import { pad, widthOf, wrap } from "./text_layout.ts";

const WIDTH = 80;

function optionNames(option: OptionSpec): string {
  const short = option.short ? `-${option.short}, ` : "    ";
  return `${short}--${option.name}${option.value ? ` ${option.value}` : ""}`;
}

/** Name on the left, wrapped text on the right; a name that is too long stands on a line of its own. */
export function definitions(
  rows: readonly (readonly [string, string])[],
  paint: Paint,
  width = WIDTH,
): string[] {
  const left = Math.min(26, Math.max(...rows.map(([name]) => widthOf(name)))) + 4;
  return rows.flatMap(([name, text]) => {
    const lines = wrap(text, width - left);
    if (widthOf(name) + 4 > left) {
      const [first = "", ...more] = wrap(name, width - 4);
      const names = [`  ${first}`, ...more.map((line) => `    ${line}`)].map((line) => paint.cyan(line));
      return [...names, ...lines.map((line) => " ".repeat(left) + line)];
    }
    const shown = `  ${paint.cyan(name)}`;
    return lines.map((line, i) => (i === 0 ? pad(shown, left) : " ".repeat(left)) + line);
  });
}

function section(title: string, lines: readonly string[], paint: Paint): string[] {
  return lines.length === 0 ? [] : ["", paint.bold(title), ...lines];
}

function examples(spec: CommandSpec, paint: Paint): string[] {
  return (spec.examples ?? []).flatMap(([command, meaning]) => [
    `  ${paint.dim("# " + meaning)}`,
    `  ${command}`,
  ]);
}

export interface CommandLine {
  readonly name: string;
  readonly summary: string;
}

export function renderCommandHelp(command: CommandLine, spec: CommandSpec, paint: Paint): string {
  const subcommands = (spec.subcommands ?? []).map((sub) =>
    [`${sub.name} ${sub.args}`.trim(), sub.summary] as const
  );
  const options = [...spec.options, HELP_OPTION].map((option) =>
    [optionNames(option), option.summary] as const
  );
  const codes = spec.listsExitCodes ? EXIT_HELP.map(([code, text]) => [String(code), text] as const) : [];
  return [
    `${paint.bold(`hermes ${command.name}`)}: ${command.summary}`,
    ...section("Usage", spec.usage.map((form) => `  hermes ${command.name} ${form}`.trimEnd()), paint),
    ...(spec.about ? ["", ...wrap(spec.about, WIDTH)] : []),
    ...section("Subcommands", subcommands.length ? definitions(subcommands, paint) : [], paint),
    ...section("Options", definitions(options, paint), paint),
    ...section("Examples", examples(spec, paint), paint),
    ...(spec.tables ?? []).flatMap(({ title, rows }) => section(title, definitions(rows, paint), paint)),
    ...section("Exit codes", codes.length ? definitions(codes, paint) : [], paint),
  ].join("\n");
}

export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly CommandLine[];
}

export function renderMainHelp(version: string, groups: readonly CommandGroup[], paint: Paint): string {
  const widest = Math.max(...groups.flatMap((group) => group.commands.map((c) => c.name.length)));
  const lines = (group: CommandGroup) =>
    group.commands.map((c) => `  ${paint.cyan(c.name.padEnd(widest))}  ${c.summary}`);
  return [
    `${paint.bold("hermes")} ${version}: one AI agent that your editor, apps and scripts can drive`,
    ...section("Usage", ["  hermes <command> [options]", "  hermes <command> --help"], paint),
    ...groups.flatMap((group) => section(group.title, lines(group), paint)),
    ...section(
      "Options",
      definitions([
        ["-h, --help", "Show this help"],
        ["-v, --version", "Show the version"],
        ["-p, --profile <name>", "Another data home, before the command; setup begins one"],
        ["    --setup", "The same as hermes setup"],
      ], paint),
      paint,
    ),
    ...section("Start here", [
      `  hermes demo            ${paint.dim("# watch it work: no key, no network")}`,
      `  hermes chat --demo     ${paint.dim("# talk to the built-in demo model yourself")}`,
      `  hermes setup           ${paint.dim("# choose a real model: a key or a local server")}`,
    ], paint),
    ...section("Environment", [
      ...definitions([
        ["HERMES_HOME", "Where config.jsonc, .env and hermes.db live (default ~/.hermes)"],
        ["HERMES_MODEL", "Model for new sessions, for example openrouter:anthropic/claude-sonnet-4.6"],
        ["HERMES_QUIET", "1: errors and warnings on stderr, no progress, notices and banners"],
        ["NO_COLOR", "No colours"],
      ], paint),
    ], paint),
    "",
    "Nothing is sent anywhere but to the model provider you choose and to what tools",
    "open for you: no telemetry.",
  ].join("\n");
}
