/**
 * One request through everything that stands around routing (api-server.md A5): the gates before it, the headers of
 * every answer after it, its line in the log and its place in the counters. Knows no router.
 */
import { jsonLine } from "@/lib/log.ts";
import { errorResponse, toApiError } from "./errors.ts";
import { readForwarded } from "./forwarded.ts";
import { checkContentLength, checkHost, checkOrigin, finishHeaders } from "./gates.ts";
import type { Front } from "./front.ts";

/** What is known of a request while it is answered; the router fills in the rest. */
export interface Visit {
  readonly id: string;
  /** The client's address, through trusted proxies. */
  readonly peer: string;
  /** The pattern of the route; empty when there is none. */
  route: string;
  /** The name of the key; empty without one. */
  key: string;
}

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly origin: string | null;
}

/** The answer of `next`, or a refusal or preflight instead; never throws for a refusal. */
export async function throughGates(
  api: Front,
  request: Request,
  peer: string,
  next: (visit: Visit) => Response | Promise<Response>,
): Promise<Response> {
  const { options, hermes } = api;
  const begun = hermes.platform.clock.monotonic();
  // A request that has become a WebSocket cannot be read any more.
  const asked: Asked = { method: request.method, url: request.url, origin: request.headers.get("Origin") };
  const forwarded = readForwarded(request.headers, peer, options.trustedHosts ?? []);
  const visit: Visit = {
    id: `req_${hermes.platform.ids.hex(24)}`,
    peer: forwarded.peer,
    route: "",
    key: "",
  };
  let response: Response;
  try {
    checkHost(request, options, forwarded.host);
    if (checkOrigin(request, options, forwarded.host)) response = new Response(null, { status: 200 });
    else {
      checkContentLength(request);
      response = await next(visit);
    }
  } catch (error) {
    response = errorResponse(toApiError(error), api.redact);
  }
  finishHeaders(response.headers, asked.origin, options, visit.id);
  note(api, asked, response, visit, hermes.platform.clock.monotonic() - begun);
  return response;
}

/** `ms`: until the head of the answer; a stream goes on after it. */
function note(api: Front, asked: Asked, response: Response, visit: Visit, ms: number): void {
  api.metrics?.request(asked.method, visit.route === "" ? "none" : visit.route, response.status, ms / 1000);
  if (!api.options.logRequests) return;
  const { platform } = api.hermes;
  platform.stderr(jsonLine({
    time: platform.clock.now(),
    level: "INFO",
    name: "hermes",
    message: "request",
    fields: {
      request_id: visit.id,
      method: asked.method.slice(0, 16),
      path: api.redact(new URL(asked.url).pathname).slice(0, 200),
      status: response.status,
      duration_ms: Math.round(ms * 10) / 10,
      peer: visit.peer,
      ...(visit.key === "" ? {} : { key: visit.key }),
    },
  }));
}
