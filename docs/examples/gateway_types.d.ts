// The contract of `hermes gateway`, version 0.1.0. Written by `hermes gateway --types`.
export type TranscriptMessage = {
  role: "user" | "assistant" | "system" | "tool";
  text?: string;
  name?: string;
  context?: string;
  row_id?: number;
  timestamp?: number;
  display_kind?: string;
  display_metadata?: Record<string, unknown>;
  reasoning?: string;
  tool_call_id?: string;
  args?: Record<string, unknown>;
  [more: string]: unknown;
};
export type LivePayload = {
  session_id: string;
  session_key: string;
  message_count: number;
  messages: Array<TranscriptMessage>;
  info: SessionInfo;
  running: boolean;
  started_at: number;
  status: "idle" | "starting" | "waiting" | "working" | "streaming";
  inflight?: Inflight | null;
  queued?: {
    user: string;
    [more: string]: unknown;
  };
  open_requests: Array<OpenRequest>;
  resumed?: string;
  [more: string]: unknown;
};
export type SessionInfo = {
  model: string;
  provider: string;
  reasoning_effort: string;
  service_tier: string;
  fast: boolean;
  approval_mode: "manual" | "smart" | "off";
  yolo: boolean;
  tools: Record<string, Array<string>>;
  skills: Record<string, Array<string>>;
  mcp_servers: Array<McpServer>;
  cwd: string;
  branch: string;
  personality: string;
  title: string;
  profile_name: string;
  running: boolean;
  usage: Usage;
  version: string;
  release_date: string;
  update_behind: number | null;
  update_command: string;
  desktop_contract: number;
  credential_warning?: string;
  config_warning?: string;
  lazy?: true;
  [more: string]: unknown;
};
export type McpServer = {
  name: string;
  transport: "stdio" | "http" | "sse";
  tools: number;
  connected: boolean;
  status: "configured" | "connecting" | "connected" | "disabled" | "failed";
  disabled?: boolean;
  [more: string]: unknown;
};
export type Usage = {
  model?: string;
  input: number;
  output: number;
  reasoning?: number;
  prompt?: number;
  completion?: number;
  total: number;
  calls: number;
  context_used?: number;
  context_max?: number;
  context_percent?: number;
  cache_read?: number;
  cache_write?: number;
  active_subagents?: number;
  compressions?: number;
  cost_usd?: number;
  cost_status?: "exact" | "estimated";
  [more: string]: unknown;
};
export type Inflight = {
  user: string;
  assistant: string;
  streaming: boolean;
  [more: string]: unknown;
};
export type OpenRequest = {
  id: string;
  method: "approval" | "clarify" | "sudo" | "secret";
  params: Record<string, unknown>;
  [more: string]: unknown;
};
export type KeptEvent = {
  type: string;
  session_id: string;
  payload?: Record<string, unknown>;
  seq: number;
  [more: string]: unknown;
};
export type ApprovalRequest = {
  request_id: string;
  command: string;
  description: string;
  pattern_key: string;
  pattern_keys: Array<string>;
  allow_permanent: boolean;
  allow_session?: boolean;
  choices: Array<"once" | "session" | "always" | "deny">;
  smart_denied?: boolean;
  tool_name?: string;
  tool_id: string;
  [more: string]: unknown;
};
export type Directive = {
  type: "exec" | "alias" | "send" | "skill" | "prefill";
  name?: string;
  display?: string;
  output?: string;
  target?: string;
  arg?: string;
  message?: string;
  notice?: string;
  session_id?: string;
  stored_session_id?: string;
  value?: string;
  provider?: string;
  scope?: string;
  warning?: string;
  [more: string]: unknown;
};
export type ProviderRow = {
  slug: string;
  name: string;
  is_current: boolean;
  is_user_defined: boolean;
  models: Array<string>;
  total_models: number;
  source: string;
  authenticated: boolean;
  [more: string]: unknown;
};
export type SpawnTree = {
  session_id: string;
  started_at: number | null;
  finished_at: number;
  label: string;
  subagents: Array<unknown>;
  [more: string]: unknown;
};
/** Parameters and result of every method. */
export interface Methods {
  "session.create": {
    params: {
      cols?: number | null;
      cwd?: string | null;
      title?: string | null;
      messages?: Array<unknown> | null;
      parent_session_id?: string | null;
      model?: string | null;
      provider?: string | null;
      reasoning_effort?: string | null;
      fast?: boolean | string | number;
      source?: string | null;
      close_on_disconnect?: boolean | string | number;
    };
    result: {
      session_id: string;
      stored_session_id: string;
      message_count: number;
      messages: Array<TranscriptMessage>;
      info: {
        model: string;
        provider?: string;
        cwd: string;
        branch: string;
        lazy: true;
        [more: string]: unknown;
      };
      [more: string]: unknown;
    };
  };
  "session.list": {
    params: {
      limit?: number | null;
      title?: string | null;
    };
    result: {
      sessions: Array<{
        id: string;
        title: string;
        preview: string;
        started_at: number;
        last_active: number;
        message_count: number;
        source: string;
        pinned: boolean;
        resolved_id?: string;
        [more: string]: unknown;
      }>;
      [more: string]: unknown;
    };
  };
  "session.active_list": {
    params: {
      current_session_id?: string;
    };
    result: {
      sessions: Array<{
        current: boolean;
        id: string;
        last_active: number;
        message_count: number;
        model: string;
        preview: string;
        session_key: string;
        started_at: number;
        status: string;
        title: string;
        [more: string]: unknown;
      }>;
      [more: string]: unknown;
    };
  };
  "session.activate": {
    params: {
      session_id?: string;
      omit_messages?: boolean | string | number;
    };
    result: LivePayload;
  };
  "session.close": {
    params: {
      session_id?: string;
    };
    result: {
      closed: boolean;
      [more: string]: unknown;
    };
  };
  "session.resume": {
    params: {
      session_id?: string;
      cols?: number | null;
      close_on_disconnect?: boolean | string | number;
      lazy?: boolean | string | number;
      eager_build?: boolean | string | number;
      omit_messages?: boolean | string | number;
      defer_history?: boolean | string | number;
    };
    result: LivePayload;
  };
  "session.most_recent": {
    params: Record<string, never>;
    result: {
      session_id: string | null;
      title?: string;
      [more: string]: unknown;
    };
  };
  "session.set_pinned": {
    params: {
      session_id?: string;
      pinned?: boolean | string | number;
    };
    result: {
      session_id: string;
      pinned: boolean;
      changed: boolean;
      [more: string]: unknown;
    };
  };
  "session.delete": {
    params: {
      session_id?: string;
    };
    result: {
      deleted: string;
      [more: string]: unknown;
    };
  };
  "session.interrupt": {
    params: {
      session_id?: string;
    };
    result: {
      status: "interrupted";
      [more: string]: unknown;
    };
  };
  "session.steer": {
    params: {
      session_id?: string;
      text?: string | null;
    };
    result: {
      status: "queued" | "rejected";
      text: string;
      [more: string]: unknown;
    };
  };
  "session.history": {
    params: {
      session_id?: string;
    };
    result: {
      count: number;
      messages: Array<TranscriptMessage>;
      [more: string]: unknown;
    };
  };
  "session.usage": {
    params: {
      session_id?: string;
    };
    result: Usage;
  };
  "session.status": {
    params: {
      session_id?: string;
    };
    result: {
      output: string;
      session_key: string;
      model: string;
      provider: string;
      running: boolean;
      status: string;
      tokens: number;
      created_at: number;
      updated_at: number;
      [more: string]: unknown;
    };
  };
  "session.title": {
    params: {
      session_id?: string;
      title?: string | null;
    };
    result: {
      title: string;
      session_key?: string;
      pending?: boolean;
      [more: string]: unknown;
    };
  };
  "terminal.resize": {
    params: {
      session_id?: string;
      cols?: number | null;
    };
    result: {
      cols: number;
      [more: string]: unknown;
    };
  };
  "session.events.since": {
    params: {
      session_id?: string;
      last_seen?: number | null;
    };
    result: {
      events: Array<KeptEvent>;
      latest_seq: number;
      truncated: boolean;
      count: number;
      epoch: string;
      open_requests: Array<OpenRequest>;
      [more: string]: unknown;
    };
  };
  "session.events.stats": {
    params: Record<string, never>;
    result: {
      sessions: number;
      events: number;
      bytes: number;
      max_per_session: number;
      max_bytes_per_session: number;
      max_bytes_process: number;
      [more: string]: unknown;
    };
  };
  "prompt.submit": {
    params: {
      session_id?: string;
      text?: string | Array<{
        type: "text";
        text: string;
        [more: string]: unknown;
      } | {
        type: "image_url";
        image_url: {
          url: string;
          [more: string]: unknown;
        };
        [more: string]: unknown;
      }> | null;
      queued?: boolean | string | number;
      display_kind?: "hidden";
      truncate_before_user_ordinal?: number | string;
      truncate_before_row_id?: number | string;
      truncate_before_message_id?: string;
      confirm_truncate?: boolean | string | number;
      confirm_empty_truncate?: boolean | string | number;
      restore_files?: boolean | string | number;
      rebind_survivor_row_ids?: Array<number> | null;
    };
    result: {
      status: "streaming" | "queued" | "steered";
      survivor_user_row_ids?: Array<number | null>;
      survivor_row_id_map?: Record<string, number | null>;
      restored_files?: Array<{
        path: string;
        action: "write" | "remove" | "none" | "conflict" | "lost";
        why?: string;
        [more: string]: unknown;
      }>;
      [more: string]: unknown;
    };
  };
  "clarify.respond": {
    params: {
      request_id?: string;
      answer?: string | null;
    };
    result: {
      status: "ok";
      [more: string]: unknown;
    };
  };
  "sudo.respond": {
    params: {
      request_id?: string;
      password?: string | null;
    };
    result: {
      status: "ok" | "expired";
      [more: string]: unknown;
    };
  };
  "secret.respond": {
    params: {
      request_id?: string;
      value?: string | null;
    };
    result: {
      status: "ok" | "expired";
      [more: string]: unknown;
    };
  };
  "approval.respond": {
    params: {
      session_id?: string;
      choice?: "once" | "session" | "always" | "deny";
      all?: boolean | string | number;
      request_id?: string | null;
    };
    result: {
      resolved: number;
      [more: string]: unknown;
    };
  };
  "client.capabilities": {
    params: {
      server_requests?: boolean | string | number;
      client?: Record<string, unknown>;
    };
    result: {
      server_requests: Array<string>;
      declines_not_shown: boolean;
      [more: string]: unknown;
    };
  };
  "gateway.capabilities": {
    params: Record<string, never>;
    result: {
      per_session_exclusive_submit: boolean;
      worker_snapshot_v1: boolean;
      [more: string]: unknown;
    };
  };
  "request.answer": {
    params: {
      id?: string;
      result?: Record<string, unknown>;
    };
    result: {
      status: "ok" | "expired";
      [more: string]: unknown;
    };
  };
  "clarify.lock": {
    params: {
      request_id?: string;
      question_id?: string;
      answer?: string | null;
    };
    result: {
      status: "ok" | "expired";
      remaining?: Array<string>;
      [more: string]: unknown;
    };
  };
  "approval.pending": {
    params: {
      session_id?: string;
    };
    result: {
      approvals: Array<ApprovalRequest>;
      [more: string]: unknown;
    };
  };
  "approval.received": {
    params: {
      session_id?: string;
      request_id?: string;
    };
    result: {
      acknowledged: boolean;
      [more: string]: unknown;
    };
  };
  "config.get": {
    params: {
      key?: string | null;
      session_id?: string;
      cwd?: string | null;
    };
    result: {
      value?: string;
      display?: string;
      config?: Record<string, unknown>;
      mtime?: number;
      model?: string;
      provider?: string;
      providers?: Array<string>;
      home?: string;
      cwd?: string;
      branch?: string;
      prompt?: string;
      [more: string]: unknown;
    };
  };
  "config.set": {
    params: {
      key?: string | null;
      value?: string | boolean | number | null;
      session_id?: string;
      scope?: string | null;
      confirm_expensive_model?: boolean | string | number;
    };
    result: {
      key: string;
      value: string;
      warning?: string;
      confirm_required?: boolean;
      confirm_message?: string;
      provider?: string;
      scope?: "session" | "global";
      history_reset?: boolean;
      info?: unknown;
      cwd?: string;
      branch?: string;
      [more: string]: unknown;
    };
  };
  "commands.catalog": {
    params: Record<string, never>;
    result: {
      pairs: Array<[string, string]>;
      sub: Record<string, Array<string>>;
      canon: Record<string, string>;
      categories: Array<{
        name: string;
        pairs: Array<[string, string]>;
        [more: string]: unknown;
      }>;
      skill_count: number;
      destructive: Array<string>;
      warning: string;
      [more: string]: unknown;
    };
  };
  "complete.slash": {
    params: {
      text?: string | null;
    };
    result: {
      items: Array<{
        text: string;
        display: string;
        meta: string;
        [more: string]: unknown;
      }>;
      replace_from: number;
      [more: string]: unknown;
    };
  };
  "command.resolve": {
    params: {
      name?: string | null;
    };
    result: {
      canonical: string;
      description: string;
      category: string;
      [more: string]: unknown;
    };
  };
  "command.dispatch": {
    params: {
      session_id?: string;
      command?: string | null;
      name?: string | null;
      arg?: string | null;
      confirm_expensive_model?: boolean | string | number;
    };
    result: Directive;
  };
  "slash.exec": {
    params: {
      session_id?: string;
      command?: string | null;
      confirm_expensive_model?: boolean | string | number;
    };
    result: {
      output?: string;
      warning?: string;
      type?: string;
      message?: string;
      [more: string]: unknown;
    };
  };
  "ping": {
    params: Record<string, never>;
    result: {
      pong: true;
      [more: string]: unknown;
    };
  };
  "setup.status": {
    params: Record<string, never>;
    result: {
      provider_configured: boolean;
      [more: string]: unknown;
    };
  };
  "model.options": {
    params: {
      session_id?: string;
      refresh?: boolean | string | number;
      include_unconfigured?: boolean | string | number;
      explicit_only?: boolean | string | number;
    };
    result: {
      model: string;
      provider: string;
      providers: Array<ProviderRow>;
      [more: string]: unknown;
    };
  };
  "reload.env": {
    params: Record<string, never>;
    result: {
      updated: number;
      [more: string]: unknown;
    };
  };
  "process.stop": {
    params: {
      session_id?: string;
    };
    result: {
      killed: number;
      [more: string]: unknown;
    };
  };
  "shell.exec": {
    params: {
      session_id?: string;
      command?: string | null;
    };
    result: {
      stdout: string;
      stderr: string;
      code: number;
      [more: string]: unknown;
    };
  };
  "session.undo": {
    params: {
      session_id?: string;
    };
    result: {
      removed: number;
      [more: string]: unknown;
    };
  };
  "session.branch": {
    params: {
      session_id?: string;
      name?: string | null;
      count?: number | null;
    };
    result: {
      session_id: string;
      stored_session_id: string;
      title: string;
      parent: string;
      message_count: number;
      messages: Array<TranscriptMessage>;
      info: SessionInfo;
      [more: string]: unknown;
    };
  };
  "session.compress": {
    params: {
      session_id?: string;
      focus_topic?: string | null;
    };
    result: {
      status: "compressed" | "aborted" | "preview";
      removed: number;
      before_messages: number;
      after_messages: number;
      before_tokens: number;
      after_tokens: number;
      summary: {
        noop: boolean;
        headline: string;
        token_line: string;
        note: string | null;
        [more: string]: unknown;
      };
      plan?: {
        kept_first: number;
        kept_last: number;
        summarized_messages: number;
        summarized_tokens: number;
        [more: string]: unknown;
      };
      usage: Usage;
      info: SessionInfo;
      messages: Array<TranscriptMessage>;
      [more: string]: unknown;
    };
  };
  "session.save": {
    params: {
      session_id?: string;
    };
    result: {
      file: string;
      [more: string]: unknown;
    };
  };
  "session.cwd.set": {
    params: {
      session_id?: string;
      cwd?: string | null;
    };
    result: SessionInfo;
  };
  "rollback.list": {
    params: {
      session_id?: string;
    };
    result: {
      enabled: boolean;
      checkpoints: Array<{
        hash: string;
        timestamp: number;
        message: string;
        files: number;
        [more: string]: unknown;
      }>;
      [more: string]: unknown;
    };
  };
  "rollback.diff": {
    params: {
      session_id?: string;
      hash?: string | number | null;
      file_path?: string | null;
    };
    result: {
      stat: string;
      diff: string;
      [more: string]: unknown;
    };
  };
  "rollback.restore": {
    params: {
      session_id?: string;
      hash?: string | number | null;
      file_path?: string | null;
    };
    result: {
      success: boolean;
      restored_to?: string;
      reason?: string;
      error?: string;
      history_removed?: number;
      files?: Array<{
        path: string;
        action: "write" | "remove" | "none" | "conflict" | "lost";
        why?: string;
        [more: string]: unknown;
      }>;
      [more: string]: unknown;
    };
  };
  "prompt.background": {
    params: {
      session_id?: string;
      text?: string | null;
    };
    result: {
      task_id: string;
      [more: string]: unknown;
    };
  };
  "skills.manage": {
    params: {
      action?: string | null;
      query?: string | null;
      page?: number | null;
      page_size?: number | null;
    };
    result: {
      skills?: Record<string, Array<string>>;
      results?: Array<{
        name: string;
        description: string;
        source?: string;
        [more: string]: unknown;
      }>;
      items?: Array<{
        name: string;
        description: string;
        source?: string;
        [more: string]: unknown;
      }>;
      info?: {
        name: string;
        description: string;
        category: string;
        source?: string;
        files?: Array<string>;
        content?: string;
        [more: string]: unknown;
      };
      installed?: true;
      name?: string;
      path?: string;
      [more: string]: unknown;
    };
  };
  "skills.reload": {
    params: Record<string, never>;
    result: {
      output: string;
      result: {
        added: Array<string>;
        removed: Array<string>;
        total: number;
        [more: string]: unknown;
      };
      [more: string]: unknown;
    };
  };
  "reload.mcp": {
    params: {
      session_id?: string;
      confirm?: boolean | string | number;
      always?: boolean | string | number;
    };
    result: {
      status: "reloaded" | "confirm_required";
      message?: string;
      [more: string]: unknown;
    };
  };
  "cli.exec": {
    params: {
      argv?: Array<string>;
      timeout?: number | null;
    };
    result: {
      blocked: boolean;
      hint?: string;
      code: number;
      output: string;
      [more: string]: unknown;
    };
  };
  "image.attach": {
    params: {
      session_id?: string;
      path?: string | null;
    };
    result: {
      attached: boolean;
      path: string;
      count: number;
      remainder: string;
      text: string;
      name?: string;
      width?: number;
      height?: number;
      token_estimate?: number;
      [more: string]: unknown;
    };
  };
  "input.detect_drop": {
    params: {
      session_id?: string;
      text?: string | null;
    };
    result: {
      matched: boolean;
      is_image?: boolean;
      path?: string;
      text?: string;
      count?: number;
      name?: string;
      width?: number;
      height?: number;
      token_estimate?: number;
      [more: string]: unknown;
    };
  };
  "clipboard.paste": {
    params: {
      session_id?: string;
    };
    result: {
      attached: boolean;
      message?: string;
      path?: string;
      count?: number;
      name?: string;
      width?: number;
      height?: number;
      token_estimate?: number;
      [more: string]: unknown;
    };
  };
  "paste.collapse": {
    params: {
      text?: string | null;
    };
    result: {
      placeholder: string;
      path: string;
      lines: number;
      [more: string]: unknown;
    };
  };
  "image.attach_bytes": {
    params: {
      session_id?: string;
      content_base64?: string | null;
      filename?: string | null;
    };
    result: {
      attached: boolean;
      path: string;
      count: number;
      remainder: string;
      text: string;
      bytes: number;
      name?: string;
      width?: number;
      height?: number;
      token_estimate?: number;
      [more: string]: unknown;
    };
  };
  "image.detach": {
    params: {
      session_id?: string;
      path?: string | null;
    };
    result: {
      detached: boolean;
      count: number;
      [more: string]: unknown;
    };
  };
  "file.attach": {
    params: {
      session_id?: string;
      path?: string | null;
      data_url?: string | null;
      name?: string | null;
    };
    result: {
      attached: boolean;
      name: string;
      path: string;
      ref_path: string;
      ref_text: string;
      uploaded: boolean;
      [more: string]: unknown;
    };
  };
  "pdf.attach": {
    params: {
      session_id?: string;
      path?: string | null;
      content_base64?: string | null;
      filename?: string | null;
      first_page?: number | null;
      last_page?: number | null;
    };
    result: {
      attached: boolean;
      filename: string;
      pages_attached: number;
      total_pages?: number;
      count: number;
      pages: Array<{
        page: number;
        path: string;
        name?: string;
        width?: number;
        height?: number;
        token_estimate?: number;
        [more: string]: unknown;
      }>;
      text: string;
      [more: string]: unknown;
    };
  };
  "llm.oneshot": {
    params: {
      session_id?: string;
      template?: string | null;
      variables?: Record<string, unknown>;
      instructions?: string | null;
      input?: string | null;
      task?: string | null;
      max_tokens?: number | null;
      temperature?: number | null;
    };
    result: {
      text: string;
      model: string;
      provider: string;
      [more: string]: unknown;
    };
  };
  "insights.get": {
    params: {
      days?: number | null;
    };
    result: {
      days: number;
      sessions: number;
      messages: number;
      by_source: Record<string, {
        sessions: number;
        messages: number;
        [more: string]: unknown;
      }>;
      by_model: Record<string, {
        sessions: number;
        messages: number;
        [more: string]: unknown;
      }>;
      model_calls: number;
      tokens: number;
      cost_usd: number;
      by_day: Array<{
        day: string;
        model_calls: number;
        tokens: number;
        cost_usd: number;
        [more: string]: unknown;
      }>;
      [more: string]: unknown;
    };
  };
  "toolsets.list": {
    params: {
      session_id?: string;
    };
    result: {
      toolsets: Array<{
        name: string;
        description: string;
        tool_count: number;
        enabled: boolean;
        [more: string]: unknown;
      }>;
      [more: string]: unknown;
    };
  };
  "tools.list": {
    params: {
      session_id?: string;
    };
    result: {
      toolsets: Array<{
        name: string;
        description: string;
        tool_count: number;
        enabled: boolean;
        tools: Array<string>;
        [more: string]: unknown;
      }>;
      [more: string]: unknown;
    };
  };
  "tools.show": {
    params: {
      session_id?: string;
    };
    result: {
      sections: Array<{
        name: string;
        tools: Array<{
          name: string;
          description: string;
          [more: string]: unknown;
        }>;
        [more: string]: unknown;
      }>;
      total: number;
      [more: string]: unknown;
    };
  };
  "agents.list": {
    params: Record<string, never>;
    result: {
      processes: Array<{
        session_id: string;
        command: string;
        status: "running" | "exited";
        uptime: number;
        [more: string]: unknown;
      }>;
      [more: string]: unknown;
    };
  };
  "plugins.list": {
    params: Record<string, never>;
    result: {
      plugins: Array<Record<string, unknown>>;
      [more: string]: unknown;
    };
  };
  "config.show": {
    params: {
      session_id?: string;
    };
    result: {
      sections: Array<{
        title: string;
        rows: Array<[string, string]>;
        [more: string]: unknown;
      }>;
      [more: string]: unknown;
    };
  };
  "complete.path": {
    params: {
      word?: string | null;
      cwd?: string | null;
      session_id?: string;
    };
    result: {
      items: Array<{
        text: string;
        display: string;
        meta: string;
        [more: string]: unknown;
      }>;
      [more: string]: unknown;
    };
  };
  "process.list": {
    params: {
      session_id?: string;
    };
    result: {
      processes: Array<{
        session_id: string;
        command: string;
        status: "running" | "exited";
        pid: number;
        cwd: string;
        uptime_seconds: number;
        exit_code?: number;
        [more: string]: unknown;
      }>;
      [more: string]: unknown;
    };
  };
  "process.kill": {
    params: {
      session_id?: string;
      process_id?: string | null;
    };
    result: {
      killed: true;
      process_id: string;
      [more: string]: unknown;
    };
  };
  "tools.configure": {
    params: {
      action?: string | null;
      names?: Array<string> | null;
      session_id?: string;
    };
    result: {
      changed: Array<string>;
      enabled_toolsets: Array<string>;
      info: SessionInfo | null;
      missing_servers: Array<string>;
      reset: boolean;
      unknown: Array<string>;
      [more: string]: unknown;
    };
  };
  "session.context_breakdown": {
    params: {
      session_id?: string;
    };
    result: {
      categories: Array<{
        name: string;
        tokens: number;
        [more: string]: unknown;
      }>;
      estimated_total: number;
      context_max: number | null;
      [more: string]: unknown;
    };
  };
  "model.save_key": {
    params: {
      slug?: string | null;
      api_key?: string | null;
    };
    result: {
      provider: ProviderRow;
      [more: string]: unknown;
    };
  };
  "model.disconnect": {
    params: {
      slug?: string | null;
    };
    result: {
      slug: string;
      name: string;
      disconnected: true;
      [more: string]: unknown;
    };
  };
  "setup.runtime_check": {
    params: {
      session_id?: string;
    };
    result: {
      ok: boolean;
      model: string;
      provider: string;
      error?: string;
      [more: string]: unknown;
    };
  };
  "delegation.status": {
    params: Record<string, never>;
    result: {
      active: Array<{
        subagent_id: string;
        parent_id: string | null;
        depth: number;
        goal: string;
        model: string;
        started_at: number;
        status: string;
        tool_count: number;
        delegation_id: string;
        child_session_id?: string;
        last_tool?: string;
        [more: string]: unknown;
      }>;
      paused: boolean;
      max_spawn_depth: number;
      max_concurrent_children: number;
      [more: string]: unknown;
    };
  };
  "delegation.pause": {
    params: {
      paused?: boolean | string | number;
    };
    result: {
      paused: boolean;
      [more: string]: unknown;
    };
  };
  "subagent.interrupt": {
    params: {
      subagent_id?: string;
      session_id?: string;
    };
    result: {
      found: boolean;
      subagent_id: string;
      [more: string]: unknown;
    };
  };
  "subagent.steer": {
    params: {
      session_id?: string;
      subagent_id?: string;
      text?: string | null;
    };
    result: {
      status: "queued" | "rejected";
      subagent_id: string;
      text: string;
      [more: string]: unknown;
    };
  };
  "subagent.list": {
    params: {
      session_id?: string;
    };
    result: {
      subagents: Array<{
        subagent_id: string;
        parent_id: string | null;
        depth: number;
        goal: string;
        model: string;
        started_at: number;
        status: string;
        tool_count: number;
        delegation_id: string;
        child_session_id?: string;
        last_tool?: string;
        [more: string]: unknown;
      }>;
      delegations: Array<Record<string, unknown>>;
      [more: string]: unknown;
    };
  };
  "subagent.tail": {
    params: {
      session_id?: string;
      subagent_id?: string;
    };
    result: {
      subagent_id: string;
      available: boolean;
      text: string;
      truncated: boolean;
      [more: string]: unknown;
    };
  };
  "spawn_tree.save": {
    params: {
      session_id?: string | null;
      subagents?: Array<unknown>;
      started_at?: number | null;
      finished_at?: number | null;
      label?: string | null;
    };
    result: {
      path: string;
      session_id: string;
      [more: string]: unknown;
    };
  };
  "spawn_tree.list": {
    params: {
      session_id?: string | null;
      limit?: number | null;
      cross_session?: boolean | string | number;
    };
    result: {
      entries: Array<{
        path: string;
        session_id: string;
        started_at: number | null;
        finished_at: number;
        label: string;
        count: number;
        [more: string]: unknown;
      }>;
      [more: string]: unknown;
    };
  };
  "spawn_tree.load": {
    params: {
      path?: string | null;
    };
    result: SpawnTree;
  };
  "voice.toggle": {
    params: Record<string, never>;
    result: Record<string, unknown>;
  };
  "voice.record": {
    params: Record<string, never>;
    result: Record<string, unknown>;
  };
  "voice.tts": {
    params: {
      text?: string | null;
    };
    result: Record<string, unknown>;
  };
  "credits.view": {
    params: Record<string, never>;
    result: {
      ok: boolean;
      logged_in: boolean;
      error?: string;
      message?: string;
      [more: string]: unknown;
    };
  };
  "billing.state": {
    params: Record<string, never>;
    result: {
      ok: boolean;
      logged_in: boolean;
      error?: string;
      message?: string;
      [more: string]: unknown;
    };
  };
  "billing.charge": {
    params: Record<string, never>;
    result: {
      ok: boolean;
      logged_in: boolean;
      error?: string;
      message?: string;
      [more: string]: unknown;
    };
  };
  "billing.charge_status": {
    params: Record<string, never>;
    result: {
      ok: boolean;
      logged_in: boolean;
      error?: string;
      message?: string;
      [more: string]: unknown;
    };
  };
  "billing.auto_reload": {
    params: Record<string, never>;
    result: {
      ok: boolean;
      logged_in: boolean;
      error?: string;
      message?: string;
      [more: string]: unknown;
    };
  };
  "billing.step_up": {
    params: Record<string, never>;
    result: {
      ok: boolean;
      logged_in: boolean;
      error?: string;
      message?: string;
      [more: string]: unknown;
    };
  };
  "learning.frames": {
    params: Record<string, never>;
    result: Record<string, unknown>;
  };
  "learning.detail": {
    params: Record<string, never>;
    result: Record<string, unknown>;
  };
  "learning.delete": {
    params: Record<string, never>;
    result: Record<string, unknown>;
  };
  "learning.edit": {
    params: Record<string, never>;
    result: Record<string, unknown>;
  };
  "pet.cells": {
    params: Record<string, never>;
    result: {
      enabled: boolean;
      [more: string]: unknown;
    };
  };
  "pet.gallery": {
    params: Record<string, never>;
    result: {
      enabled: boolean;
      active: string | null;
      pets: Array<Record<string, unknown>>;
      [more: string]: unknown;
    };
  };
  "pet.select": {
    params: {
      slug?: string | null;
    };
    result: {
      ok: boolean;
      [more: string]: unknown;
    };
  };
  "plugins.manage": {
    params: {
      action?: string | null;
      name?: string | null;
      enable?: boolean | string | number;
    };
    result: {
      plugins: Array<Record<string, unknown>>;
      user_count: number;
      bundled_count: number;
      [more: string]: unknown;
    };
  };
  "browser.manage": {
    params: {
      action?: string | null;
      url?: string | null;
      session_id?: string;
    };
    result: {
      connected: boolean;
      [more: string]: unknown;
    };
  };
}
/** Payload of every event. */
export interface Events {
  "gateway.ready": {
    skin: Record<string, unknown>;
    change_events: boolean;
    replay_epoch: string;
    heartbeat?: boolean;
    protocol: {
      version: number;
      [more: string]: unknown;
    };
    capabilities: Record<string, boolean>;
    [more: string]: unknown;
  };
  "message.start": undefined;
  "thinking.delta": {
    text: string;
    [more: string]: unknown;
  };
  "reasoning.delta": {
    text: string;
    [more: string]: unknown;
  };
  "reasoning.available": {
    text: string;
    [more: string]: unknown;
  };
  "message.delta": {
    text: string;
    [more: string]: unknown;
  };
  "message.complete": {
    text: string;
    usage: Usage;
    status: "complete" | "interrupted" | "error";
    reasoning?: string;
    warning?: string;
    error?: string;
    recoverable?: boolean;
    failure_reason?: string;
    partial?: boolean;
    "hermes.limit"?: {
      kind: "iterations" | "model_calls" | "tokens" | "usd" | "seconds" | "guardrail";
      setting: string;
      text: string;
      [more: string]: unknown;
    };
    steer_requeued?: string;
    [more: string]: unknown;
  };
  "tool.generating": {
    name: string;
    [more: string]: unknown;
  };
  "tool.start": {
    tool_id: string;
    name: string;
    context: string;
    args?: Record<string, unknown>;
    args_text?: string;
    [more: string]: unknown;
  };
  "tool.progress": {
    name: string;
    preview: string;
    tool_id: string;
    [more: string]: unknown;
  };
  "tool.complete": {
    tool_id: string;
    name: string;
    args: Record<string, unknown>;
    result: unknown;
    duration_s?: number;
    summary?: string;
    error?: string;
    inline_diff?: string;
    result_text?: string;
    todos?: Array<{
      id: string;
      content: string;
      status: "pending" | "in_progress" | "completed" | "cancelled";
      [more: string]: unknown;
    }>;
    [more: string]: unknown;
  };
  "approval.request": ApprovalRequest;
  "clarify.request": {
    request_id: string;
    question: string;
    choices: Array<string> | null;
    tool_name?: string;
    tool_id?: string;
    [more: string]: unknown;
  };
  "sudo.request": {
    request_id: string;
    command: string;
    tool_name?: string;
    tool_id?: string;
    [more: string]: unknown;
  };
  "secret.request": {
    request_id: string;
    env_var: string;
    prompt: string;
    metadata?: Record<string, unknown>;
    tool_name?: string;
    tool_id?: string;
    [more: string]: unknown;
  };
  "approval.expire": {
    request_id: string;
    [more: string]: unknown;
  };
  "sudo.expire": {
    request_id: string;
    [more: string]: unknown;
  };
  "secret.expire": {
    request_id: string;
    [more: string]: unknown;
  };
  "request.cancel": {
    id: string;
    method: "approval" | "clarify" | "sudo" | "secret";
    reason: "timeout" | "interrupted" | "shutdown" | "resolved" | "session_closed";
    [more: string]: unknown;
  };
  "session.info": SessionInfo;
  "session.title": {
    session_id: string;
    title: string;
    [more: string]: unknown;
  };
  "status.update": {
    kind: string;
    text: string;
    [more: string]: unknown;
  };
  "subagent.spawn_requested": {
    goal: string;
    task_index: number;
    task_count: number;
    subagent_id: string;
    parent_id: string | null;
    delegation_id: string;
    depth: number;
    tool_count: number;
    model?: string;
    child_session_id?: string;
    toolsets?: Array<string>;
    [more: string]: unknown;
  };
  "subagent.start": {
    goal: string;
    task_index: number;
    task_count: number;
    subagent_id: string;
    parent_id: string | null;
    delegation_id: string;
    depth: number;
    tool_count: number;
    model?: string;
    child_session_id?: string;
    toolsets?: Array<string>;
    text: string;
    [more: string]: unknown;
  };
  "subagent.thinking": {
    goal: string;
    task_index: number;
    task_count: number;
    subagent_id: string;
    parent_id: string | null;
    delegation_id: string;
    depth: number;
    tool_count: number;
    model?: string;
    child_session_id?: string;
    toolsets?: Array<string>;
    text: string;
    [more: string]: unknown;
  };
  "subagent.tool": {
    goal: string;
    task_index: number;
    task_count: number;
    subagent_id: string;
    parent_id: string | null;
    delegation_id: string;
    depth: number;
    tool_count: number;
    model?: string;
    child_session_id?: string;
    toolsets?: Array<string>;
    text: string;
    tool_name: string;
    tool_preview: string;
    [more: string]: unknown;
  };
  "subagent.progress": {
    goal: string;
    task_index: number;
    task_count: number;
    subagent_id: string;
    parent_id: string | null;
    delegation_id: string;
    depth: number;
    tool_count: number;
    model?: string;
    child_session_id?: string;
    toolsets?: Array<string>;
    text: string;
    stale?: boolean;
    [more: string]: unknown;
  };
  "subagent.complete": {
    goal: string;
    task_index: number;
    task_count: number;
    subagent_id: string;
    parent_id: string | null;
    delegation_id: string;
    depth: number;
    tool_count: number;
    model?: string;
    child_session_id?: string;
    toolsets?: Array<string>;
    text: string;
    status: "completed" | "failed" | "error" | "timeout" | "interrupted";
    summary: string;
    preview: string;
    duration_seconds: number;
    input_tokens: number;
    output_tokens: number;
    reasoning_tokens: number;
    api_calls: number;
    files_read: Array<string>;
    files_written: Array<string>;
    output_tail: Array<{
      tool: string;
      preview: string;
      is_error: boolean;
      [more: string]: unknown;
    }>;
    cost_usd?: number;
    error?: string;
    [more: string]: unknown;
  };
  "background.complete": {
    task_id: string;
    text: string;
    [more: string]: unknown;
  };
  "skin.changed": Record<string, unknown>;
  "error": {
    message: string;
    [more: string]: unknown;
  };
}
export type MethodName = keyof Methods;
export type EventType = keyof Events;
export interface Request<M extends MethodName = MethodName> {
  jsonrpc?: "2.0";
  id: string | number;
  method: M;
  params?: Methods[M]["params"];
}
export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}
export type Response<M extends MethodName = MethodName> =
  | { jsonrpc: "2.0"; id: string | number | null; result: Methods[M]["result"] }
  | { jsonrpc: "2.0"; id: string | number | null; error: RpcError };
export interface EventParams<T extends EventType = EventType> {
  type: T;
  session_id?: string;
  payload: Events[T];
  seq?: number;
}
export interface EventFrame<T extends EventType = EventType> {
  jsonrpc: "2.0";
  method: "event";
  params: EventParams<T>;
}
