/**
 * `hermes setup`: which provider, which key, which model, one test call, then the config and `.env` are written.
 * Without a terminal it asks nothing: it needs `--provider`, or explains itself. Exit 0 only when a real model can
 * be used afterwards; the built-in demo is offered and does not count (acp.md C1).
 */
import type { Hermes } from "@/app/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import { parseCommandLine, type ParsedArgs, UsageError } from "./args.ts";
import { EXIT } from "./exit_codes.ts";
import { withHermes } from "./hermes_session.ts";
import { openLineInput } from "./line_input.ts";
import { type Asker, LineAsker } from "./setup_asker.ts";
import { askForChoice } from "./setup_dialog.ts";
import { describeChoice, type ModelSetup, saveSetup, testSetup } from "./setup_store.ts";
import { SETUP } from "./specs.ts";
import { type Terminal, withTerminal } from "./terminal.ts";

export async function run(args: readonly string[], platform: Platform): Promise<number> {
  const parsed = parseCommandLine(SETUP, args);
  if (parsed.positionals.length > 0) throw new UsageError("setup takes options only");
  return await withTerminal(platform, async (terminal) => {
    if (parsed.has("demo")) return tellDemo(terminal);
    const choice = choiceOfOptions(parsed);
    if (!choice && !(terminal.stdinIsTty && terminal.stdoutIsTty)) return explainNoTerminal(terminal);
    return await withHermes(
      platform,
      { surface: "cli" },
      (hermes) =>
        choice
          ? setUpSilently(hermes, terminal, choice, !parsed.has("no-test"))
          : setUpByDialog(hermes, terminal, platform),
    );
  });
}

function choiceOfOptions(parsed: ParsedArgs): ModelSetup | null {
  const provider = parsed.value("provider");
  const [model, baseUrl, keyEnv] = ["model", "base-url", "key-env"].map((name) => parsed.value(name));
  if (provider === undefined) {
    if (model ?? baseUrl ?? keyEnv) throw new UsageError("setup needs --provider with the other options");
    return null;
  }
  if (provider === "builtin") {
    throw new UsageError("the built-in demo needs no setup: add --demo to any command");
  }
  if (provider === "custom" && baseUrl === undefined) {
    throw new UsageError("--provider custom needs --base-url, for example http://127.0.0.1:8000/v1");
  }
  if (baseUrl !== undefined && !/^https?:\/\/[^/\s]+/.test(baseUrl)) {
    throw new UsageError(`--base-url takes an http(s) address; got "${baseUrl}"`);
  }
  if (keyEnv !== undefined && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(keyEnv)) {
    throw new UsageError("--key-env takes the name of an environment variable, not the key itself");
  }
  return {
    provider,
    model: model ?? "",
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(keyEnv === undefined ? {} : { keyEnv }),
  };
}

function explainNoTerminal(terminal: Terminal): number {
  terminal.note("hermes: setup asks questions and needs a terminal, but stdin or stdout is not one");
  terminal.note(
    "  in a script: hermes setup --provider <id> --model <name> [--base-url <url>] [--key-env <NAME>]",
  );
  terminal.note("  without any setup: hermes demo, or --demo on any command");
  return EXIT.failed;
}

function tellDemo(terminal: Terminal): number {
  terminal.line("The built-in demo model needs no setup, no key and no network:");
  terminal.line("  hermes demo          all doors at work, in a throw-away folder");
  terminal.line("  hermes chat --demo   talk to it yourself");
  terminal.line("It is a small set of rules, not an AI. No provider is configured by this.");
  return EXIT.failed;
}

async function setUpSilently(
  hermes: Hermes,
  terminal: Terminal,
  choice: ModelSetup,
  test: boolean,
): Promise<number> {
  if (choice.keyEnv !== undefined && hermes.config.env(choice.keyEnv) === undefined) {
    terminal.note(
      `hermes: ${choice.keyEnv} is not set, neither in the environment nor in ${hermes.config.envPath}`,
    );
    return EXIT.failed;
  }
  const undo = await saveSetup(hermes, choice);
  const outcome = await testSetup(hermes, terminal, test);
  if (!outcome.ok) {
    await undo();
    terminal.note(`hermes: ${outcome.message}`);
    terminal.note(
      test ? "  nothing was written; --no-test skips the test call" : "  nothing was written",
    );
    return outcome.isUnknown ? EXIT.usage : EXIT.failed;
  }
  terminal.line(`${describeChoice(hermes)}  (${hermes.config.path})`);
  return EXIT.done;
}

/** Arrow keys, unless the terminal is too simple for them. */
async function openAsker(terminal: Terminal, platform: Platform): Promise<Asker> {
  const { TERM } = platform.env();
  if (TERM === "dumb") return new LineAsker(openLineInput(terminal, platform), terminal);
  const { openKeyAsker } = await import("./setup_keys.ts");
  return await openKeyAsker(terminal);
}

async function setUpByDialog(hermes: Hermes, terminal: Terminal, platform: Platform): Promise<number> {
  const asker = await openAsker(terminal, platform);
  try {
    const outcome = await askForChoice({ hermes, terminal, asker });
    switch (outcome) {
      case "configured":
        return EXIT.done;
      case "demo":
        return tellDemo(terminal);
      case "kept":
        return EXIT.failed;
      case "cancelled":
        terminal.note("hermes: setup was cancelled; nothing was changed");
        return EXIT.failed;
    }
  } finally {
    asker.close();
  }
}
