/**
 * The option tables of all commands, as plain data: parser, `--help` and completions are made from them.
 * A command's module imports its own table; names and one-line summaries stand in `mod.ts`.
 */
import type { CommandSpec, OptionSpec } from "./args.ts";

const DEMO: OptionSpec = {
  name: "demo",
  summary: "The built-in demo model: no key, no network",
};
const MODEL: readonly OptionSpec[] = [
  { name: "model", short: "m", value: "<name>", summary: "Model for this start: name, or provider:name" },
  { name: "provider", value: "<id>", summary: "Provider for this start (hermes model list shows them)" },
  DEMO,
];
const YOLO: OptionSpec = {
  name: "yolo",
  summary: "Run dangerous commands without asking; what is blocked outright stays blocked",
};
const RECORD: readonly OptionSpec[] = [
  {
    name: "record",
    value: "<file>",
    summary: "Write down what the model answers, secrets taken out; --model builtin:script:<file> plays it",
  },
  { name: "record-overwrite", summary: "Replace that file if it is there" },
];
const JSON_OUT: OptionSpec = { name: "json", summary: "JSON on stdout, for programs" };
const LIMIT: OptionSpec = {
  name: "limit",
  short: "n",
  value: "<n>",
  summary: "At most so many (default 20)",
};
const SESSION: OptionSpec = {
  name: "session",
  short: "s",
  value: "<id>",
  summary: "Continue a stored session: its id, its title, or the unique beginning of its id",
};
const CWD: OptionSpec = { name: "cwd", short: "C", value: "<dir>", summary: "Work in this directory" };

export const ACP: CommandSpec = {
  usage: ["[options]"],
  about:
    "Speaks the Agent Client Protocol (JSON-RPC, one message per line) on stdin and stdout, for editors such as " +
    "Zed. Editors start it themselves: the command is `hermes`, the argument `acp`. Logs go to stderr. Ends with " +
    "exit code 0 when stdin ends.",
  options: [
    ...MODEL,
    YOLO,
    ...RECORD,
    { name: "check", summary: "Test the installation without serving; no provider needed" },
    { name: "setup", summary: "Choose a provider and a model, then exit (= hermes setup)" },
    { name: "version", summary: "Print the bare version" },
    { name: "setup-browser", summary: "Browser tooling; not included in this build" },
    { name: "yes", summary: "Answer --setup-browser's questions with yes" },
    { name: "accept-hooks", summary: "Accepted for compatibility" },
  ],
  examples: [
    ["hermes acp --check", "is everything in place?"],
    ["hermes acp --demo", "serve the demo model to your editor"],
  ],
};

export const GATEWAY: CommandSpec = {
  usage: ["[options]", "--ws [--host <address>] [--port <n>]"],
  about:
    "Speaks JSON-RPC with event notifications: one JSON value per line on stdin and stdout, or over a WebSocket. " +
    "For terminal interfaces and custom hosts that want to show a whole session: streaming, approvals, steering.",
  options: [
    ...MODEL,
    YOLO,
    ...RECORD,
    { name: "ws", summary: "Serve WebSockets at /api/ws instead of stdio" },
    { name: "host", value: "<address>", summary: "Address to listen on with --ws (default 127.0.0.1)" },
    { name: "port", value: "<n>", summary: "Port with --ws (default 9119; 0 = any free one)" },
    { name: "schema", summary: "Print the protocol as OpenRPC with JSON Schema, and end" },
    { name: "types", summary: "Print the protocol as TypeScript declarations, and end" },
  ],
  examples: [
    ["hermes gateway --demo", 'then type {"id":1,"method":"session.create"} to see it answer'],
  ],
};

