/**
 * `GET /v1/capabilities` (api-server.md B5): what this build can do, honestly. A flag is true, and an endpoint
 * listed, only when its route works.
 */
import type { ApiService } from "../service.ts";

const ENDPOINTS = {
  health: { method: "GET", path: "/health" },
  health_detailed: { method: "GET", path: "/health/detailed" },
  models: { method: "GET", path: "/v1/models" },
  model_options: { method: "GET", path: "/api/model/options" },
  chat_completions: { method: "POST", path: "/v1/chat/completions" },
  run_approval: { method: "POST", path: "/v1/runs/{run_id}/approval" },
};

const BROWSER_CONTROL = {
  enabled: false,
  protocol_version: 1,
  capabilities: [
    "browser_back",
    "browser_click",
    "browser_navigate",
    "browser_press",
    "browser_screenshot",
    "browser_scroll",
    "browser_snapshot",
    "browser_tab_activate",
    "browser_tabs",
    "browser_type",
    "controller.noop",
  ],
  artifact_capabilities: ["browser_artifact_download", "browser_artifact_upload"],
  developer_capabilities: ["browser_cdp", "browser_evaluate"],
  developer_mode: false,
  real_browser_actions: false,
  transports: { local_vps: "websocket-subprotocol-ticket", cloud: "authenticated-gateway-rpc" },
};

export function getCapabilities(api: ApiService): Response {
  const settings = api.hermes.settings().gateway.api_server;
  return Response.json({
    object: "hermes.api_server.capabilities",
    platform: "hermes-agent",
    model: api.options.modelName,
    auth: { type: "bearer", required: true },
    runtime: {
      mode: "server_agent",
      tool_execution: "server",
      split_runtime: false,
      description: "Tools run on the API-server host.",
    },
    features: {
      chat_completions: true,
      chat_completions_streaming: true,
      responses_api: false,
      responses_streaming: false,
      run_submission: false,
      runs_idempotency: { supported: false, durable: false, retention_seconds: 86400 },
      run_status: false,
      run_events_sse: false,
      run_events_replay: false,
      run_stop: false,
      run_steer: false,
      run_approval_response: false,
      tool_progress_events: settings.tool_progress_events,
      approval_events: true,
      session_resources: false,
      model_options: true,
      session_chat: false,
      session_chat_streaming: false,
      session_fork: false,
      session_model_lock: false,
      reasoning_streaming: settings.show_reasoning,
      admin_config_rw: false,
      jobs_admin: false,
      memory_write_api: false,
      skills_api: false,
      audio_api: false,
      realtime_voice: false,
      client_tools: false,
      session_continuity_header: "X-Hermes-Session-Id",
      session_key_header: "X-Hermes-Session-Key",
      cors: api.options.origins.length > 0,
      browser_extension_control: BROWSER_CONTROL,
    },
    endpoints: ENDPOINTS,
  });
}
