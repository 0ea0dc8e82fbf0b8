/**
 * The bearer token of a server that wants a login (core.md G.3): taken from what `hermes mcp login` has stored, made
 * anew with the refresh token when the server no longer takes it. Never opens a browser: without a login it says how
 * to get one. Several programs share the file, so it is read for each request and another one's token is taken.
 */
import { asFailure, McpFailure } from "./failure.ts";
import type { Fetch } from "./http_fetch.ts";
import { refuseUnsafePlace } from "./login_place.ts";
import {
  type AuthProvider,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  OAuthError,
  refreshAuthorization,
} from "./sdk.ts";
import { plainTokens, type StoredLogin, type TokenStore } from "./token_store.ts";

type Challenge = Parameters<NonNullable<AuthProvider["onUnauthorized"]>>[0];

/** For each request of a renewal. */
const REFRESH_MS = 30_000;

export class StoredTokenAuth implements AuthProvider {
  readonly #server: string;
  readonly #store: TokenStore;
  readonly #fetch: Fetch;
  /** The token of the last request. */
  #given: string | null = null;
  #refreshing: Promise<void> | null = null;

  /** `fetch`: without the entry's own headers, which are for its server and not for who renews the login. */
  constructor(server: string, store: TokenStore, fetch: Fetch) {
    this.#server = server;
    this.#store = store;
    this.#fetch = fetch;
  }

  async token(): Promise<string | undefined> {
    const login = await this.#store.load();
    this.#given = login?.tokens.access_token ?? null;
    return login?.tokens.access_token;
  }

  /** Several requests may be refused at once; a refresh token counts once. Throws `McpFailure`. */
  onUnauthorized(challenge: Challenge): Promise<void> {
    this.#refreshing ??= this.#refresh(challenge).finally(() => this.#refreshing = null);
    return this.#refreshing;
  }

  async #refresh(challenge: Challenge): Promise<void> {
    const login = await this.#store.load();
    if (login === null) throw this.#hopeless("it wants a login");
    if (login.tokens.access_token !== this.#given) return; // Somebody else was faster.
    if (!login.tokens.refresh_token) throw this.#hopeless("the login has run out");
    try {
      const tokens = plainTokens(await freshTokens(login, challenge, this.#fetch));
      if (await this.#store.load() === null) throw new McpFailure("hopeless", "somebody has logged out");
      await this.#store.save({ ...login, tokens: { ...login.tokens, ...tokens } });
    } catch (error) {
      if (error instanceof McpFailure) throw this.#hopeless(error.message);
      if (!(error instanceof OAuthError)) throw asFailure(error);
      const now = await this.#store.load();
      if (now && now.tokens.access_token !== login.tokens.access_token) return;
      throw this.#hopeless(`the login was not renewed (${error.code})`);
    }
  }

  #hopeless(why: string): McpFailure {
    return new McpFailure("hopeless", `${why}; run: hermes mcp login ${this.#server}`);
  }
}

async function freshTokens(
  { client, issuer, resource, tokens }: StoredLogin,
  { response, serverUrl }: Challenge,
  fetch: Fetch,
): ReturnType<typeof refreshAuthorization> {
  const bounded: Fetch = async (url, init) => {
    refuseUnsafePlace(url);
    return await fetch(url, { ...init, signal: AbortSignal.timeout(REFRESH_MS) });
  };
  const { resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  const found = await discoverOAuthServerInfo(serverUrl, {
    ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}),
    fetchFn: bounded,
  });
  const metadata = found.authorizationServerMetadata;
  if ((metadata?.issuer ?? found.authorizationServerUrl) !== issuer) {
    throw new McpFailure("hopeless", "it names another authorisation server than at the login");
  }
  return await refreshAuthorization(found.authorizationServerUrl, {
    ...(metadata ? { metadata } : {}),
    clientInformation: client,
    refreshToken: tokens.refresh_token!,
    ...(resource === undefined ? {} : { resource }),
    fetchFn: bounded,
  });
}
