/**
 * The dispatcher: one written table of commands, each loaded only when it is the one that was asked for.
 * Errors of a command end here, as text on stderr and an exit code. Imports nothing eagerly that a server's
 * start would have to pay for.
 */
import type { Platform } from "@/platform/mod.ts";
import type { CommandGroup } from "./help.ts";

export type Run = (args: readonly string[], platform: Platform) => Promise<number>;

export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly group: "Doors" | "Use it" | "Manage" | "More";
  readonly load: () => Promise<{ readonly run: Run }>;
}

export const COMMANDS: readonly Command[] = [
  {
    name: "acp",
    summary: "Serve editors: Agent Client Protocol on stdio",
    group: "Doors",
    load: () => import("./acp.ts"),
  },
  {
    name: "gateway",
    summary: "Serve hosts of your own: JSON-RPC on stdio or a WebSocket",
    group: "Doors",
    load: () => import("./gateway.ts"),
  },
  {
    name: "serve",
    summary: "Serve programs and browsers: OpenAI-compatible HTTP API, console",
    group: "Doors",
    load: () => import("./serve.ts"),
  },
  {
    name: "run",
    summary: "Run one prompt and print the answer, for scripts and CI",
    group: "Use it",
    load: () => import("./run.ts"),
  },
  {
    name: "chat",
    summary: "Talk to the agent in the terminal",
    group: "Use it",
    load: () => import("./chat.ts"),
  },
  {
    name: "demo",
    summary: "See all doors at work; no key, no network",
    group: "Use it",
    load: () => import("./demo.ts"),
  },
  {
    name: "setup",
    summary: "Choose a provider and a model",
    group: "Manage",
    load: () => import("./setup.ts"),
  },
  {
    name: "model",
    summary: "Show, list or set the default model",
    group: "Manage",
    load: () => import("./model.ts"),
  },
  {
    name: "auth",
    summary: "Several keys of one provider: list, add, remove, wake",
    group: "Manage",
    load: () => import("./auth.ts"),
  },
  {
    name: "mcp",
    summary: "Add, list, try, remove and log in at MCP servers",
    group: "Manage",
    load: () => import("./mcp.ts"),
  },
  {
    name: "sessions",
    summary: "List, show, search, export, delete; put files back",
    group: "Manage",
    load: () => import("./sessions.ts"),
  },
  {
    name: "config",
    summary: "Read and write settings",
    group: "Manage",
    load: () => import("./config.ts"),
  },
  {
    name: "policy",
    summary: "Show the rules for approvals, and which one decides",
    group: "Manage",
    load: () => import("./policy.ts"),
  },
  {
    name: "audit",
    summary: "What was asked, answered, run and changed",
    group: "Manage",
    load: () => import("./audit.ts"),
  },
  {
    name: "doctor",
    summary: "Check that everything is in place",
    group: "Manage",
    load: () => import("./doctor.ts"),
  },
  { name: "version", summary: "Show the version", group: "More", load: () => import("./version.ts") },
  {
    name: "completions",
    summary: "Print a completion script for bash, zsh or fish",
    group: "More",
    load: () => import("./completions.ts"),
  },
];

/** What the program starts itself for, whatever its file is called; not for people. */
const OWN_WORK: readonly Pick<Command, "name" | "load">[] = [
  // By the core, see `src/core/image_child.ts`.
  { name: "image-fit", load: () => import("./image_fit/mod.ts") },
  // By a door, see `src/app/fold_back.ts`.
  { name: "fold-back", load: () => import("./fold_back.ts") },
];

const GROUPS = ["Doors", "Use it", "Manage", "More"] as const;

function helpGroups(): CommandGroup[] {
  return GROUPS.map((title) => ({ title, commands: COMMANDS.filter((command) => command.group === title) }));
}

/** True when `--help` stands among the options, not after `--`. */
function asksForHelp(args: readonly string[]): boolean {
  for (const arg of args) {
    if (arg === "--") return false;
    if (arg === "--help" || arg === "-h") return true;
  }
  return false;
}

async function printMainHelp(platform: Platform): Promise<number> {
  const [{ withTerminal }, { renderMainHelp }, { VERSION }] = await Promise.all([
    import("./terminal.ts"),
    import("./help.ts"),
    import("@/app/version.ts"),
  ]);
  return await withTerminal(platform, (terminal) => {
    terminal.line(renderMainHelp(VERSION, helpGroups(), terminal.paint));
    return Promise.resolve(0);
  });
}

async function printCommandHelp(command: Command, platform: Platform): Promise<number> {
  const [{ withTerminal }, { renderCommandHelp }, { SPECS }] = await Promise.all([
    import("./terminal.ts"),
    import("./help.ts"),
    import("./specs.ts"),
  ]);
  return await withTerminal(platform, (terminal) => {
    terminal.line(renderCommandHelp(command, SPECS[command.name]!, terminal.paint));
    return Promise.resolve(0);
  });
}

