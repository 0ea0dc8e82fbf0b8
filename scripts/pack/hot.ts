/**
 * Second pass over the bundle: functions that the start and the first session of a door run are written so that the
 * engine compiles them with their module. It compiles a function when it is first called, and the compiled code that
 * the program keeps on disk has only what was compiled with the modules; so each start compiled some two hundred
 * functions from text, a fifth of its time. The engine takes `(function () {…})` as one that is called soon.
 *
 * Which ones those are comes from running the three doors once, from the bundle. Only function declarations at the top
 * of a module are rewritten (methods cannot be): to variables at its head, where a declaration would be bound as well.
 */
import { parseAst } from "rollup/parseAst";

/** The places of functions that were run, by file: the offset of the parenthesis before the parameters. */
type Hot = ReadonlyMap<string, ReadonlySet<number>>;

const LIMIT_MS = 20_000;
/** Little, and in part only run by the compiled program, which does not tell what it runs. */
const MAIN = "main.js";
const KEY = "profile-key-0123456789abcdef0123456789";

interface Place extends AsyncDisposable {
  readonly directory: string;
  readonly env: Record<string, string>;
}

async function makePlace(): Promise<Place> {
  const directory = await Deno.makeTempDir({ prefix: "hermes-build-" });
  for (const name of ["home", "work", "tmp", "user"]) await Deno.mkdir(`${directory}/${name}`);
  const model = {
    default: "m",
    provider: "custom",
    base_url: "http://127.0.0.1:9/v1",
    context_length: 100_000,
  };
  await Deno.writeTextFile(`${directory}/home/config.jsonc`, JSON.stringify({ model }));
  const env = {
    PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
    HOME: `${directory}/user`,
    TMPDIR: `${directory}/tmp`,
    HERMES_HOME: `${directory}/home`,
    API_SERVER_KEY: KEY,
    DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
    DENO_NO_UPDATE_CHECK: "1",
  };
  return {
    directory,
    env,
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
}

/** Runs one door of the bundle as `drive` asks, then ends it; resolves to the engine's log of functions. */
async function logOf(
  place: Place,
  main: string,
  args: readonly string[],
  drive: (say: (frame: unknown) => Promise<void>, heard: (text: string) => Promise<string>) => Promise<void>,
): Promise<string> {
  const log = `${place.directory}/${args[0]}.log`;
  const flags = `--log-function-events,--logfile=${log},--no-logfile-per-isolate`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "-A", `--v8-flags=${flags}`, main, ...args],
    cwd: `${place.directory}/work`,
    env: place.env,
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
    signal: AbortSignal.timeout(LIMIT_MS),
  }).spawn();
  const writer = child.stdin.getWriter();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let output = "";
  await drive(
    (frame) => writer.write(new TextEncoder().encode(`${JSON.stringify(frame)}\n`)),
    async (text) => {
      while (!output.includes(text)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`hermes ${args[0]} ended before it was driven to its first session`);
        output += value;
      }
      return output;
    },
  );
  await writer.close();
  if (args[0] === "serve") child.kill("SIGTERM");
  while (!(await reader.read()).done);
  await child.status;
  return await Deno.readTextFile(log);
}

/** The first answer and the first session of each door. */
async function logs(main: string): Promise<readonly string[]> {
  await using place = await makePlace();
  const cwd = `${place.directory}/work`;
  const rpc = (id: number, method: string, params: unknown) => ({ jsonrpc: "2.0", id, method, params });
  return [
    await logOf(place, main, ["acp"], async (say, heard) => {
      await say(rpc(1, "initialize", { protocolVersion: 1, clientCapabilities: {} }));
      await heard('"id":1');
      await say(rpc(2, "session/new", { cwd, mcpServers: [] }));
      await heard('"id":2');
    }),
    await logOf(place, main, ["gateway"], async (say, heard) => {
      await heard("gateway.ready");
      await say(rpc(1, "session.create", { cwd }));
      await heard('"id":1');
    }),
    await logOf(place, main, ["serve", "--port", "0"], async (_say, heard) => {
      const url = /http:\/\/[^\s/]+/.exec(await heard("\n"))![0];
      for (const path of ["/health", "/v1/models"]) {
        await (await fetch(url + path, { headers: { authorization: `Bearer ${KEY}` } })).text();
      }
    }),
  ];
}

/** Reads `script-details,id,url,…` and `function,event,id,start,end,…`; an id belongs to the script named last. */
function readLog(log: string, hot: Map<string, Set<number>>): void {
  const names = new Map<string, string>();
  for (const line of log.split("\n")) {
    const [kind, event, id, start] = line.split(",");
    if (kind === "script-details") names.set(event!, id!.slice(id!.lastIndexOf("/") + 1));
    // Compiled when it was called, or called when it had been compiled.
    if (kind !== "function" || (event !== "parse-function" && event !== "first-execution")) continue;
    const file = names.get(id!);
    if (file) hot.set(file, (hot.get(file) ?? new Set()).add(Number(start)));
  }
}

async function profile(main: string): Promise<Hot> {
  const hot = new Map<string, Set<number>>();
  for (const log of await logs(main)) readLog(log, hot);
  return hot;
}

/** The text of a module with its hot functions written to be compiled with it, and how many those are. */
export function compiledEarly(
  code: string,
  hot: ReadonlySet<number> | "all",
): { code: string; count: number } {
  const imports: string[] = [];
  const functions: string[] = [];
  const rest: string[] = [];
  let at = 0;
  for (const node of parseAst(code).body) {
    const { start, end } = node as unknown as { start: number; end: number };
    const isHot = node.type === "FunctionDeclaration" && (hot === "all" || hot.has(code.indexOf("(", start)));
    if (!isHot && node.type !== "ImportDeclaration") continue;
    rest.push(code.slice(at, start));
    at = end;
    const text = code.slice(start, end);
    if (!isHot) imports.push(text.endsWith(";") ? text : `${text};`);
    else functions.push(text.replace(/^((?:async )?function\*?)\s*([\w$]+)/, "$2=($1") + ")");
  }
  if (functions.length === 0) return { code, count: 0 };
  rest.push(code.slice(at));
  return { code: `${imports.join("")}var ${functions.join(",")};${rest.join("")}`, count: functions.length };
}

/** Rewrites the files of `soon` in `directory`, in place. Resolves to the number of functions. */
export async function packHot(directory: string, soon: ReadonlySet<string>): Promise<number> {
  const hot = await profile(`${directory}/main.js`);
  let total = 0;
  for (const file of soon) {
    const path = `${directory}/${file}`;
    const { code, count } = compiledEarly(
      await Deno.readTextFile(path),
      file === MAIN ? "all" : hot.get(file) ?? new Set(),
    );
    await Deno.writeTextFile(path, code);
    total += count;
  }
  // The engine's log has another form, or the doors were not driven: the program would be slower and nobody told.
  if (total < 100) throw new Error(`Only ${total} functions were seen at the start of the doors`);
  return total;
}
