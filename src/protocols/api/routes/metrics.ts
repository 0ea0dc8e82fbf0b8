/** `GET /metrics`: the counters as Prometheus reads them; as if it were not there until the configuration asks for it. */
import { ApiError } from "../errors.ts";
import type { ApiService } from "../service.ts";

export function getMetrics(api: ApiService): Response {
  const { metrics, admission, hermes } = api;
  if (!metrics) {
    throw new ApiError(404, "not_found", "Metrics are off; set gateway.api_server.metrics to true");
  }
  const text = metrics.render({
    active: admission.active,
    runs: api.runs.live,
    draining: admission.draining,
    version: hermes.version,
    startedAt: api.startedAt,
  });
  return new Response(text, { headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" } });
}
