/**
 * The settings the program reads, typed and complete: defaults filled in, `${VAR}` expanded (core.md E.4).
 * `config/` builds it from `config.jsonc`; nobody else parses configuration. Wire names (snake_case) stay, so that
 * a key in the file, in `hermes config get` and in the code is the same word.
 */

export interface ProviderEntry {
  readonly name?: string;
  readonly base_url?: string;
  readonly api_key?: string;
  readonly key_env?: string;
  readonly api_mode?: string;
  readonly model?: string;
  readonly default_model?: string;
  /** Map id → facts, or a list of ids. */
  readonly models?: Readonly<Record<string, ModelFacts>> | readonly string[];
  readonly discover_models?: boolean;
  readonly context_length?: number;
  readonly request_timeout_seconds?: number;
  readonly stale_timeout_seconds?: number;
  readonly extra_body?: Readonly<Record<string, unknown>>;
  readonly extra_headers?: Readonly<Record<string, string>>;
  /** Seconds from the start of one call to the start of the next. */
  readonly rate_limit_delay?: number;
  /** File of an authority that is trusted beside the system's. */
  readonly ssl_ca_cert?: string;
  /** False: whoever answers is believed; a text is the file of an authority. */
  readonly ssl_verify?: boolean | string;
}

export interface ModelFacts {
  readonly context_length?: number;
  readonly supports_vision?: boolean;
  readonly timeout_seconds?: number;
  readonly stale_timeout_seconds?: number;
}

/** One rule of `policy.rules`, checked: globs as written, `surface` under the name it has inside. */
export interface PolicyRule {
  /** Its place in the file, from 1. */
  readonly number: number;
  readonly effect: "allow" | "ask" | "deny";
  readonly tool?: string;
  readonly path?: string;
  readonly command?: string;
  readonly mcp_server?: string;
  readonly surface?: string;
  /** `until`: an ISO time, after which the rule is not there. */
  readonly scope: "always" | "session" | { readonly until: string };
  readonly reason?: string;
}

/** `null` = no limit. */
export interface BudgetLimits {
  readonly model_calls: number | null;
  /** Prompt and output. */
  readonly tokens: number | null;
  /** Counts only calls whose price is known. */
  readonly usd: number | null;
  readonly seconds: number | null;
}

