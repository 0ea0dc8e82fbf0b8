/**
 * The one table of settings (core.md E.4), in the shape of the file itself: kind, default, what it is for, and the
 * environment name that outranks the file. Defaults, validation, coercion of `config set` and the JSON Schema all
 * come from here; a new setting is one line. It is read at every start, so it holds plain data only.
 */
import type { Kind, NumberKind } from "./kinds.ts";
import { policyRules } from "./policy_rules.ts";
import { endpointList, endpoints, modelRoutes, onlyObjects, onlyTexts } from "./user_maps.ts";

export type Row = readonly [kind: Kind, fallback: unknown, doc: string, env?: string];

export interface Table {
  readonly [name: string]: Row | Table;
}

/** A row with its place, for whoever needs them as a list. */
export interface KeySpec {
  readonly key: string;
  readonly path: readonly string[];
  readonly kind: Kind;
  readonly fallback: unknown;
  readonly doc: string;
  readonly env: string | undefined;
}

const text: Kind = { type: "string" };
const bool: Kind = { type: "bool" };
const map: Kind = { type: "map" };
const list: Kind = { type: "list" };
const names: Kind = { type: "list", split: true };
const texts: Kind = { type: "map", clean: onlyTexts };
const objects: Kind = { type: "map", clean: onlyObjects };
const endpointMap: Kind = { type: "map", clean: endpoints };
const routes: Kind = { type: "map", clean: modelRoutes };
const anything: Kind = { type: "any", wanted: "any value", accepts: () => true };
const endpointEntries: Kind = {
  type: "any",
  wanted: "a list of objects",
  accepts: (value) => Array.isArray(value),
  clean: endpointList,
};
const fallbacks: Kind = {
  type: "any",
  wanted: "a list of objects with provider and model",
  accepts: (value) => Array.isArray(value),
};
const rules: Kind = {
  type: "any",
  wanted: "a list of rules",
  accepts: (value) => Array.isArray(value),
  clean: policyRules,
};
const known: Kind = {
  type: "any",
  wanted: '"known", true or false',
  accepts: (value) => value === "known" || typeof value === "boolean",
};
const turns: Kind = { type: "int", min: 1, nullable: true, none: ["none", "unlimited", 0, -1] };

function int(min?: number, max?: number): NumberKind {
  return { type: "int", min, max };
}

function num(min: number, max?: number): NumberKind {
  return { type: "number", min, max };
}

function maybe(kind: NumberKind): NumberKind {
  return { type: kind.type, min: kind.min, max: kind.max, nullable: true };
}

function oneOf(values: readonly string[], aliases?: Readonly<Record<string, string>>): Kind {
  return { type: "enum", values, aliases };
}

