/**
 * The Hono app: the request pipeline of api-server.md A5 in its observable order, and the table of routes. A new
 * family adds its rows here and its handlers in `routes/`. Knows no sockets: tests use `app.request()`.
 *
 *   Host ─► Origin / preflight ─► Content-Length ─► route (404, 405) ─► key (401) ─► handler ─► headers
 */
import type { Hermes } from "@/app/mod.ts";
import { type Context, Hono } from "@hono/hono";
import { LinearRouter } from "@hono/hono/router/linear-router";
import type { Scope } from "./api_keys.ts";
import { createAuth } from "./auth.ts";
import { familyOf } from "./browser/protocol.ts";
import { type Caller, requireScopes } from "./callers.ts";
import { ApiError, errorResponse, toApiError } from "./errors.ts";
import { getCapabilities } from "./routes/capabilities.ts";
import { getDetailedHealth, getHealth } from "./routes/health.ts";
import { getModel, getModelOptions, listModels } from "./routes/models.ts";
import { type ApiOptions, type ApiService, createService } from "./service.ts";
import { throughGates, type Visit } from "./through_gates.ts";

/** `peer`: the address of the connection. `visit`: set before routing. */
export type ApiEnv = { Bindings: { readonly peer?: string }; Variables: { visit: Visit } };
export type ApiContext = Context<ApiEnv>;
export type ApiApp = Hono<ApiEnv>;

type Handler = (api: ApiService, context: ApiContext) => Response | Promise<Response>;

interface Route {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  /** Works without the key. */
  readonly isPublic?: true;
  /** What a scoped key needs, all of it; none: any key will do. */
  readonly scopes?: readonly Scope[];
  /** What is looked at before the key; throws a refusal. */
  readonly before?: (api: ApiService) => void | Promise<void>;
  readonly handle: Handler;
}