export interface Settings {
  readonly model: {
    readonly default: string;
    readonly provider: string;
    readonly base_url: string;
    readonly api_key: string;
    readonly api_mode: string;
    readonly context_length: number | null;
    readonly max_tokens: number | null;
    readonly supports_vision: boolean | null;
    readonly default_headers: Readonly<Record<string, string>>;
    readonly extra_headers: Readonly<Record<string, string>>;
    readonly aliases: Readonly<Record<string, string>>;
    readonly persist_switch_by_default: boolean;
  };
  readonly providers: Readonly<Record<string, ProviderEntry>>;
  readonly custom_providers: readonly (ProviderEntry & { readonly name?: string })[];
  readonly model_aliases: Readonly<Record<string, { model?: string; provider?: string; base_url?: string }>>;
  readonly agent: {
    /** `null` = no cap. */
    readonly max_turns: number | null;
    readonly api_max_retries: number;
    readonly reasoning_effort: string;
    /** Model name → effort, or `false` for none. */
    /** `priority`: the fast mode is wished for. */
    readonly service_tier?: string;
    readonly reasoning_overrides?: Readonly<Record<string, unknown>>;
    /** `auto`, a boolean, or parts of model names. */
    readonly intent_ack_continuation?: unknown;
    /** Added to the system prompt of every request, never stored. */
    readonly ephemeral_system_prompt?: string;
    readonly clarify_timeout: number;
    /** Seconds without an event after which a turn is stopped; 0 or absent: never. */
    readonly gateway_timeout?: number;
    /** Whether the prompt names the tools on PATH. */
    readonly environment_probe?: boolean;
    readonly disabled_toolsets: readonly string[];
    readonly environment_hint: string;
    /** `auto`, `native` or `text`; anything else counts as `auto`. */
    readonly image_input_mode?: string;
    readonly task_completion_guidance: boolean;
    readonly parallel_tool_call_guidance: boolean;
    /** `auto`, a boolean, or parts of model names. */
    readonly tool_use_enforcement: unknown;
    /** `auto`, `focus`, `on` or `off`. */
    readonly coding_context: string;
    /** A text or a list of texts. */
    readonly coding_instructions: unknown;
    /** True: no SOUL.md, no project files and no memories in the prompt. */
    readonly ignore_rules: boolean;
  };
  readonly memory: {
    readonly memory_enabled: boolean;
    readonly user_profile_enabled: boolean;
    readonly memory_char_limit: number;
    readonly user_char_limit: number;
    readonly write_approval: boolean;
  };
  readonly skills: {
    readonly external_dirs: readonly string[];
    readonly disabled: readonly string[];
    readonly template_vars: boolean;
    readonly inline_shell: boolean;
    /** Seconds. */
    readonly inline_shell_timeout: number;
    readonly write_approval: boolean;
  };
  /** Name → a text, or an object with `system_prompt`, `tone`, `style`. */
  readonly personalities: Readonly<Record<string, unknown>>;
  /** Surface → a text to add, or `{append}`, `{replace}`. */
  readonly platform_hints: Readonly<Record<string, unknown>>;
  /** JSON list of messages before every conversation; empty: none. */
  readonly prefill_messages_file?: string;
  /** IANA name; empty for the machine's own. */
  readonly timezone: string;
  /** Toolsets offered on every surface; empty for the surface's own. */
  readonly toolsets: readonly string[];
  /** Surface → list of toolsets. */
  readonly platform_toolsets: Readonly<Record<string, unknown>>;
  /** Name → entry (core.md G.1), as it stands in the file; `mcp/` reads it. */
  readonly mcp_servers?: Readonly<Record<string, unknown>>;
  /** Seconds a session's first turn waits for configured servers. */
  readonly mcp_discovery_timeout?: number;
  readonly terminal: {
    readonly cwd: string;
    /** Seconds. */
    readonly timeout: number;
    readonly max_foreground_timeout?: number;
    readonly env_passthrough: readonly string[];
    readonly shell_init_files: readonly string[];
    readonly auto_source_bashrc: boolean;
    /** What HOME is for commands; absent: `auto`. */
    readonly home_mode?: "auto" | "real" | "profile";
  };
  readonly tool_output: {
    readonly max_bytes: number;
    readonly max_lines: number;
    readonly max_line_length: number;
  };
  readonly file_read_max_chars: number;
  readonly context_file_max_chars: number | null;
  readonly max_live_sessions: number;
  readonly max_concurrent_sessions: number | null;
  readonly command_allowlist: readonly string[];
  readonly approvals: {
    readonly mode: "manual" | "smart" | "off";
    /** Seconds. */
    readonly timeout: number;
    readonly deny: readonly string[];
    /** The owner's words to the model that judges in smart mode. */
    readonly smart_policy?: string;
  };
  readonly policy?: { readonly rules: readonly PolicyRule[] };
  readonly tools?: {
    readonly tool_search?: {
      /** `auto`: by the size of the schemas. */
      readonly enabled: "auto" | "on" | "off";
      /** Percent of the window. */
      readonly threshold_pct: number;
      readonly search_default_limit: number;
      readonly max_search_limit: number;
    };
  };
  /** By provider: `fill_first`, `round_robin`, `least_used`, `random`. */
  readonly credential_pool_strategies?: Readonly<Record<string, unknown>>;
  readonly sessions?: {
    readonly auto_prune: boolean;
    readonly retention_days: number;
    readonly min_interval_hours: number;
  };
  /** What files held before a turn changed them. */
  readonly snapshots?: {
    readonly enabled: boolean;
    readonly max_mb: number;
    readonly max_file_mb: number;
    readonly retention_days: number;
  };
  readonly security: {
    readonly redact_secrets: boolean;
    readonly allow_private_urls: boolean;
    /** `false`: agents' instruction files (AGENTS.md, …) are ordinary files. */
    readonly protected_instruction_files?: boolean;
    /** `enabled`, `domains`, `shared_files`, as they stand in the file; the web tools read it. */
    readonly website_blocklist?: Readonly<Record<string, unknown>>;
  };
  readonly web?: {
    /** Names of services; empty: the first that has a key. */
    readonly backend: string;
    readonly search_backend: string;
    readonly extract_backend: string;
    readonly extract_char_limit: number;
  };
  readonly delegation: {
    /** Empty: the parent's. */
    readonly model: string;
    readonly provider: string;
    readonly base_url: string;
    /** For `base_url` alone. */
    readonly api_key: string;
    readonly api_mode: string;
    readonly reasoning_effort: string;
    readonly max_iterations: number;
    readonly max_concurrent_children: number;
    readonly max_spawn_depth: number;
    /** 0 = none. */
    readonly child_timeout_seconds: number;
    readonly max_summary_chars: number;
    readonly orchestrator_enabled: boolean;
    readonly inherit_mcp_toolsets: boolean;
    readonly subagent_auto_approve: boolean;
  };
  readonly compression: {
    readonly enabled: boolean;
    readonly threshold: number;
    readonly target_ratio: number;
    readonly protect_first_n: number;
    readonly protect_last_n: number;
    readonly in_place: boolean;
    /** Tokens, in place of a part of the window. */
    readonly threshold_tokens?: number | null;
    readonly abort_on_summary_failure?: boolean;
    /** Compressions that one turn may cost after overflows. */
    readonly max_attempts?: number;
    /** Model name → part of the window. */
    readonly model_thresholds?: Readonly<Record<string, unknown>>;
  };
  /** Keys of core.md A.14 as they stand in the file. */
  readonly tool_loop_guardrails?: Readonly<Record<string, unknown>>;
  readonly budgets?: {
    readonly prompt: BudgetLimits;
    readonly session: BudgetLimits;
    /** A local calendar day, all sessions of this data home. */
    readonly day: BudgetLimits;
  };
  /** Wishes sent to OpenRouter with every call. */
  readonly provider_routing?: Readonly<Record<string, unknown>>;
  readonly openrouter?: {
    /** Answers are kept there and given again for the same request. */
    readonly response_cache: boolean;
    /** Seconds. */
    readonly response_cache_ttl: number;
  };
  readonly prompt_caching?: { readonly cache_ttl: "5m" | "1h" | "off" };
  readonly model_catalog?: {
    readonly enabled: boolean;
    /** Empty: the built-in address. */
    readonly url: string;
    readonly ttl_hours: number;
    readonly excluded_providers: readonly string[];
    /** Lists of a provider's own, by its id. */
    readonly providers?: Readonly<Record<string, { readonly url?: unknown }>>;
  };
  /** Tried in order when the primary fails (core.md A.11). */
  readonly fallback_model?: unknown;
  readonly fallback_providers?: readonly { model?: string; provider?: string; base_url?: string }[];
  readonly auxiliary: Readonly<Record<string, { provider?: string; model?: string; language?: string }>>;
  readonly display: {
    readonly show_reasoning: boolean;
    readonly busy_input_mode: "interrupt" | "queue" | "steer";
    readonly tool_progress: string;
    readonly personality: string;
    /** Whether text that comes with tool calls is shown; absent: it is. */
    readonly interim_assistant_messages?: boolean;
    /** Whether an answer is followed by the edits that failed; absent: it is. */
    readonly file_mutation_verifier?: boolean;
    /** Surface → settings of this section. */
    readonly platforms?: Readonly<Record<string, unknown>>;
  };
  readonly gateway: {
    readonly allowed_hosts: readonly string[];
    readonly ws_max_message_bytes: number;
    readonly api_server: {
      readonly host: string;
      readonly port: number;
      readonly key: string;
      readonly cors_origins: readonly string[];
      readonly allowed_hosts: readonly string[];
      readonly model_name: string;
      readonly max_concurrent_runs: number;
      readonly model_routes: Readonly<
        Record<string, { model: string; provider?: string; api_key?: string; base_url?: string }>
      >;
      readonly direct_model_requests: "known" | boolean;
      readonly tool_progress_events: boolean;
      readonly show_reasoning: boolean;
      /** Whether runs tell what the model says between tool calls; absent: yes. */
      readonly interim_assistant_messages?: boolean;
      /** Events kept of each run; at least 256. */
      readonly run_journal_events?: number;
      /** `omit`: tool calls of the server are left out of `/v1/responses`. */
      readonly responses_tool_items?: "native" | "omit";
      /** Characters of stored tool outputs; 0 = all. */
      readonly history_tool_output_max_chars?: number;
      /** Scoped keys by name; each entry is checked by the server, never trusted. */
      readonly keys?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
      /** Addresses that the end of a run may be told to; `*` at the end of a path stands for anything. */
      readonly callback_urls?: readonly string[];
      /** Signs those messages. */
      readonly callback_secret?: string;
      /** Whether `GET /metrics` answers. */
      readonly metrics?: boolean;
      /** Proxies whose `X-Forwarded-*` headers count: addresses, or networks like 10.0.0.0/8. */
      readonly trusted_hosts?: readonly string[];
      /** Seconds that running turns get after a stop signal before they are interrupted. */
      readonly drain_seconds?: number;
    };
  };
  readonly browser?: {
    /** Whether a controller may be registered (api-server.md B6), and whether it may be given scripts. */
    readonly extension_control: { readonly enabled: boolean; readonly developer_mode: boolean };
  };
  readonly acp: {
    readonly keepalive_interval_s: number;
    readonly write_stall_s: number;
    readonly eof_grace_s: number;
    readonly fs_timeout_s: number;
    readonly use_client_terminal: boolean;
    readonly legacy_models: boolean;
    readonly all_sources: boolean;
  };
  readonly logging: {
    readonly level: "DEBUG" | "INFO" | "WARNING" | "ERROR";
    /** 0 = a file is never turned over. */
    readonly max_size_mb: number;
    readonly backup_count: number;
  };
}