const MODEL: Table = {
  model: {
    default: [
      text,
      "",
      "Model used when a session has not chosen one: name, provider/model or builtin:demo.",
    ],
    provider: [text, "auto", "Provider id, custom:<name>, or auto to take the first one that has a key."],
    base_url: [text, "", "Base URL of an OpenAI-compatible endpoint."],
    api_key: [text, "", "Key for model.base_url; better kept in .env and written here as ${NAME}."],
    api_mode: [
      text,
      "",
      "Wire flavour: chat_completions, codex_responses or anthropic_messages. Empty: by URL.",
    ],
    context_length: [maybe(int(1)), null, "Context window in tokens, when it cannot be found out."],
    max_tokens: [maybe(int(1)), null, "Limit of one answer in tokens; null leaves it to the provider."],
    supports_vision: [
      { type: "bool", nullable: true },
      null,
      "Whether the model takes images; null asks the catalogue.",
    ],
    default_headers: [texts, {}, "HTTP headers sent with every model call."],
    extra_headers: [texts, {}, "More HTTP headers; they win over default_headers."],
    aliases: [texts, {}, "Short names for models: name to provider/model."],
    persist_switch_by_default: [bool, false, "Whether /model without --global also writes this file."],
    auth_mode: [text, "", "How the provider wants its key, where it has several ways. Accepted, not used."],
  },
  providers: [endpointMap, {}, "Endpoints of your own, by name: base_url, api_key or key_env, models, …"],
  custom_providers: [endpointEntries, [], "Older form of providers: a list of the same entries with a name."],
  model_aliases: [objects, {}, "Short names for models: name to an object with model, provider, base_url."],
  fallback_providers: [fallbacks, [], "Providers tried in order when the first one fails."],
  fallback_model: [anything, null, "Older form of fallback_providers."],
  credential_pool_strategies: [
    map,
    {},
    "How several keys of one provider are used, by provider: fill_first, round_robin, least_used, random.",
  ],
  provider_routing: [map, {}, "Routing wishes for OpenRouter: sort, only, ignore, order, …"],
  openrouter: {
    response_cache: [
      bool,
      true,
      "Let OpenRouter answer from its cache what another session has asked within its time.",
    ],
    response_cache_ttl: [int(1), 300, "Seconds such an answer is kept, at most 86,400."],
  },
  prompt_caching: {
    cache_ttl: [
      oneOf(["5m", "1h", "off"], { false: "off" }),
      "5m",
      "How long providers keep the prompt prefix.",
    ],
  },
  auxiliary: [
    objects,
    {},
    "Models for side tasks (compression, title_generation, …): provider (auto = the session's model, none = no titles), model, base_url, api_key, timeout, …",
  ],
  model_catalog: {
    enabled: [bool, true, "Fetch the list of known models."],
    url: [text, "", "Where that list comes from; empty for the built-in address."],
    ttl_hours: [num(0), 1, "Hours the fetched list is used before it is fetched again."],
    excluded_providers: [list, [], "Providers left out of model pickers."],
    providers: [
      objects,
      {},
      "Lists of single providers, by id: an object with url, of the same form; it replaces what the big one says.",
    ],
  },
};

/** Limits of one scope; a turn ends when one is reached. */
function limits(scope: string): Table {
  return {
    model_calls: [maybe(int(1)), null, `Model calls ${scope}; null for no limit.`],
    tokens: [maybe(int(1)), null, `Tokens ${scope}, prompt and output; null for no limit.`],
    usd: [maybe(num(0)), null, `US dollars ${scope}, as far as prices are known; null for no limit.`],
    seconds: [maybe(num(0)), null, `Seconds of work ${scope}; null for no limit.`],
  };
}