/** The table of routes; the document of `GET /openapi.json` is made from it. */
export const ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: "/",
    isPublic: true,
    handle: async (api, c) => (await consolePage()).getConsoleFile(api, c.req.raw, "index.html"),
  },
  {
    method: "GET",
    path: "/console/:id",
    isPublic: true,
    handle: async (api, c) => (await consolePage()).getConsoleFile(api, c.req.raw, idOf(c)),
  },
  { method: "GET", path: "/health", isPublic: true, handle: getHealth },
  { method: "GET", path: "/v1/health", isPublic: true, handle: getHealth },
  { method: "GET", path: "/health/detailed", scopes: ["admin"], handle: getDetailedHealth },
  { method: "GET", path: "/v1/models", handle: listModels },
  { method: "GET", path: "/v1/models/:id{.+}", handle: (api, c) => getModel(api, idOf(c)) },
  {
    method: "GET",
    path: "/api/model/options",
    handle: (api, c) => getModelOptions(api, queryOf(c)),
  },
  { method: "GET", path: "/v1/capabilities", handle: getCapabilities },
  {
    method: "GET",
    path: "/metrics",
    scopes: ["admin"],
    handle: async (api) => (await import("./routes/metrics.ts")).getMetrics(api),
  },
  {
    method: "GET",
    path: "/openapi.json",
    isPublic: true,
    handle: async (api) => (await import("./openapi/routes.ts")).getOpenApi(api, ROUTES),
  },
  {
    method: "GET",
    path: "/docs",
    isPublic: true,
    handle: async (api) => (await import("./openapi/routes.ts")).getDocs(api, ROUTES),
  },
  {
    method: "POST",
    path: "/v1/chat/completions",
    scopes: ["chat"],
    handle: async (api, c) => (await import("./routes/chat.ts")).postChat(api, c.req.raw),
  },
  { method: "GET", path: "/v1/skills", handle: async (api) => (await toolsets()).listSkills(api) },
  { method: "GET", path: "/v1/toolsets", handle: async (api) => (await toolsets()).listToolsets(api) },
  {
    method: "GET",
    path: "/api/sessions",
    scopes: ["sessions"],
    handle: async (api, c) => (await sessions()).listSessions(api, queryOf(c)),
  },
  {
    method: "POST",
    path: "/api/sessions",
    scopes: ["sessions"],
    handle: async (api, c) => (await sessions()).createSession(api, c.req.raw),
  },
  {
    method: "GET",
    path: "/api/sessions/:id",
    scopes: ["sessions"],
    handle: async (api, c) => (await sessions()).getSession(api, idOf(c)),
  },
  {
    method: "PATCH",
    path: "/api/sessions/:id",
    scopes: ["sessions"],
    handle: async (api, c) => (await sessions()).patchSession(api, c.req.raw, idOf(c)),
  },
  {
    method: "DELETE",
    path: "/api/sessions/:id",
    scopes: ["sessions"],
    handle: async (api, c) => (await sessions()).deleteSession(api, idOf(c)),
  },
  {
    method: "GET",
    path: "/api/sessions/:id/messages",
    scopes: ["sessions"],
    handle: async (api, c) => (await sessions()).listMessages(api, idOf(c), queryOf(c)),
  },
  {
    method: "POST",
    path: "/api/sessions/:id/fork",
    scopes: ["sessions"],
    handle: async (api, c) => (await sessions()).forkSession(api, c.req.raw, idOf(c)),
  },
  {
    method: "POST",
    path: "/api/sessions/:id/chat",
    scopes: ["sessions", "chat"],
    handle: async (api, c) => (await sessionChat()).postSessionChat(api, c.req.raw, idOf(c), false),
  },
  {
    method: "POST",
    path: "/api/sessions/:id/chat/stream",
    scopes: ["sessions", "chat"],
    handle: async (api, c) => (await sessionChat()).postSessionChat(api, c.req.raw, idOf(c), true),
  },
  ...["/api/jobs", "/api/jobs/:rest{.+}"].flatMap((path) =>
    (["GET", "POST", "PATCH", "DELETE"] as const).map((method) => ({
      method,
      path,
      scopes: ["admin"] as const,
      handle: noJobs,
    }))
  ),
  {
    method: "POST",
    path: "/v1/responses",
    scopes: ["chat"],
    handle: async (api, c) => (await import("./routes/responses.ts")).postResponse(api, c.req.raw),
  },
  {
    method: "GET",
    path: "/v1/responses/:id",
    scopes: ["chat"],
    handle: async (api, c) =>
      (await import("./routes/stored_responses.ts")).getResponse(api, idOf(c), queryOf(c)),
  },
  {
    method: "DELETE",
    path: "/v1/responses/:id",
    scopes: ["chat"],
    handle: async (api, c) => (await import("./routes/stored_responses.ts")).deleteResponse(api, idOf(c)),
  },
  {
    method: "POST",
    path: "/v1/runs",
    scopes: ["runs"],
    handle: async (api, c) => (await import("./routes/runs.ts")).postRun(api, c.req.raw),
  },
  {
    method: "GET",
    path: "/v1/runs",
    scopes: ["runs:read"],
    handle: async (api, c) => (await import("./routes/runs.ts")).listRuns(api, queryOf(c)),
  },
  {
    method: "GET",
    path: "/v1/runs/:id",
    scopes: ["runs:read"],
    handle: async (api, c) => (await import("./routes/runs.ts")).getRun(api, idOf(c)),
  },
  {
    method: "GET",
    path: "/v1/runs/:id/events",
    scopes: ["runs:read"],
    handle: async (api, c) => (await import("./routes/run_events.ts")).getRunEvents(api, c.req.raw, idOf(c)),
  },
  {
    method: "POST",
    path: "/v1/runs/:id/steer",
    scopes: ["runs"],
    handle: async (api, c) => (await import("./routes/run_control.ts")).postSteer(api, c.req.raw, idOf(c)),
  },
  {
    method: "POST",
    path: "/v1/runs/:id/stop",
    scopes: ["runs"],
    handle: async (api, c) => (await import("./routes/run_control.ts")).postStop(api, idOf(c)),
  },
  {
    method: "POST",
    path: "/v1/runs/:id/approval",
    scopes: ["approve"],
    handle: async (api, c) => (await import("./routes/approvals.ts")).postApproval(api, c.req.raw, idOf(c)),
  },
  {
    method: "POST",
    path: "/v1/runs/:id/clarify",
    scopes: ["approve"],
    handle: async (api, c) => (await import("./routes/clarify.ts")).postClarify(api, c.req.raw, idOf(c)),
  },
  {
    method: "POST",
    path: "/v1/browser-control/register",
    scopes: ["sessions"],
    before: async (api) => (await browsers()).checkRegistrable(api),
    handle: async (api, c) => (await browsers()).postRegister(api, c.req.raw),
  },
  {
    method: "GET",
    path: "/v1/browser-control/ws",
    isPublic: true, // it has a ticket instead of the key
    handle: async (api, c) => (await browsers()).connectController(api, c.req.raw),
  },
];

// Loaded with the first request that needs them.
function sessions() {
  return import("./routes/sessions.ts");
}

function sessionChat() {
  return import("./routes/session_chat.ts");
}

function consolePage() {
  return import("./console/mod.ts");
}

function browsers() {
  return import("./browser/routes.ts");
}