export const SERVE: CommandSpec = {
  usage: [
    "[options]",
    "keys add <name> --scopes <list>",
    "keys list [--json]",
    "keys revoke <name>",
    "health",
  ],
  about:
    "An OpenAI-compatible HTTP API: chat completions and responses, streaming or not, runs that outlive their " +
    "connection, sessions; GET /docs describes it. " +
    "The agent runs its tools on this machine. The same address in a browser is a console. On a loopback address a " +
    "key is made at the first start, stored and shown once; elsewhere API_SERVER_KEY must be set. Prints one ready " +
    "line on stdout.\n\n" +
    "That key may do everything. `keys` makes further ones with scopes (chat, runs, runs:read, approve, sessions, " +
    "admin): each sees only what it has made. They are kept hashed in config.jsonc.",
  subcommands: [
    { name: "keys", args: "add|list|revoke [name]", summary: "Keys with scopes; a new one is shown once" },
    { name: "health", args: "", summary: "Is the server of these settings up? Exit code 0 or 1" },
  ],
  options: [
    ...MODEL,
    YOLO,
    ...RECORD,
    { name: "host", value: "<address>", summary: "Address to listen on (default 127.0.0.1)" },
    { name: "port", value: "<n>", summary: "Port (default 8642; 0 = any free one)" },
    {
      name: "log-format",
      value: "<format>",
      summary: "Log lines on stderr as text, or as json with a line per request",
      choices: ["text", "json"],
    },
    {
      name: "drain",
      value: "<s>",
      summary: "After a stop signal, wait so long for running turns (default 0)",
    },
    { name: "scopes", value: "<list>", summary: "keys add: what it may do, separated by commas" },
    { name: "workspace", value: "<dir>", summary: "keys add: where its sessions work" },
    { name: "rate-limit", value: "<n>", summary: "keys add: requests per minute" },
    JSON_OUT,
  ],
  examples: [
    ["hermes serve keys add ci --scopes runs,approve", "a key for a pipeline"],
    ["hermes serve --demo --port 0", "serve the demo model on any free port"],
    ["API_SERVER_KEY=… hermes serve --host 0.0.0.0", "in a container"],
  ],
};

export const RUN: CommandSpec = {
  usage: ["[options] <prompt…>", "[options] < prompt.txt"],
  about:
    "Runs one prompt to its end and prints the answer on stdout, nothing else; what the agent does is told on " +
    "stderr when that is a terminal. Without a prompt, or where the prompt has a lone -, stdin is read.\n\n" +
    "Nobody is asked here: a command or edit that needs an approval is not done, and the exit code is 3. " +
    "--json prints one JSON object per line as things happen, listed below.",
  options: [
    ...MODEL,
    SESSION,
    CWD,
    YOLO,
    ...RECORD,
    { name: "json", summary: "JSON lines of events instead of text" },
    { name: "timeout", value: "<s>", summary: "Stop after so many seconds (exit code 5)" },
    { name: "quiet", short: "q", summary: "No progress on stderr; so does HERMES_QUIET=1" },
  ],
  examples: [
    ['hermes run "What does this repository do?"', "one question about the directory you are in"],
    ["git diff | hermes run 'Review this change:' -", "with text from a pipe"],
    ['hermes run --json --yolo "Fix the failing test" | jq .', "in CI, unattended"],
  ],
  tables: [{
    title: "Lines of --json (each also has type, session_id, turn_id, seq)",
    rows: [
      ["turn.start", "text"],
      ["step.start", "step; one per call of the model"],
      ["text.delta", "text; a piece of what the agent says"],
      ["text.end", "text (the whole block), final (true: it is the answer)"],
      ["reasoning.delta", "text (reasoning.end: the whole)"],
      ["tool.generating", "tool; the model began to write a call"],
      ["tool.start", "tool_call_id, tool, args, title, kind, locations, waiting"],
      ["tool.progress", "tool_call_id, tool, text"],
      [
        "tool.end",
        "as tool.start, and result, is_error, duration_ms, edits (path, old_text, new_text), refused?",
      ],
      ["usage", "usage, total; input_tokens, output_tokens, …"],
      ["status", "kind, text; retries and warnings"],
      ["session.change", "what; title, model, cwd, …"],
      [
        "result",
        "always the last line: outcome, text, exit_code, error (code, message), blocked (title, tool, reason, " +
        "message), model, provider, usage, cost (estimated_cost_usd, null where a price is not known; cost_status, …), " +
        "api_calls, exit_reason, partial, is_demo, duration_ms, " +
        "hermes.limit (kind, setting, text: which limit ended it)",
      ],
    ],
  }],
  listsExitCodes: true,
};

export const CHAT: CommandSpec = {
  usage: ["[options] [first prompt…]"],
  about:
    "A conversation in the terminal: the answer streams, tools are shown as they run, and what needs your " +
    "approval is asked at the prompt. /help lists the commands. Alt-Enter begins a new line, and what is pasted " +
    "stays one message. Ctrl-C stops the running answer; twice leaves. In a pipe every line of stdin is one message.",
  options: [...MODEL, SESSION, CWD, YOLO, ...RECORD],
  examples: [
    ["hermes chat --demo", "try it without any set-up"],
    ['hermes chat --session "fix the parser"', "go on where you stopped"],
  ],
};