const AGENT: Table = {
  agent: {
    max_turns: [turns, 90, "Model calls per turn; null, none or 0 for no limit.", "HERMES_MAX_ITERATIONS"],
    api_max_retries: [int(0), 3, "Attempts at a model call, the first one included."],
    service_tier: [text, "", "`priority`: new sessions use the fast mode of models that have one."],
    reasoning_effort: [
      text,
      "",
      "Reasoning effort: none, minimal, low, medium, high, xhigh. Empty: the model's own.",
    ],
    reasoning_overrides: [map, {}, "Reasoning effort by model."],
    ephemeral_system_prompt: [
      text,
      "",
      "Added to the system prompt of every request, never stored.",
      "HERMES_EPHEMERAL_SYSTEM_PROMPT",
    ],
    tool_use_enforcement: [anything, "auto", "Prompt text that makes weak models call tools."],
    intent_ack_continuation: [anything, "auto", "Go on when a model only announces what it will do."],
    task_completion_guidance: [bool, true, "Prompt text about finishing tasks."],
    parallel_tool_call_guidance: [bool, true, "Prompt text about calling tools in parallel."],
    ignore_rules: [
      bool,
      false,
      "Leave SOUL.md, project files and memories out of the prompt.",
      "HERMES_IGNORE_RULES",
    ],
    environment_probe: [bool, true, "Name the usual tools on PATH (git, node, docker, …) in the prompt."],
    environment_hint: [text, "", "A sentence about this machine for the prompt.", "HERMES_ENVIRONMENT_HINT"],
    coding_context: [text, "auto", "When the coding part of the prompt is used: auto, focus, on or off."],
    coding_instructions: [anything, "", "Your own coding rules: a text or a list of texts."],
    image_input_mode: [
      text,
      "auto",
      "How images reach the model: auto, native, or text (described by auxiliary.vision first).",
    ],
    disabled_toolsets: [names, [], "Toolsets that are never offered."],
    clarify_timeout: [int(1), 300, "Seconds a question to you waits."],
    gateway_timeout: [
      int(0),
      1800,
      "Seconds without any event after which a turn is stopped as failed, at every door; 0 for never. Open questions do not count, and a command or an MCP tool may use up its own limit.",
    ],
    verify_on_stop: [anything, false, "Check the work before a turn ends. Accepted, not used."],
  },
  compression: {
    enabled: [bool, true, "Summarise long conversations."],
    threshold: [num(0.05, 1), 0.5, "Part of the context window that triggers it."],
    target_ratio: [num(0.01, 1), 0.2, "Part of the window kept as recent messages."],
    protect_first_n: [int(0), 3, "Messages at the start that are always kept."],
    protect_last_n: [int(0), 20, "Messages at the end that are always kept."],
    abort_on_summary_failure: [bool, false, "Stop the turn when no summary can be made."],
    in_place: [bool, false, "Keep the session id instead of starting a child session."],
    threshold_tokens: [maybe(int(1)), null, "Threshold in tokens instead of a part."],
    max_attempts: [int(1), 3, "Tries for one summary."],
    model_thresholds: [map, {}, "Threshold by model."],
  },
  budgets: {
    prompt: limits("per prompt"),
    session: limits("per session"),
    day: limits("per day, all sessions"),
  },
  delegation: {
    model: [text, "", "Model of subagents; empty for the parent's."],
    provider: [text, "", "Provider of subagents."],
    base_url: [text, "", "Base URL of subagents."],
    api_key: [text, "", "Key of subagents."],
    api_mode: [text, "", "Wire flavour of subagents."],
    reasoning_effort: [text, "", "Reasoning effort of subagents."],
    max_iterations: [int(1), 50, "Model calls of one subagent."],
    max_concurrent_children: [int(1), 3, "Subagents at the same time.", "DELEGATION_MAX_CONCURRENT_CHILDREN"],
    max_spawn_depth: [int(0), 1, "How deep subagents may start their own."],
    child_timeout_seconds: [num(0), 0, "Seconds a subagent may take; 0 for no limit, else at least 30."],
    max_summary_chars: [int(1), 24000, "Characters of a subagent's result."],
    orchestrator_enabled: [bool, true, "Allow subagents that lead others."],
    inherit_mcp_toolsets: [bool, true, "Give subagents the MCP tools of their parent."],
    subagent_auto_approve: [bool, false, "Let subagents run commands that would be asked about."],
  },
  memory: {
    memory_enabled: [bool, true, "Remember facts between sessions."],
    user_profile_enabled: [bool, true, "Remember facts about you."],
    memory_char_limit: [int(1), 2200, "Characters of MEMORY.md."],
    user_char_limit: [int(1), 1375, "Characters of USER.md."],
    write_approval: [bool, false, "Ask before a memory is written."],
  },
  skills: {
    external_dirs: [list, [], "More folders with skills."],
    disabled: [list, [], "Skills that are not offered."],
    template_vars: [bool, true, "Fill in variables of skills."],
    inline_shell: [bool, false, "Run shell lines inside skills."],
    inline_shell_timeout: [int(1), 10, "Seconds such a line may take."],
    write_approval: [bool, false, "Ask before a skill is written."],
  },
  personalities: [map, {}, "Personalities by name."],
  platform_hints: [map, {}, "Prompt text by surface."],
  prefill_messages_file: [
    text,
    "",
    "JSON file with messages put before a conversation.",
    "HERMES_PREFILL_MESSAGES_FILE",
  ],
  timezone: [text, "", "Time zone told to the model, like Europe/Berlin.", "HERMES_TIMEZONE"],
};

