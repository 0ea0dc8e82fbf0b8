/**
 * A login at a server with `auth: "oauth"` (core.md G.3): authorisation code with PKCE by the SDK's own client, the
 * browser's answer on a loopback port, the tokens into `mcp-tokens/`. Nothing of them is in what is given back.
 */
import { abortable } from "@/lib/abort.ts";
import type { Platform } from "@/platform/mod.ts";
import type { HttpConfig } from "./entry_types.ts";
import { asFailure, McpFailure } from "./failure.ts";
import { openHttpClient } from "./http_client.ts";
import { type Fetch, trackedFetch } from "./http_fetch.ts";
import { refuseUnsafePlace } from "./login_place.ts";
import { LoginProvider } from "./login_provider.ts";
import { listenForRedirect } from "./redirect_listener.ts";
import { auth, extractWWWAuthenticateParams } from "./sdk.ts";
import { plainTokens, type TokenStore } from "./token_store.ts";

const MAX_HOPS = 5;
const HEADERS = { Accept: "application/json, text/event-stream" };

export interface LoginOptions {
  /** Given the address that the person is to open. */
  readonly show: (url: string) => void;
  readonly signal: AbortSignal;
  /** For the person and all requests together. */
  readonly timeoutMs: number;
}

/** What a login has come to; no secrets. */
export interface LoginResult {
  /** The authorisation server. */
  readonly issuer: string;
  readonly scope: string | null;
  /** Seconds the access token lives; `null` = not said. */
  readonly expiresIn: number | null;
  /** It is renewed without a person. */
  readonly renews: boolean;
}

/** Throws `McpFailure`; then what was stored before is as it was. */
export async function login(
  config: HttpConfig,
  store: TokenStore,
  platform: Platform,
  options: LoginOptions,
): Promise<LoginResult> {
  const oauth = config.oauth!;
  const stop = new AbortController();
  const timer = platform.clock.delay(options.timeoutMs, { signal: stop.signal }).then(
    () => stop.abort(new McpFailure("timeout", `nobody logged in within ${options.timeoutMs / 1000} s`)),
    () => {/* it is over before */},
  );
  const onAbort = () => stop.abort(new McpFailure("aborted", "cancelled"));
  options.signal.addEventListener("abort", onAbort, { once: true });
  const state = platform.ids.hex(32);
  const client = await openHttpClient(config.url, config.tls, platform);
  const listener = await listenForRedirect(oauth.redirectPort, state).catch((error) => {
    client.close();
    throw error;
  });
  try {
    const provider = new LoginProvider(oauth, listener.url, state, options.show);
    const work = run(config, provider, boundFetch(trackedFetch(client), stop.signal), listener.answer);
    await abortable(work, stop.signal);
    return await keep(provider, store);
  } catch (error) {
    throw stop.signal.reason instanceof McpFailure ? stop.signal.reason : asFailure(error, "refused");
  } finally {
    options.signal.removeEventListener("abort", onAbort);
    if (!stop.signal.aborted) stop.abort();
    await Promise.all([timer, listener.close()]);
    client.close();
  }
}

/**
 * Requests carry credentials, and answers say where more of them go, so both stay where they were sent: the SDK
 * follows redirects by itself within one origin, nothing else is followed.
 */
function boundFetch(fetch: Fetch, signal: AbortSignal): Fetch {
  return async (url, init) => {
    refuseUnsafePlace(url);
    return await fetch(url, { ...init, redirect: "manual", signal });
  };
}

async function run(
  { url, headers }: HttpConfig,
  provider: LoginProvider,
  fetchFn: Fetch,
  answer: Promise<URLSearchParams>,
): Promise<void> {
  const challenge = await challengeOf(url, headers, fetchFn);
  const given = { serverUrl: url, fetchFn, ...challenge };
  await auth(provider, { ...given, forceReauthorization: true });
  const params = await answer;
  const error = params.get("error");
  if (error !== null) {
    const more = params.get("error_description");
    throw new McpFailure("refused", `the authorisation server says ${error}${more ? `: ${more}` : ""}`);
  }
  const iss = params.get("iss");
  await auth(provider, {
    ...given,
    authorizationCode: params.get("code")!,
    ...(iss === null ? {} : { iss }),
  });
}

/** Where the server itself says that logins are made, and what for. */
async function challengeOf(
  url: string,
  headers: Readonly<Record<string, string>>,
  fetchFn: Fetch,
): Promise<{ resourceMetadataUrl?: URL; scope?: string }> {
  const response = await askWithin(url, { ...headers, ...HEADERS }, fetchFn);
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  await response.body?.cancel();
  return {
    ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}),
    ...(scope === undefined ? {} : { scope }),
  };
}

/** Follows redirects within the origin only. */
async function askWithin(url: string, headers: Record<string, string>, fetchFn: Fetch): Promise<Response> {
  let address = url;
  for (let hops = 0;; hops++) {
    const response = await fetchFn(address, { headers });
    const location = response.headers.get("location");
    const next = location !== null && response.status < 400 ? URL.parse(location, address) : null;
    if (next?.origin !== new URL(address).origin || hops === MAX_HOPS) return response;
    await response.body?.cancel();
    address = next.href;
  }
}

async function keep(provider: LoginProvider, store: TokenStore): Promise<LoginResult> {
  const { received, client, issuer, resource } = provider;
  if (!received || !client || issuer === null) throw new McpFailure("refused", "no token was given");
  const { client_id, client_secret } = client;
  const tokens = plainTokens(received);
  await store.save({
    issuer,
    ...(resource === null ? {} : { resource }),
    client: { client_id, ...(client_secret === undefined ? {} : { client_secret }) },
    tokens,
  });
  return {
    issuer,
    scope: tokens.scope ?? null,
    expiresIn: tokens.expires_in ?? null,
    renews: tokens.refresh_token !== undefined,
  };
}