export const SESSIONS: CommandSpec = {
  usage: [
    "list",
    "show <session>",
    "search <words…>",
    "export [session…]",
    "import <file>",
    "delete <session…>",
    "prune [--older-than <days>] [--dry-run]",
    "restore <session>",
  ],
  about:
    "Sessions of all doors are in one place. A session is named by id, title, or the beginning of its id.",
  subcommands: [
    { name: "list", args: "", summary: "The newest first" },
    { name: "show", args: "<session>", summary: "The conversation as text" },
    { name: "search", args: "<words…>", summary: "Full-text search in all messages" },
    { name: "export", args: "[session…]", summary: "JSON lines on stdout, one session each (default: all)" },
    {
      name: "import",
      args: "<file>",
      summary: "What export has written; sessions that are here stay as they are",
    },
    { name: "delete", args: "<session…>", summary: "Remove stored conversations" },
    {
      name: "prune",
      args: "",
      summary: "Remove conversations that ended long ago, and make the database smaller",
    },
    {
      name: "restore",
      args: "<session>",
      summary: "Put files back to before its last turn that changed any; all or nothing",
    },
  ],
  options: [
    JSON_OUT,
    LIMIT,
    {
      name: "source",
      value: "<name>",
      summary: "Only those of one door: acp, tui, api_server, cli, or what a host calls its own",
    },
    { name: "redact", summary: "export: take out secrets" },
    {
      name: "older-than",
      value: "<days>",
      summary: "prune: since when they have ended (default sessions.retention_days)",
    },
    { name: "yes", short: "y", summary: "delete, prune: do not ask" },
    { name: "turn", value: "<n>", summary: "restore: to before the n-th message of yours" },
    { name: "before", value: "<row>", summary: "restore: to before the message with this row id" },
    { name: "dry-run", summary: "prune, restore: only say what would be done" },
    { name: "force", summary: "restore: also files that were changed since" },
  ],
  examples: [
    ["hermes sessions list --json -n 100", "for a program"],
    ["hermes sessions export --redact > sessions.jsonl", "a backup that can be shown around"],
    ['hermes sessions restore "fix the parser" --dry-run', "what would be put back?"],
  ],
};

export const CONFIG: CommandSpec = {
  usage: ["show", "get <key>", "set <key> <value>", "unset <key>", "path", "schema", "init"],
  about:
    "Settings are in config.jsonc (comments and order are kept), secrets in .env beside it. Keys are dotted: " +
    "approvals.mode, model.default, providers.box.base_url.",
  subcommands: [
    { name: "show", args: "", summary: "What you have set, secrets masked" },
    { name: "get", args: "<key>", summary: "The value in force, defaults included" },
    { name: "set", args: "<key> <value>", summary: "Write one value; names like *_API_KEY go to .env" },
    {
      name: "unset",
      args: "<key>",
      summary: "Remove a value, so that the default counts again; of .env as well",
    },
    { name: "path", args: "", summary: "Where the file is" },
    { name: "schema", args: "", summary: "JSON Schema of the file, for editors" },
    { name: "init", args: "", summary: "Write a commented starter file unless there is one" },
  ],
  options: [JSON_OUT],
  examples: [
    ["hermes config set approvals.timeout 60", "seconds to wait for an answer"],
    ["hermes config set OPENROUTER_API_KEY sk-…", "stored in .env, never shown again"],
  ],
};

export const MODEL_COMMAND: CommandSpec = {
  usage: ["", "list [options]", "set <name>", "refresh"],
  about: "Shows, lists or sets the default model. A name may carry its provider: openrouter:openai/gpt-5.5.",
  subcommands: [
    { name: "show", args: "", summary: "The model in force and where it was chosen (default)" },
    { name: "list", args: "", summary: "Models that can be used now" },
    { name: "set", args: "<name>", summary: "Make it the default of new sessions" },
    { name: "refresh", args: "", summary: "Fetch the catalogue and the providers' lists again" },
  ],
  options: [
    ...MODEL,
    JSON_OUT,
    { name: "all", short: "a", summary: "list: also providers that are not configured" },
    { name: "refresh", summary: "list: ask the providers again" },
  ],
  examples: [["hermes model set ollama:qwen3-coder", "a local model"]],
};