const TOOLS: Table = {
  terminal: {
    backend: [text, "local", "Where commands run. Accepted, not used."],
    cwd: [text, ".", "Directory of a session whose client names none."],
    timeout: [int(1), 180, "Seconds a command may take.", "TERMINAL_TIMEOUT"],
    max_foreground_timeout: [
      int(1),
      600,
      "Seconds that the model may give a command it waits for.",
      "TERMINAL_MAX_FOREGROUND_TIMEOUT",
    ],
    env_passthrough: [list, [], "Environment names that commands may see although they look secret."],
    shell_init_files: [list, [], "Files sourced before the first command."],
    auto_source_bashrc: [bool, true, "Source the shell's own start files."],
    home_mode: [
      oneOf(["auto", "real", "profile"]),
      "auto",
      "HOME of commands: real (yours), profile (home in the data home, made when needed), or auto: that directory if it is there, else yours.",
    ],
  },
  tool_output: {
    max_bytes: [int(1), 50000, "Characters kept of a command's output."],
    max_lines: [int(1), 2000, "Lines kept of a command's output."],
    max_line_length: [int(1), 2000, "Characters kept of a line."],
  },
  file_read_max_chars: [int(1), 100000, "Characters one file read may give."],
  context_file_max_chars: [maybe(int(1)), null, "Characters of a project file (AGENTS.md, …) in the prompt."],
  mcp_discovery_timeout: [
    num(0),
    1.5,
    "Seconds a session waits for MCP servers before it starts without them.",
  ],
  toolsets: [list, [], "Toolsets offered on every surface; empty for the surface's own."],
  platform_toolsets: [map, {}, "Toolsets by surface."],
  mcp_servers: [map, {}, "MCP servers by name: command and args, or url."],
  tools: {
    tool_search: {
      enabled: [
        oneOf(["auto", "on", "off"], { true: "on", false: "off" }),
        "auto",
        "Let the model search for tools of MCP servers: auto when there are many, true (on), or false (off).",
      ],
      threshold_pct: [
        num(0, 100),
        10,
        "Percent of the window that they may take before that (20,000 tokens where it is unknown).",
      ],
      search_default_limit: [int(1), 5, "Tools one search gives."],
      max_search_limit: [int(1), 20, "Tools one search may give at most."],
    },
  },
  tool_loop_guardrails: [map, {}, "When repeated tool calls are warned about or stopped."],
  web: {
    backend: [
      text,
      "",
      "Web search and page service: tavily, exa, parallel, firecrawl, searxng, brave, duckduckgo, plain or auto. Empty: the first that has a key.",
    ],
    search_backend: [text, "", "Web search service, when it is another one."],
    extract_backend: [text, "", "Web page service, when it is another one."],
    extract_char_limit: [int(1), 15000, "Characters of a fetched page."],
  },
  browser: {
    extension_control: {
      enabled: [
        bool,
        false,
        "Let a browser be driven by hermes serve, through an extension that registers itself.",
      ],
      developer_mode: [bool, false, "Let the agent run scripts and DevTools commands in that browser."],
    },
  },
  quick_commands: [map, {}, "Slash commands of your own: type exec with command, or type alias with target."],
};

const SAFETY: Table = {
  approvals: {
    mode: [
      oneOf(["manual", "smart", "off"], { false: "off" }),
      "manual",
      "manual asks, smart lets a model decide first, off asks nothing.",
    ],
    timeout: [int(1), 300, "Seconds an approval waits; no answer is not consent."],
    cron_mode: [text, "deny", "What scheduled jobs do where a person would be asked. Accepted, not used."],
    deny: [list, [], "Command patterns (with * and ?) that are always refused."],
    mcp_reload_confirm: [bool, true, "Ask before MCP servers are reloaded."],
    destructive_slash_confirm: [
      bool,
      true,
      "Ask in hermes chat before a command that takes back what was said or leaves it (/new, /reset, /undo).",
    ],
    unattended_mode: [text, "deny", "What happens where nobody can be asked. Accepted, not used."],
    smart_policy: [text, "", "Rules for the model that decides in smart mode."],
  },
  policy: {
    rules: [
      rules,
      [],
      "Rules in order, each with effect allow, ask or deny, and tool, path, command, mcp_server, surface, scope.",
    ],
  },
  command_allowlist: [list, [], "What was allowed for ever: kinds of danger, or commands with * and ?."],
  security: {
    redact_secrets: [
      bool,
      true,
      "Mask keys and passwords in everything that is shown or stored.",
      "HERMES_REDACT_SECRETS",
    ],
    allow_private_urls: [bool, false, "Let web tools reach private addresses.", "HERMES_ALLOW_PRIVATE_URLS"],
    protected_instruction_files: [bool, true, "Ask before AGENTS.md, CLAUDE.md and the like are changed."],
    website_blocklist: [map, {}, "Sites that web tools must not open: enabled, domains, shared_files."],
  },
};

