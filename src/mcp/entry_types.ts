/** An entry of `mcp_servers` as the rest of the room reads it (core.md G.1): typed, complete. */

export interface ServerConfig {
  readonly name: string;
  readonly enabled: boolean;
  readonly connection: StdioConfig | HttpConfig;
  /** Milliseconds. */
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly keepaliveMs: number;
  /** Without a call for so long, the connection is ended until the next call; `null` = never. */
  readonly idleMs: number | null;
  /** A connection that is older is replaced when no call runs; `null` = never. */
  readonly lifetimeMs: number | null;
  readonly parallel: boolean;
  readonly include: readonly string[] | null;
  readonly exclude: readonly string[];
  readonly resources: boolean;
  readonly prompts: boolean;
  /** `null`: the server may not ask the model. */
  readonly sampling: SamplingConfig | null;
}

export interface StdioConfig {
  readonly type: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute; `null` = where the session (or the program) is. */
  readonly cwd: string | null;
}

export interface HttpConfig {
  readonly type: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `null`: certificates are checked as the system does it, and none of ours is shown. */
  readonly tls: TlsFiles | null;
  /** An address that answers with a web page is given up at once. */
  readonly preflight: boolean;
  readonly oauth: OAuthConfig | null;
}

/** Names of PEM files: absolute, below `~/`, or as the working directory has it. */
export interface TlsFiles {
  readonly verify: boolean;
  /** Trusted beside the system's. */
  readonly ca: string | null;
  readonly cert: string | null;
  /** Where the key is; the certificate's own file where it is not said. */
  readonly key: string | null;
}

export interface OAuthConfig {
  /** `null`: registered with the authorisation server at the login. */
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  /** Space-separated; `null`: what the server asks for. */
  readonly scope: string | null;
  /** Where the login waits for the browser; 0 = any free port. */
  readonly redirectPort: number;
}

/** What a server may ask of the model (`sampling`). */
export interface SamplingConfig {
  /** `name` or `provider:name`; `null`: `auxiliary.mcp`, else the session's own. */
  readonly model: string | null;
  /** Tokens of one answer. */
  readonly maxTokens: number;
  readonly timeoutMs: number;
  /** In any 60 s. */
  readonly perMinute: number;
}
