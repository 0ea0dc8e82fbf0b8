/**
 * The tools room on a real disk and with real processes, without a core: a temp workspace, one session scope, and a
 * context whose parts a test can replace. Disposing it ends what the session has started and removes the directory.
 */
import type {
  AskOutcome,
  AskPayload,
  EditProposal,
  SessionNotice,
  SessionScope,
  Settings,
  Tool,
  ToolContext,
  ToolOutcome,
} from "@/core/mod.ts";
import { textOf } from "@/core/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { createLocalFiles, createTools } from "@/tools/mod.ts";

export const SECRET = "zz-SECRET-0123456789";

const SETTINGS = {
  terminal: { cwd: "", timeout: 180, env_passthrough: [], shell_init_files: [], auto_source_bashrc: true },
  tool_output: { max_bytes: 50_000, max_lines: 2_000, max_line_length: 2_000 },
  file_read_max_chars: 100_000,
} as unknown as Settings;

class Scope implements SessionScope {
  readonly sessionId: string;
  readonly #values = new Map<string, object>();
  readonly told: SessionNotice[] = [];

  constructor(sessionId: string) {
    this.sessionId = sessionId;
  }

  state<T extends object>(key: string, create: () => T): T {
    if (!this.#values.has(key)) this.#values.set(key, create());
    return this.#values.get(key) as T;
  }

  tell(notice: SessionNotice): void {
    this.told.push(notice);
  }

  async dispose(): Promise<void> {
    for (const value of this.#values.values()) await (value as { dispose?(): Promise<void> }).dispose?.();
    this.#values.clear();
  }
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly approved?: EditProposal;
  /** Another session of the same program. */
  readonly session?: string;
  readonly overrides?: Partial<ToolContext>;
}

// deno-lint-ignore no-explicit-any
export type Json = Record<string, any>;

export interface Bench extends AsyncDisposable {
  /** The session's cwd, a real path. */
  readonly dir: string;
  /** `HERMES_HOME`. */
  readonly home: string;
  /** `HOME` of children. */
  readonly userHome: string;
  readonly platform: Platform;
  readonly progress: string[];
  tool(name: string): Tool;
  context(options?: CallOptions): ToolContext;
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<ToolOutcome>;
  /** The result as the object it is. */
  json(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<Json>;
  propose(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<EditProposal>;
  write(path: string, content: string | Uint8Array): Promise<string>;
  read(path: string): Promise<string>;
  scope(session?: string): SessionScope;
  /** What the session was to tell its model and the model does not know yet; each is handed out once. */
  takeTold(): readonly SessionNotice[];
  /** How many there are, known ones among them. */
  told(): number;
}

export interface BenchOptions {
  readonly env?: Record<string, string>;
  readonly platform?: Partial<Platform>;
  readonly settings?: Record<string, unknown>;
  ask?(payload: AskPayload): Promise<AskOutcome>;
}

function redact(text: string, mode: string): string {
  return text.replaceAll(SECRET, mode === "file" ? "«redacted:zz…»" : "***");
}

export async function makeBench(options: BenchOptions = {}): Promise<Bench> {
  const base = await Deno.realPath(await Deno.makeTempDir({ prefix: "hermes-tools-" }));
  const [dir, home, userHome] = [`${base}/work`, `${base}/hermes`, `${base}/user`];
  for (const path of [dir, home, userHome]) await Deno.mkdir(path);
  const platform: Platform = { ...createDenoPlatform(), homeDir: () => userHome, ...options.platform };
  const tools = new Map(
    createTools({ secretEnvNames: () => ["FAKE_PROVIDER_TOKEN"] }).map((tool) => [tool.name, tool]),
  );
  const scopes = new Map<string, Scope>();
  const progress: string[] = [];
  const childEnv = {
    PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
    HOME: userHome,
    LANG: "C.UTF-8",
    ...options.env,
  };
  let calls = 0;

  function scope(session = "s1"): Scope {
    if (!scopes.has(session)) scopes.set(session, new Scope(session));
    return scopes.get(session)!;
  }

  function context(call: CallOptions = {}): ToolContext {
    const approved = call.approved ?? null;
    return {
      sessionId: call.session ?? "s1",
      turnId: "t1",
      callId: `call_${++calls}`,
      cwd: dir,
      roots: [dir],
      signal: call.signal ?? new AbortController().signal,
      platform,
      settings: { ...SETTINGS, ...options.settings } as Settings,
      scope: scope(call.session),
      files: createLocalFiles(platform),
      childEnv,
      home,
      approved,
      sensitiveAllowed: approved !== null,
      progress: (text) => void progress.push(text),
      ask: (payload) => options.ask?.(payload) ?? Promise.resolve({ type: "unattended" }),
      redact,
      ...call.overrides,
    };
  }

  const bench: Bench = {
    dir,
    home,
    userHome,
    platform,
    progress,
    tool: (name) => tools.get(name)!,
    context,
    call: (name, args, call) => tools.get(name)!.execute(args, context(call)),
    json: async (name, args, call) => JSON.parse(textOf((await bench.call(name, args, call)).content)),
    propose: (name, args, call) => tools.get(name)!.propose!(args, context(call)),
    async write(path, content) {
      const full = path.startsWith("/") ? path : `${dir}/${path}`;
      // Through the platform: what it has seen in this turn of the event loop is seen anew.
      await platform.files.mkdir(full.slice(0, full.lastIndexOf("/")));
      await platform.files.write(
        full,
        typeof content === "string" ? new TextEncoder().encode(content) : content,
      );
      return full;
    },
    read: (path) => Deno.readTextFile(path.startsWith("/") ? path : `${dir}/${path}`),
    scope,
    told: () => scope().told.length,
    takeTold: () => scope().told.splice(0).filter((notice) => !notice.isKnown?.()),
    async [Symbol.asyncDispose]() {
      for (const one of scopes.values()) await one.dispose();
      await Deno.remove(base, { recursive: true });
    },
  };
  return bench;
}