const SURFACES: Table = {
  max_live_sessions: [int(1), 16, "Sessions kept in memory."],
  max_concurrent_sessions: [
    maybe(int(1)),
    null,
    "Sessions that may run at the same time; null for no limit.",
  ],
  snapshots: {
    enabled: [bool, true, "Keep what files held before a turn changed them, for hermes sessions restore."],
    max_mb: [num(0), 200, "Megabytes of such contents; the oldest go first."],
    max_file_mb: [num(0), 5, "Megabytes of one file; larger ones are not kept."],
    retention_days: [num(0), 30, "Days they are kept."],
  },
  sessions: {
    auto_prune: [bool, false, "Delete sessions by itself that ended long ago."],
    retention_days: [
      int(1),
      90,
      "Days an ended session is kept; also what hermes sessions prune starts from.",
    ],
    min_interval_hours: [num(0), 24, "Hours between two such clean-ups."],
  },
  display: {
    show_reasoning: [bool, true, "Show the model's reasoning where the surface can."],
    busy_input_mode: [
      oneOf(["interrupt", "queue", "steer"]),
      "interrupt",
      "What a message does while a turn runs.",
    ],
    tool_progress: [text, "all", "Tool lines: off, new, all or verbose."],
    interim_assistant_messages: [
      bool,
      true,
      "Show what the model says between tool calls; false holds every text back until its step ends. For one surface: display.platforms.<acp|tui|api_server|cli>.interim_assistant_messages.",
    ],
    file_mutation_verifier: [
      bool,
      true,
      "List below an answer the files whose edits failed in its turn.",
    ],
    personality: [text, "", "Personality in use."],
    show_cost: [bool, false, "Show at its end what a turn has cost, in hermes chat and hermes run."],
    platforms: [map, {}, "Display settings by surface."],
    host: [
      map,
      {},
      "What hosts of the gateway keep here: skin, details_mode, statusbar, mouse and the like.",
    ],
  },
  gateway: {
    allowed_hosts: [names, [], "Host names accepted by the WebSocket gateway beside this machine's own."],
    prompt: [text, "", "Added to the system prompt of every turn of hermes gateway."],
    ws_max_message_bytes: [int(1024), 16777216, "Largest WebSocket message."],
    api_server: {
      enabled: [bool, false, "Kept for existing installs; hermes serve always serves.", "API_SERVER_ENABLED"],
      host: [text, "127.0.0.1", "Address of hermes serve.", "API_SERVER_HOST"],
      port: [int(0, 65535), 8642, "Port of hermes serve; 0 takes a free one.", "API_SERVER_PORT"],
      key: [text, "", "Bearer key of hermes serve; better kept in .env as API_SERVER_KEY.", "API_SERVER_KEY"],
      cors_origins: [names, [], "Web origins that may call it; * for all.", "API_SERVER_CORS_ORIGINS"],
      allowed_hosts: [names, [], "Further names accepted in the Host header.", "API_SERVER_ALLOWED_HOSTS"],
      model_name: [
        text,
        "",
        "Model id shown to clients; empty: the profile's name, else hermes-agent.",
        "API_SERVER_MODEL_NAME",
      ],
      max_concurrent_runs: [int(), 10, "Turns at the same time; 0 or less for no limit."],
      model_routes: [routes, {}, "Model names for clients: name to an object with model, provider, …"],
      direct_model_requests: [
        known,
        "known",
        "Whether clients may name models: known ones, all (true) or none (false).",
      ],
      tool_progress_events: [bool, true, "Send hermes.tool.progress frames in chat streams."],
      show_reasoning: [bool, false, "Send reasoning to API clients."],
      interim_assistant_messages: [
        bool,
        true,
        "Show API clients what the model says between tool calls (display.platforms.api_server wins).",
      ],
      run_journal_events: [int(256), 1000, "Events kept of each run for readers that come later."],
      responses_tool_items: [
        oneOf(["native", "omit"]),
        "native",
        "Whether /v1/responses shows tool calls of the server.",
      ],
      history_tool_output_max_chars: [int(0), 0, "Characters of stored tool outputs; 0 for all."],
      keys: [objects, {}, "Keys with scopes by name; made by hermes serve keys add."],
      callback_urls: [names, [], "Addresses that the end of a run may be told to; * at the end of a path."],
      callback_secret: [
        text,
        "",
        "Secret that signs those messages; better kept in .env.",
        "API_SERVER_CALLBACK_SECRET",
      ],
      metrics: [bool, false, "Answer GET /metrics, for keys with the scope admin.", "API_SERVER_METRICS"],
      trusted_hosts: [
        names,
        [],
        "Proxies whose X-Forwarded-* headers count: addresses or networks.",
        "API_SERVER_TRUSTED_HOSTS",
      ],
      drain_seconds: [
        num(0, 600),
        0,
        "Seconds running turns get after a stop signal before they are interrupted.",
        "API_SERVER_DRAIN_SECONDS",
      ],
    },
  },
  acp: {
    keepalive_interval_s: [num(-1), 45, "Seconds of silence in a turn before a sign of life; 0 for none."],
    write_stall_s: [num(1), 30, "Seconds a client may leave our output unread."],
    eof_grace_s: [num(0), 3, "Seconds running turns get after the client has gone."],
    fs_timeout_s: [num(1), 30, "Seconds the editor may take to read or write a file."],
    use_client_terminal: [bool, false, "Run commands in the editor's terminal."],
    legacy_models: [bool, false, "Also send the models field of older clients."],
    all_sources: [bool, false, "List sessions of other surfaces too."],
  },
  logging: {
    level: [
      oneOf(["DEBUG", "INFO", "WARNING", "ERROR"], { warn: "WARNING" }),
      "INFO",
      "Least level that is logged.",
    ],
    max_size_mb: [num(0), 5, "Size at which a log file is rotated; 0 for never."],
    backup_count: [int(0), 3, "Rotated log files kept."],
  },
};

