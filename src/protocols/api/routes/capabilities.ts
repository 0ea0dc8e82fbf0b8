/**
 * `GET /v1/capabilities` (api-server.md B5): what this build can do, honestly. A flag is true, and an endpoint
 * listed, only when its route works.
 */
import {
  ARTIFACT_CAPABILITIES,
  CAPABILITIES,
  DEVELOPER_CAPABILITIES,
  flagsOf,
  PROTOCOL_VERSION,
} from "../browser/protocol.ts";
import type { ApiService } from "../service.ts";

const ENDPOINTS = {
  health: { method: "GET", path: "/health" },
  health_detailed: { method: "GET", path: "/health/detailed" },
  models: { method: "GET", path: "/v1/models" },
  model_options: { method: "GET", path: "/api/model/options" },
  chat_completions: { method: "POST", path: "/v1/chat/completions" },
  responses: { method: "POST", path: "/v1/responses" },
  response: { method: "GET", path: "/v1/responses/{response_id}" },
  response_delete: { method: "DELETE", path: "/v1/responses/{response_id}" },
  skills: { method: "GET", path: "/v1/skills" },
  toolsets: { method: "GET", path: "/v1/toolsets" },
  sessions: { method: "GET", path: "/api/sessions" },
  session_create: { method: "POST", path: "/api/sessions" },
  session: { method: "GET", path: "/api/sessions/{session_id}" },
  session_update: { method: "PATCH", path: "/api/sessions/{session_id}" },
  session_delete: { method: "DELETE", path: "/api/sessions/{session_id}" },
  session_messages: { method: "GET", path: "/api/sessions/{session_id}/messages" },
  session_fork: { method: "POST", path: "/api/sessions/{session_id}/fork" },
  session_chat: { method: "POST", path: "/api/sessions/{session_id}/chat" },
  session_chat_stream: { method: "POST", path: "/api/sessions/{session_id}/chat/stream" },
  runs: { method: "POST", path: "/v1/runs" },
  openapi: { method: "GET", path: "/openapi.json" },
  docs: { method: "GET", path: "/docs" },
  run_list: { method: "GET", path: "/v1/runs" },
  run_status: { method: "GET", path: "/v1/runs/{run_id}" },
  run_events: { method: "GET", path: "/v1/runs/{run_id}/events" },
  run_steer: { method: "POST", path: "/v1/runs/{run_id}/steer" },
  run_stop: { method: "POST", path: "/v1/runs/{run_id}/stop" },
  run_clarify: { method: "POST", path: "/v1/runs/{run_id}/clarify" },
  run_approval: { method: "POST", path: "/v1/runs/{run_id}/approval" },
  browser_control_register: { method: "POST", path: "/v1/browser-control/register" },
  browser_control_ws: { method: "GET", path: "/v1/browser-control/ws" },
};

function browserControl(api: ApiService): Record<string, unknown> {
  const { enabled, developerMode } = flagsOf(api.hermes.settings());
  return {
    enabled,
    protocol_version: PROTOCOL_VERSION,
    capabilities: CAPABILITIES,
    artifact_capabilities: ARTIFACT_CAPABILITIES,
    developer_capabilities: DEVELOPER_CAPABILITIES,
    developer_mode: developerMode,
    real_browser_actions: true,
    transports: { local_vps: "websocket-subprotocol-ticket", cloud: "authenticated-gateway-rpc" },
  };
}

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
      responses_api: true,
      responses_streaming: true,
      run_submission: true,
      runs_idempotency: {
        supported: true,
        durable: api.kept.trouble("runs") === null,
        retention_seconds: 86400,
      },
      run_status: true,
      run_events_sse: true,
      run_events_replay: true,
      run_stop: true,
      run_steer: true,
      run_approval_response: true,
      run_clarify_response: true,
      tool_progress_events: settings.tool_progress_events,
      approval_events: true,
      session_resources: true,
      model_options: true,
      session_chat: true,
      session_chat_streaming: true,
      session_fork: true,
      session_model_lock: false,
      reasoning_streaming: settings.show_reasoning,
      admin_config_rw: false,
      jobs_admin: false,
      memory_write_api: false,
      skills_api: true,
      audio_api: false,
      realtime_voice: false,
      client_tools: true,
      scoped_keys: true,
      run_callbacks: (settings.callback_urls ?? []).length > 0 && (settings.callback_secret ?? "") !== "",
      metrics: api.metrics !== null,
      session_continuity_header: "X-Hermes-Session-Id",
      session_key_header: "X-Hermes-Session-Key",
      cors: api.options.origins.length > 0,
      browser_extension_control: browserControl(api),
    },
    endpoints: ENDPOINTS,
  });
}
