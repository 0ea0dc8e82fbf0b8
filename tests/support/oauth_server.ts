/**
 * An authorisation server and the MCP server it guards, on one loopback port: metadata, registration, PKCE, tokens
 * that run out, refresh tokens that count once. Written against RFC 6749, 7591, 7636, 8414, 8707, 9207 and 9728.
 */
import { startMcpHttp } from "./mcp_server.ts";

export interface OAuthServer extends AsyncDisposable {
  /** Of the MCP server. */
  readonly url: string;
  readonly origin: string;
  /** Every token that was ever given: none of them may be seen anywhere. */
  readonly given: string[];
  /** What clients registered as. */
  readonly registered: Record<string, unknown>[];
  /** Requests to the token endpoint, by grant type. */
  readonly grants: string[];
  /** Paths of requests that bore the header `x-key`. */
  readonly keyed: string[];
  /** Paths whose requests are sent on to another address (307). */
  readonly moved: Map<string, string>;
  /** Runs before an answer of the token endpoint goes out. */
  beforeToken: () => Promise<void>;
  /** Access tokens that were given until now are no longer taken. */
  expire(): void;
  /** Refresh tokens neither. */
  revoke(): void;
  /** The next login ends so: the person says no. */
  deny: boolean;
}

interface Pending {
  readonly redirect: string;
  readonly challenge: string;
  readonly client: string;
}

async function digest(text: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return btoa(String.fromCharCode(...hash)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

const problem = (error: string, status = 400) => Response.json({ error }, { status });

export async function startOAuthServer(): Promise<OAuthServer> {
  const plain = await startMcpHttp({ tools: ["echo"] });
  const codes = new Map<string, Pending>();
  const access = new Set<string>();
  const refresh = new Set<string>();
  const clients = new Map<string, readonly string[]>();
  let origin = "";

  const make = (kind: string) => {
    const token = `${kind}-${crypto.randomUUID()}`;
    server.given.push(token);
    return token;
  };
  function tokens(): Response {
    const [access_token, refresh_token] = [make("access"), make("refresh")];
    access.add(access_token);
    refresh.add(refresh_token);
    return Response.json({
      access_token,
      token_type: "Bearer",
      expires_in: 3600,
      refresh_token,
      scope: "tools",
    });
  }

  async function register(request: Request): Promise<Response> {
    const body = await request.json();
    server.registered.push(body);
    const client_id = `client-${clients.size + 1}`;
    clients.set(client_id, body.redirect_uris);
    return Response.json({ ...body, client_id }, { status: 201 });
  }

  function authorize(query: URLSearchParams): Response {
    const [client, redirect] = [query.get("client_id") ?? "", query.get("redirect_uri") ?? ""];
    if (!clients.get(client)?.includes(redirect)) return problem("invalid_request");
    const back = new URL(redirect);
    back.searchParams.set("state", query.get("state") ?? "");
    back.searchParams.set("iss", origin);
    const isSound = query.get("response_type") === "code" && query.get("code_challenge_method") === "S256" &&
      query.get("resource") === `${origin}/mcp` && query.get("scope") === "tools";
    if (server.deny) back.searchParams.set("error", "access_denied");
    else if (!isSound) back.searchParams.set("error", "invalid_request");
    else {
      const code = crypto.randomUUID();
      codes.set(code, { redirect, client, challenge: query.get("code_challenge") ?? "" });
      back.searchParams.set("code", code);
    }
    return Response.redirect(back, 302);
  }

  async function token(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    server.grants.push(form.get("grant_type") ?? "");
    if (form.get("resource") !== `${origin}/mcp`) return problem("invalid_target");
    if (form.get("grant_type") === "refresh_token") {
      return refresh.delete(form.get("refresh_token") ?? "") ? tokens() : problem("invalid_grant");
    }
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const verified = code && await digest(form.get("code_verifier") ?? "") === code.challenge;
    const isSame = code?.redirect === form.get("redirect_uri") && code?.client === form.get("client_id");
    return verified && isSame ? tokens() : problem("invalid_grant");
  }

  async function guarded(request: Request, path: string): Promise<Response> {
    const bearer = request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
    if (!access.has(bearer)) {
      const where = `Bearer resource_metadata="${origin}/where-to-log-in", scope="tools"`;
      return new Response(null, { status: 401, headers: { "www-authenticate": where } });
    }
    const body = request.method === "POST" ? await request.text() : null;
    return await fetch(new URL(path, plain.url), { method: request.method, headers: request.headers, body });
  }

  function route(request: Request): Response | Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (request.headers.has("x-key")) server.keyed.push(pathname);
    const elsewhere = server.moved.get(pathname);
    if (elsewhere) return new Response(null, { status: 307, headers: { location: elsewhere } });
    switch (pathname) {
      case "/where-to-log-in":
        return Response.json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
      case "/.well-known/oauth-authorization-server":
        return Response.json({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"],
          authorization_response_iss_parameter_supported: true,
        });
      case "/register":
        return register(request);
      case "/authorize":
        return authorize(searchParams);
      case "/token":
        return token(request).finally(() => server.beforeToken());
      default:
        return pathname.replace(/\/$/, "") === "/mcp"
          ? guarded(request, "/mcp")
          : new Response(null, { status: 404 });
    }
  }

  const listening = Promise.withResolvers<number>();
  const http = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => listening.resolve(port),
  }, route);
  origin = `http://127.0.0.1:${await listening.promise}`;
  const server = {
    url: `${origin}/mcp`,
    origin,
    given: [] as string[],
    registered: [] as Record<string, unknown>[],
    grants: [] as string[],
    keyed: [] as string[],
    moved: new Map<string, string>(),
    beforeToken: () => Promise.resolve(),
    deny: false,
    expire: () => access.clear(),
    revoke: () => refresh.clear(),
    [Symbol.asyncDispose]: async () => {
      await http.shutdown();
      await plain[Symbol.asyncDispose]();
    },
  };
  return server;
}

/** What a browser does with the address: follows redirects to the end; the page it shows. */
export async function visit(address: string): Promise<{ status: number; text: string }> {
  const response = await fetch(address);
  return { status: response.status, text: await response.text() };
}