/** Every section, as it stands in the file. */
export const TABLE: Table = { ...MODEL, ...AGENT, ...TOOLS, ...SAFETY, ...SURFACES };

export function isRow(node: Row | Table): node is Row {
  return Array.isArray(node);
}

function collect(table: Table, path: readonly string[], into: KeySpec[]): void {
  for (const [name, node] of Object.entries(table)) {
    const here = [...path, name];
    if (!isRow(node)) collect(node, here, into);
    else {
      const [kind, fallback, doc, env] = node;
      into.push({ key: here.join("."), path: here, kind, fallback, doc, env });
    }
  }
}

/** All rows as a list; made anew at each call, so not for start-up. */
export function listKeys(): readonly KeySpec[] {
  const specs: KeySpec[] = [];
  collect(TABLE, [], specs);
  return specs;
}

/** Old and short spellings, tried in order where the real key is not set (core.md E.1). */
export const ALIASES: readonly (readonly [from: string, to: string])[] = [
  ["provider", "model.provider"],
  ["base_url", "model.base_url"],
  ["api_base", "model.base_url"],
  ["context_length", "model.context_length"],
  ["max_turns", "agent.max_turns"],
  ["model.model", "model.default"],
  ["model.name", "model.default"],
  ["model.api_base", "model.base_url"],
];

/** The real key of an old spelling; any other key as it is. */
export function canonicalKey(key: string): string {
  if (key === "model") return "model.default";
  return ALIASES.find(([from]) => from === key)?.[1] ?? key;
}
