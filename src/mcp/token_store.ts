/**
 * What a login at one server has given (core.md D.1, G.3): `mcp-tokens/<server>.json` of the data home, readable by its
 * owner alone, replaced as a whole. It counts for the address it was made for, and nothing of it is ever shown.
 */
import type { Platform } from "@/platform/mod.ts";
import { isTree } from "./entry_fields.ts";
import { tokenFile } from "./names.ts";

export interface StoredLogin {
  /** Address of the MCP server. */
  readonly server_url: string;
  /** Who gave the tokens; they are shown to nobody else. */
  readonly issuer: string;
  /** RFC 8707: what they are for. */
  readonly resource?: string;
  readonly client: { readonly client_id: string; readonly client_secret?: string };
  readonly tokens: StoredTokens;
  /** Milliseconds since the epoch. */
  readonly saved_at: number;
}

export interface StoredTokens {
  readonly access_token: string;
  readonly token_type: string;
  readonly refresh_token?: string;
  /** Seconds from `saved_at`. */
  readonly expires_in?: number;
  readonly scope?: string;
}

/** The members that are kept of what an authorisation server gives. */
export function plainTokens(
  given: { readonly [K in keyof StoredTokens]: StoredTokens[K] | undefined },
): StoredTokens {
  const { access_token, token_type, refresh_token, expires_in, scope } = given;
  const kept = { access_token, token_type, refresh_token, expires_in, scope };
  return Object.fromEntries(
    Object.entries(kept).filter(([, value]) => value !== undefined),
  ) as unknown as StoredTokens;
}

export interface TokenStoreDeps {
  readonly platform: Platform;
  readonly home: string;
  /** Takes a text out of all that is shown, until the function it gives is called. */
  keepSecret(value: string): () => void;
}

export class TokenStore {
  readonly path: string;
  readonly #deps: TokenStoreDeps;
  readonly #url: string;
  /** What is kept out of outputs now. */
  readonly #hidden = new Map<string, () => void>();

  constructor(server: string, url: string, deps: TokenStoreDeps) {
    this.path = `${deps.home}/mcp-tokens/${tokenFile(server)}`;
    this.#deps = deps;
    this.#url = url;
  }

  /** `null`: nobody has logged in at this address. Never throws: what cannot be read is no login. */
  async load(): Promise<StoredLogin | null> {
    let text: string;
    try {
      text = new TextDecoder().decode(await this.#deps.platform.files.read(this.path));
    } catch {
      return null;
    }
    const login = parseLogin(text);
    if (login === null || login.server_url !== this.#url) return null;
    this.#hide(login);
    return login;
  }

  /** Throws when the disk does. */
  async save(login: Omit<StoredLogin, "server_url" | "saved_at">): Promise<void> {
    const { files, clock, ids } = this.#deps.platform;
    const stored: StoredLogin = { server_url: this.#url, ...login, saved_at: clock.now() };
    this.#hide(stored);
    await files.mkdir(`${this.#deps.home}/mcp-tokens`, { mode: 0o700 });
    const fresh = `${this.path}.${ids.hex(8)}`;
    await files.write(fresh, new TextEncoder().encode(`${JSON.stringify(stored, null, 2)}\n`), {
      mode: 0o600,
    });
    await files.rename(fresh, this.path);
  }

  /** False when there was nothing. */
  async remove(): Promise<boolean> {
    const { files } = this.#deps.platform;
    if (await files.stat(this.path) === null) return false;
    await files.remove(this.path);
    return true;
  }

  #hide({ tokens, client }: StoredLogin): void {
    const secrets = [tokens.access_token, tokens.refresh_token, client.client_secret];
    for (const secret of secrets) {
      if (secret && !this.#hidden.has(secret)) this.#hidden.set(secret, this.#deps.keepSecret(secret));
    }
    // Older ones are kept too: an answer may still bear one. A login lives for a few of them.
    for (const old of [...this.#hidden.keys()].slice(0, -16)) {
      this.#hidden.get(old)!();
      this.#hidden.delete(old);
    }
  }
}

function parseLogin(text: string): StoredLogin | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isTree(value) || typeof value["server_url"] !== "string" || typeof value["issuer"] !== "string") {
    return null;
  }
  const { client, tokens } = value;
  if (!isTree(client) || typeof client["client_id"] !== "string") return null;
  if (!isTree(tokens) || typeof tokens["access_token"] !== "string") return null;
  return value as unknown as StoredLogin;
}
