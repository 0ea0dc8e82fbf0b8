/**
 * One request through everything that stands around routing (api-server.md A5): the gates before it, the headers of
 * every answer after it, and `/health`, which needs nothing else. Knows no router.
 */
import { errorResponse, toApiError } from "./errors.ts";
import { checkContentLength, checkHost, checkOrigin, finishHeaders } from "./gates.ts";
import type { Front } from "./front.ts";

/** The answer of `next`, or a refusal or preflight instead; never throws for a refusal. */
export async function throughGates(
  api: Front,
  request: Request,
  next: () => Response | Promise<Response>,
): Promise<Response> {
  const { options, hermes } = api;
  let response: Response;
  try {
    checkHost(request, options);
    if (checkOrigin(request, options)) response = new Response(null, { status: 200 });
    else {
      checkContentLength(request);
      response = await next();
    }
  } catch (error) {
    response = errorResponse(toApiError(error), api.redact);
  }
  finishHeaders(response.headers, request, options, `req_${hermes.platform.ids.hex(24)}`);
  return response;
}
