/** What the SDK's OAuth client asks of its user during one login. In memory: nothing is kept until all is well. */
import { isSafePlace } from "@/lib/safe_place.ts";
import type { OAuthConfig } from "./entry_types.ts";
import { McpFailure } from "./failure.ts";
import type { OAuthClientProvider, OAuthDiscoveryState } from "./sdk.ts";

type ClientInfo = Awaited<ReturnType<OAuthClientProvider["clientInformation"]>>;
type Tokens = Parameters<OAuthClientProvider["saveTokens"]>[0];

export class LoginProvider implements OAuthClientProvider {
  readonly redirectUrl: string;
  client: ClientInfo;
  /** What the login has given; nothing while it goes on. */
  received: Tokens | undefined;
  resource: string | null = null;
  readonly #oauth: OAuthConfig;
  readonly #state: string;
  readonly #show: (url: string) => void;
  #verifier = "";
  #discovered: OAuthDiscoveryState | undefined;

  constructor(oauth: OAuthConfig, redirectUrl: string, state: string, show: (url: string) => void) {
    this.redirectUrl = redirectUrl;
    this.#oauth = oauth;
    this.#state = state;
    this.#show = show;
    const { clientId, clientSecret } = oauth;
    if (clientId === null) return;
    this.client = { client_id: clientId, ...(clientSecret === null ? {} : { client_secret: clientSecret }) };
  }

  /** Who gives the tokens; `null` before it is known. */
  get issuer(): string | null {
    return this.#discovered?.authorizationServerMetadata?.issuer ??
      this.#discovered?.authorizationServerUrl ??
      null;
  }

  get clientMetadata(): OAuthClientProvider["clientMetadata"] {
    const { scope, clientSecret } = this.#oauth;
    return {
      client_name: "hermes",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: clientSecret === null ? "none" : "client_secret_basic",
      ...(scope === null ? {} : { scope }),
    };
  }

  state(): string {
    return this.#state;
  }

  clientInformation(): ClientInfo {
    return this.client;
  }

  saveClientInformation(client: NonNullable<ClientInfo>): void {
    this.client = client;
  }

  tokens(): undefined {}

  saveTokens(tokens: Tokens): void {
    this.received = tokens;
  }

  redirectToAuthorization(url: URL): void {
    if (!isSafePlace(url)) throw new McpFailure("hopeless", `the login page is not on https: ${url.origin}`);
    this.#show(url.href);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveResourceUrl(url: string): void {
    this.resource = url;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered;
  }
}