export const MCP: CommandSpec = {
  usage: [
    "list [--json]",
    "test [name] [options]",
    "add <name> <url> [options]",
    "add <name> -- <command…>",
    "remove <name>",
    "login <name> [options]",
    "logout <name>",
  ],
  about:
    "MCP servers give the agent further tools. They stand in config.jsonc under mcp_servers, by name: command and " +
    "args for a program, or url for a server on the network. A server that fails never stops the agent; what it " +
    'writes to stderr is in logs/mcp-<name>.log of the data home. One with "auth": "oauth" wants a login, which is ' +
    "kept in mcp-tokens/ of the data home and renewed by itself.",
  subcommands: [
    { name: "list", args: "", summary: "The servers of the configuration (default); starts nothing" },
    { name: "test", args: "[name]", summary: "Start one or all, list the tools; exit code 1 when one fails" },
    { name: "add", args: "<name> …", summary: "Write an entry: an address, or a command with its arguments" },
    { name: "remove", args: "<name>", summary: "Take an entry out, and its login" },
    { name: "login", args: "<name>", summary: "Log in at a server, in a browser on this machine" },
    { name: "logout", args: "<name>", summary: "Delete what the login has given" },
  ],
  options: [
    { name: "timeout", value: "<s>", summary: "How long a start (default 15) or a login (300) may take" },
    { name: "sse", summary: "add: a server of the old kind, which speaks SSE" },
    { name: "oauth", summary: "add: it wants a login" },
    { name: "no-browser", summary: "login: only print the address" },
    JSON_OUT,
  ],
  examples: [
    ["hermes mcp add files -- npx -y @modelcontextprotocol/server-filesystem .", "a program on this machine"],
    ["hermes mcp add tickets https://mcp.example.com/mcp --oauth", "a server that wants a login"],
    ["hermes mcp test", "which of the servers work?"],
    ["hermes mcp test files", "does it start, and what does it offer?"],
    ["hermes mcp login tickets", 'for an entry with "auth": "oauth"'],
  ],
};

export const POLICY: CommandSpec = {
  usage: ["list [--json]", "explain <command…> [options]", "explain --path <file> [--tool <name>] [options]"],
  about:
    "Rules of your own for what may run, in config.jsonc under policy.rules: each has an effect (allow, ask or " +
    "deny) and what it is for (tool, path, command, mcp_server, surface; with * and ?). A deny wins over " +
    "everything, else the first rule that matches decides, else the built-in rules.",
  subcommands: [
    { name: "list", args: "", summary: "The rules in order (default)" },
    { name: "explain", args: "<command…>", summary: "Which rule decides on a call, and why; runs nothing" },
  ],
  options: [
    { name: "path", value: "<file>", summary: "explain: a change of this file instead of a command" },
    { name: "tool", value: "<name>", summary: "explain: by this tool (default terminal, or write_file)" },
    { name: "mcp-server", value: "<name>", summary: "explain: a tool of this MCP server" },
    {
      name: "surface",
      value: "<name>",
      summary: "explain: asked on acp, gateway, serve or cli (default cli)",
      choices: ["acp", "gateway", "serve", "cli"],
    },
    CWD,
    JSON_OUT,
  ],
  examples: [
    ['hermes policy explain "git push --force"', "may it run, and who says so?"],
    ["hermes policy explain --path src/main.ts --surface acp", "may this file be changed?"],
  ],
};

export const AUDIT: CommandSpec = {
  usage: ["[options]"],
  about:
    "What all doors did, oldest first: who asked, what a person was asked and answered, which tools ran, which files " +
    "changed (with SHA-256 before and after). Entries are only ever added, secrets are taken out, and deleting a " +
    "session leaves them. Times are UTC.",
  options: [
    {
      name: "session",
      short: "s",
      value: "<id>",
      summary: "Only this conversation: its id, its title, or the beginning of its id",
    },
    { name: "since", value: "<time>", summary: "Only from then on: 90m, 24h, 7d, or 2026-01-31T08:00" },
    { name: "limit", short: "n", value: "<n>", summary: "The newest so many (default 100)" },
    JSON_OUT,
  ],
  examples: [[
    "hermes audit --since 24h --json | jq 'select(.kind == \"answer\")'",
    "who allowed what today",
  ]],
};