function toolsets() {
  return import("./routes/toolsets.ts");
}

/** This route family has an error form of its own (A8). */
function noJobs(): Response {
  return Response.json({ error: "Scheduled jobs are not available in this server" }, { status: 501 });
}

function queryOf(context: ApiContext): URLSearchParams {
  return new URL(context.req.url).searchParams;
}

function idOf(context: ApiContext): string {
  return context.req.param("id") ?? "";
}

export function createApp(api: ApiService): ApiApp {
  const { hermes } = api;
  // The default router compiles one large expression at the first request; that would be most of our start.
  const app: ApiApp = new Hono<ApiEnv>({
    router: new LinearRouter(),
    getPath: (request) => plainPath(request.url),
  });
  app.onError((error, context) => {
    const refusal = toApiError(error);
    if (refusal.status === 500) {
      hermes.log.error(`api: ${context.get("visit").id} ${hermes.redact(describe(error))}`);
    }
    return errorResponse(refusal, api.redact);
  });
  app.notFound((c) => errorResponse(new ApiError(404, "not_found", noRoute(c.req.path)), api.redact));
  app.use("*", gatekeeper(api));
  addRoutes(app, api);
  return app;
}

/** The usual reason is a client whose base URL lacks the `/v1`. */
function noRoute(path: string): string {
  return /^\/(chat\/completions|responses|models)\b/.test(path)
    ? "No such route; the base URL of this API ends in /v1"
    : "No such route";
}

/** An app with a state of its own. */
export function createApiApp(hermes: Hermes, options: ApiOptions): ApiApp {
  return createApp(createService(hermes, options));
}

function gatekeeper(api: ApiService) {
  return async (context: ApiContext, next: () => Promise<void>): Promise<void> => {
    let routed: Response | null = null;
    const isHead = context.req.raw.method === "HEAD";
    const response = await throughGates(api, context.req.raw, context.env?.peer ?? "", async (visit) => {
      context.set("visit", visit);
      await next();
      // Nobody reads the body of an answer to HEAD; a stream must not wait for that.
      if (isHead) await context.res.body?.cancel();
      return routed = context.res;
    });
    // Setting the same response again would copy it.
    if (response !== routed) context.res = response;
  };
}

const MAX_AGENT = 150;

/** The key's name and what the program calls itself. */
function clientOf(caller: Caller, agent = ""): string {
  const name = caller.keyId === null && caller.name === "full" ? "api" : caller.name;
  const program = agent.replace(/[\p{C}\s]+/gu, " ").trim().slice(0, MAX_AGENT).toWellFormed();
  return program === "" ? name : `${name} (${program})`;
}

function addRoutes(app: ApiApp, api: ApiService): void {
  const { hermes, limits, options } = api;
  const authenticate = createAuth({
    key: options.key,
    log: hermes.log,
    limits,
    settings: () => hermes.settings(),
  });
  for (const route of ROUTES) {
    app.on(route.method, route.path, async (context) => {
      const visit = context.get("visit");
      visit.route = route.path;
      if (route.before) await route.before(api);
      if (route.isPublic) return await route.handle(api, context);
      const found = authenticate(context.req.raw, { peer: visit.peer, requestId: visit.id });
      const caller = found instanceof Promise ? await found : found;
      visit.key = caller.name;
      requireScopes(caller, route.scopes ?? []);
      if (route.method === "POST") await hermes.models.settling?.();
      const client = clientOf(caller, context.req.header("User-Agent"));
      return await route.handle({ ...api.as(caller), client, family: familyOf(visit.peer) }, context);
    });
  }
  for (const path of new Set(ROUTES.map((route) => route.path))) {
    const methods = ROUTES.filter((route) => route.path === path).map((route) => route.method);
    const allow = methods.map((method) => method === "GET" ? "GET, HEAD" : method).join(", ");
    app.all(path, () => {
      throw new ApiError(405, "method_not_allowed", "Method not allowed", { headers: { Allow: allow } });
    });
  }
}

/** The path without doubled and trailing slashes (A5 step 3). */
function plainPath(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const end = url.slice(start).search(/[?#]/);
  const path = start === -1 ? "/" : end === -1 ? url.slice(start) : url.slice(start, start + end);
  return decodePath(path.replace(/\/{2,}/g, "/").replace(/(.)\/$/, "$1"));
}

function decodePath(path: string): string {
  if (!path.includes("%")) return path;
  try {
    // An encoded percent sign stays one: parameters are decoded once more by the router.
    return decodeURI(path.replaceAll("%25", "%2525"));
  } catch {
    return path;
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error);
}
