/**
 * `hermes gateway`: reads its options and hands over. Imported at once, in one go, is what no session can do without;
 * it is used, and the rest loaded, when `gateway.ready` is out.
 */
import "@/app/open.ts";
import { startHermes } from "@/app/base.ts";
import type { HermesOptions } from "@/app/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import type { ContractForm } from "@/protocols/gateway/mod.ts";
import { printGatewayContract, serveGatewayStdio, serveGatewayWs } from "@/protocols/gateway/mod.ts";
import { tellIfByHand } from "./by_hand.ts";

interface Parsed {
  readonly hermes: HermesOptions;
  /** `null` = stdio. */
  readonly ws: { readonly host: string; readonly port: number } | null;
  /** Print this and end. */
  readonly contract: ContractForm | null;
}

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_PORT = 9119;

export async function run(args: readonly string[], platform: Platform): Promise<number> {
  const { hermes, ws, contract }: Parsed = args.length === 0
    ? { hermes: { surface: "tui" }, ws: null, contract: null }
    : await parse(args, platform);
  if (contract) return await print(contract, platform);
  const options = {
    platform,
    yolo: hermes.yolo ?? false,
    load: () => startHermes(platform, hermes).open(),
  };
  if (!ws) tellIfByHand(platform, "hermes gateway", "JSON, one request per line,");
  return ws ? await serveGatewayWs({ ...options, ...ws }) : await serveGatewayStdio(options);
}

/** Throws `UsageError`. */
async function parse(args: readonly string[], platform: Platform): Promise<Parsed> {
  const [{ parseCommandLine, UsageError }, { GATEWAY }] = await Promise.all([
    import("./args.ts"),
    import("./specs.ts"),
  ]);
  const parsed = parseCommandLine(GATEWAY, args);
  if (parsed.positionals.length > 0) {
    throw new UsageError(`hermes gateway takes no arguments; got "${parsed.positionals[0]}"`);
  }
  const [host, portText] = [parsed.value("host"), parsed.value("port")];
  if (!parsed.has("ws") && (host ?? portText) !== undefined) {
    throw new UsageError("--host and --port belong to --ws");
  }
  const port = portText === undefined ? DEFAULT_PORT : Number(portText.trim() || NaN);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new UsageError(`--port takes a number from 0 to 65535; got "${portText}"`);
  }
  const [model, provider] = [parsed.value("model"), parsed.value("provider")];
  const hermes: HermesOptions = {
    surface: "tui",
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...(parsed.has("demo") ? { demo: true } : {}),
    ...(parsed.has("yolo") ? { yolo: true } : {}),
    ...await (await import("./record_option.ts")).recordOption(parsed, platform),
  };
  const contract = parsed.has("schema") ? "schema" : parsed.has("types") ? "types" : null;
  return { hermes, ws: parsed.has("ws") ? { host: host ?? DEFAULT_HOST, port } : null, contract };
}

async function print(form: ContractForm, platform: Platform): Promise<number> {
  const [{ VERSION }, { withTerminal }] = await Promise.all([
    import("@/app/version.ts"),
    import("./terminal.ts"),
  ]);
  const text = await printGatewayContract(form, VERSION);
  return await withTerminal(platform, (terminal) => {
    terminal.line(text.trimEnd());
    return Promise.resolve(0);
  });
}