async function runCommand(command: Command, args: readonly string[], platform: Platform): Promise<number> {
  if (asksForHelp(args)) return await printCommandHelp(command, platform);
  try {
    const { run } = await command.load();
    return await run(args, platform);
  } catch (error) {
    return await tellError(error, command.name, platform);
  }
}

async function tellError(error: unknown, command: string, platform: Platform): Promise<number> {
  const [{ describeError }, { fitToStderr }] = await Promise.all([
    import("./errors.ts"),
    import("./terminal.ts"),
  ]);
  const told = describeError(error, command);
  for (const line of told.lines) platform.stderr(fitToStderr(line));
  return told.exitCode;
}

async function refuseUnknown(word: string, platform: Platform): Promise<number> {
  const [{ closest }, { UsageError }] = await Promise.all([import("./suggest.ts"), import("./args.ts")]);
  const near = closest(word.replace(/^-+/, ""), COMMANDS.map((command) => command.name));
  const kind = word.startsWith("-") ? "option" : "command";
  const text = `unknown ${kind} "${word}"` + (near ? `; did you mean "hermes ${near}"?` : "");
  return await tellError(new UsageError(text), "", platform);
}

/** Some registries start the program under this name without a subcommand. */
function wasStartedAsAcp(platform: Platform): boolean {
  const isAcp = (path: string) => /(^|[/\\])hermes-acp(\.exe)?$/i.test(path);
  if (isAcp(platform.execPath())) return true;
  // Through a link the program's file has its own name; the one it was called by stands here.
  if (platform.os !== "linux") return false;
  return isAcp(platform.files.readTextSync("/proc/self/cmdline")?.split("\0")[0] ?? "");
}

/** What stands before the command: `-p <name>`, `--profile <name>`, `--profile=<name>`. */
function takeProfile(args: readonly string[]): { name: string | undefined; rest: readonly string[] } {
  const [first = ""] = args;
  if (first.startsWith("--profile=")) return { name: first.slice("--profile=".length), rest: args.slice(1) };
  if (first !== "-p" && first !== "--profile") return { name: undefined, rest: args };
  return { name: args[1] ?? "", rest: args.slice(2) };
}

/** Runs the program with the arguments after its name; the result is the exit code. */
export async function main(args: readonly string[], platform: Platform): Promise<number> {
  const { name, rest } = takeProfile(args);
  const env = platform.env();
  // A home that was named is the home: the profile in the environment is then a label and nothing more.
  const wanted = name ?? (env["HERMES_HOME"] ? undefined : env["HERMES_PROFILE"]?.trim() || undefined);
  if (wanted !== undefined) {
    try {
      const { enterProfile } = await import("./profile.ts");
      return await dispatch(rest, enterProfile(wanted, rest[0], platform));
    } catch (error) {
      return await tellError(error, "", platform);
    }
  }
  if (!env["HERMES_HOME"]) await lookForSticky(platform);
  return await dispatch(rest, platform);
}

/** A profile that was made the usual one elsewhere is not taken here, and that is said. */
async function lookForSticky(platform: Platform): Promise<void> {
  const sticky = platform.files.readTextSync(`${platform.homeDir()}/.hermes/active_profile`);
  if (sticky !== null) (await import("./profile.ts")).warnOfSticky(sticky, platform);
}

async function dispatch(args: readonly string[], platform: Platform): Promise<number> {
  const own = OWN_WORK.find(({ name }) => name === args[0]);
  if (own) return await (await own.load()).run(args.slice(1), platform);
  // A command says itself what is wanted; the name the program has is looked for only where none does.
  const isCommand = COMMANDS.some((command) => command.name === args[0]);
  const [first, ...rest] = !isCommand && wasStartedAsAcp(platform) ? ["acp", ...args] : args;
  switch (first) {
    case undefined:
    case "help":
    case "--help":
    case "-h":
      return await helpFor(rest[0], platform);
    case "--version":
    case "-v":
      return await dispatch(["version", ...rest], platform);
    case "--setup":
      return await dispatch(["setup", ...rest], platform);
  }
  const command = COMMANDS.find((candidate) => candidate.name === first);
  return command ? await runCommand(command, rest, platform) : await refuseUnknown(first, platform);
}

async function helpFor(word: string | undefined, platform: Platform): Promise<number> {
  if (word === undefined) return await printMainHelp(platform);
  const command = COMMANDS.find((candidate) => candidate.name === word);
  return command ? await printCommandHelp(command, platform) : await refuseUnknown(word, platform);
}