export const SETUP: CommandSpec = {
  usage: ["", "--provider <id> --model <name> [options]"],
  about:
    "Chooses a provider and a model, stores the key in .env and makes one small test call. Local servers " +
    "(Ollama, LM Studio, llama.cpp, vLLM) are found by themselves. With --provider nothing is asked, for scripts; " +
    "a key is then never an argument but the name of an environment variable.",
  options: [
    { name: "provider", value: "<id>", summary: "openrouter, openai-api, custom, …" },
    { name: "model", short: "m", value: "<name>", summary: "Default model" },
    {
      name: "base-url",
      value: "<url>",
      summary: "Endpoint of a custom provider, for example http://127.0.0.1:8000/v1",
    },
    { name: "key-env", value: "<NAME>", summary: "Environment variable that holds the key" },
    { name: "no-test", summary: "Skip the test call" },
    { name: "demo", summary: "Say how to use the built-in demo instead" },
  ],
  examples: [
    ["hermes setup", "answer a few questions"],
    ["hermes setup --provider custom --base-url http://127.0.0.1:8000/v1 -m qwen3", "from a script"],
  ],
};

export const DOCTOR: CommandSpec = {
  usage: ["[options]"],
  about:
    "Checks configuration, database, provider, shell and permissions. Exit code 1 when something is broken.",
  options: [
    ...MODEL,
    { name: "online", summary: "Also make one small call to the model" },
    { name: "acp", summary: "Also start `hermes acp` as an editor would, and look at its first answer" },
    JSON_OUT,
  ],
};

export const DEMO_COMMAND: CommandSpec = {
  usage: [""],
  about:
    "Starts the three servers as real processes in a throw-away folder, with the built-in demo model, and drives " +
    "each through one turn with a file edit and its approval: you see the conversation and the wire side by " +
    "side. Then a session that began in one door goes on in another. Needs no key and no network; nothing of " +
    "yours is read or changed.",
  options: [{ name: "keep", summary: "Keep the folder and say where it is" }],
};

export const VERSION: CommandSpec = { usage: [""], about: "", options: [JSON_OUT] };

export const COMPLETIONS: CommandSpec = {
  usage: ["bash|zsh|fish"],
  about: "Prints a completion script for your shell.",
  subcommands: [
    { name: "bash", args: "", summary: 'add to ~/.bashrc:  eval "$(hermes completions bash)"' },
    { name: "zsh", args: "", summary: 'add to ~/.zshrc:  eval "$(hermes completions zsh)"' },
    { name: "fish", args: "", summary: "hermes completions fish > ~/.config/fish/completions/hermes.fish" },
  ],
  options: [],
};

export const AUTH: CommandSpec = {
  usage: ["list [provider]", "add <provider> [--label <name>]", "remove <provider> <id>", "wake <provider>"],
  about:
    "Several keys of one provider, in auth.json of the data home: when one is refused, out of money or at its limit, " +
    "the next one is used. A key is asked for or read from stdin, and never shown.",
  subcommands: [
    { name: "list", args: "[provider]", summary: "How often each was used, and which rest" },
    { name: "add", args: "<provider>", summary: "Ask for one more key" },
    { name: "remove", args: "<provider> <id>", summary: "Take one out, by its id or label" },
    { name: "wake", args: "<provider>", summary: "Use those that rest again now" },
  ],
  options: [JSON_OUT, { name: "label", value: "<name>", summary: "add: what you call it" }],
  examples: [
    ["hermes auth add openrouter --label work", "asks for the key"],
    ["pass show openrouter | hermes auth add openrouter", "from a password store"],
  ],
};

/** By command name. */
export const SPECS: Readonly<Record<string, CommandSpec>> = {
  acp: ACP,
  gateway: GATEWAY,
  serve: SERVE,
  run: RUN,
  chat: CHAT,
  sessions: SESSIONS,
  config: CONFIG,
  model: MODEL_COMMAND,
  mcp: MCP,
  policy: POLICY,
  audit: AUDIT,
  setup: SETUP,
  auth: AUTH,
  doctor: DOCTOR,
  demo: DEMO_COMMAND,
  version: VERSION,
  completions: COMPLETIONS,
};
