/**
 * The questions of `hermes setup`: provider by number, key without echo, model by number or name, then the test
 * call. Ctrl-C, Ctrl-D or an empty key leave at any point; what does not work is taken back unless the user says
 * to keep it.
 */
import type { Hermes } from "@/app/mod.ts";
import type { LineInput } from "./line_input.ts";
import { type ModelSetup, saveSetup, testSetup } from "./setup_store.ts";
import type { Terminal } from "./terminal.ts";

export interface Dialog {
  readonly hermes: Hermes;
  readonly terminal: Terminal;
  readonly input: LineInput;
}

export type DialogOutcome = "configured" | "demo" | "cancelled";

/** One line of the first question. */
interface Offer {
  readonly label: string;
  readonly hint: string;
  readonly provider: string;
  readonly baseUrl?: string;
  /** Known models, the best first. */
  readonly models: readonly string[];
  readonly keyEnv: string | null;
  readonly hasKey: boolean;
}

interface ProviderRow {
  readonly slug: string;
  readonly name: string;
  readonly models?: readonly string[];
  readonly key_env?: string;
  readonly authenticated?: boolean;
}

/** Shown first; the rest of the table follows behind "more". */
const WELL_KNOWN = ["openrouter", "openai-api", "anthropic", "gemini", "deepseek", "nous"];
const NOT_OFFERED = new Set(["builtin", "custom", "lmstudio", "moa"]);
const LOCAL_NAMES = { ollama: "Ollama", lmstudio: "LM Studio", llamacpp: "llama.cpp", vllm: "vLLM" } as const;

export async function askForChoice(dialog: Dialog): Promise<DialogOutcome> {
  const { terminal, hermes } = dialog;
  terminal.line(terminal.paint.bold("Where should the model come from?"));
  const [local, known] = await Promise.all([localOffers(hermes), providerOffers(hermes)]);
  const offer = await pickOffer(dialog, local, known);
  if (offer === "demo" || offer === "cancelled") return offer;
  const setup = offer === "custom" ? await askCustom(dialog) : await askOffer(dialog, offer);
  if (!setup) return "cancelled";
  return await saveAndTest(dialog, setup);
}

async function localOffers(hermes: Hermes): Promise<Offer[]> {
  const servers = await hermes.models.discoverLocal();
  return servers.map((server) => ({
    label: `${LOCAL_NAMES[server.kind]} on this machine`,
    hint: `${server.baseUrl}, ${server.models.length} model(s)`,
    provider: server.kind === "lmstudio" ? "lmstudio" : "custom",
    baseUrl: server.baseUrl,
    models: server.models,
    keyEnv: null,
    hasKey: true,
  }));
}

async function providerOffers(hermes: Hermes): Promise<Offer[]> {
  const options = await hermes.models.options({ includeUnconfigured: true });
  const rows = (options.providers as readonly ProviderRow[]).filter((row) => !NOT_OFFERED.has(row.slug));
  const offers = rows.map((row): Offer => ({
    label: row.name,
    hint: row.authenticated ? "key found" : row.key_env ? `needs ${row.key_env}` : "",
    provider: row.slug,
    models: row.models ?? [],
    keyEnv: row.key_env ?? null,
    hasKey: row.authenticated === true,
  }));
  const rank = (offer: Offer) => {
    const at = WELL_KNOWN.indexOf(offer.provider);
    return (offer.hasKey ? 0 : 100) + (at === -1 ? 50 : at);
  };
  return offers.filter((offer) => offer.hasKey || offer.keyEnv !== null).sort((a, b) => rank(a) - rank(b));
}

async function pickOffer(
  dialog: Dialog,
  local: readonly Offer[],
  known: readonly Offer[],
): Promise<Offer | "custom" | "demo" | "cancelled"> {
  const short = known.filter((offer) => offer.hasKey || WELL_KNOWN.includes(offer.provider));
  let offers = [...local, ...short];
  for (;;) {
    const hasMore = offers.length < local.length + known.length;
    const extra = ["custom", "demo", ...(hasMore ? ["more"] as const : [])] as const;
    showOffers(dialog, offers, hasMore);
    const number = await askNumber(dialog, offers.length + extra.length);
    if (number === null) return "cancelled";
    if (number <= offers.length) return offers[number - 1]!;
    const picked = extra[number - offers.length - 1]!;
    if (picked !== "more") return picked;
    offers = [...local, ...known];
  }
}

function showOffers({ terminal }: Dialog, offers: readonly Offer[], hasMore: boolean): void {
  const { paint } = terminal;
  const rows: [string, string][] = offers.map((offer) => [offer.label, offer.hint]);
  rows.push(["Another endpoint", "any OpenAI-compatible URL"], [
    "No model for now",
    "how to use the built-in demo",
  ]);
  if (hasMore) rows.push(["More providers", ""]);
  rows.forEach(([label, hint], i) => {
    terminal.line(`  ${String(i + 1).padStart(2)}. ${label}${hint ? paint.dim(`  ${hint}`) : ""}`);
  });
}

/** `null` when the user leaves. */
async function askNumber({ input, terminal }: Dialog, most: number): Promise<number | null> {
  for (;;) {
    const answer = await input.ask(`Number (1-${most}), or q to leave: `);
    if (answer.type !== "line" || /^q(uit)?$/i.test(answer.text.trim())) return null;
    const number = Number(answer.text.trim());
    if (Number.isInteger(number) && number >= 1 && number <= most) return number;
    terminal.line(`  please give a number from 1 to ${most}`);
  }
}

async function askText({ input }: Dialog, prompt: string, hidden = false): Promise<string | null> {
  const answer = await input.ask(prompt, { hidden });
  return answer.type === "line" ? answer.text.trim() : null;
}

async function askCustom(dialog: Dialog): Promise<ModelSetup | null> {
  const { terminal } = dialog;
  let baseUrl = "";
  while (!/^https?:\/\/[^/\s]+/.test(baseUrl)) {
    if (baseUrl !== "") terminal.line("  an address starts with http:// or https://");
    const said = await askText(dialog, "Base URL (for example http://127.0.0.1:8000/v1): ");
    if (said === null || said === "") return null;
    baseUrl = said;
  }
  const key = await askText(dialog, "API key (not shown; empty = none): ", true);
  if (key === null) return null;
  const model = await askText(dialog, "Model name (empty = the only one it has): ");
  if (model === null) return null;
  const name = "CUSTOM_API_KEY";
  return {
    provider: "custom",
    model,
    baseUrl,
    ...(key === "" ? {} : { keyEnv: name, newKey: { name, value: key } }),
  };
}

async function askOffer(dialog: Dialog, offer: Offer): Promise<ModelSetup | null> {
  let newKey: ModelSetup["newKey"];
  if (!offer.hasKey) {
    const value = await askText(dialog, `${offer.keyEnv} (not shown; kept in .env): `, true);
    if (!value) return null;
    newKey = { name: offer.keyEnv!, value };
  }
  const model = await askModel(dialog, offer.models);
  if (model === null) return null;
  const where = offer.baseUrl === undefined ? {} : { baseUrl: offer.baseUrl };
  return { provider: offer.provider, model, ...where, ...(newKey ? { newKey } : {}) };
}

const MODELS_SHOWN = 12;

async function askModel(dialog: Dialog, models: readonly string[]): Promise<string | null> {
  const { terminal } = dialog;
  if (models.length === 1) return models[0]!;
  models.slice(0, MODELS_SHOWN).forEach((model, i) => {
    terminal.line(`  ${String(i + 1).padStart(2)}. ${model}`);
  });
  for (;;) {
    const said = await askText(dialog, models.length > 0 ? "Model (number or name): " : "Model name: ");
    if (said === null) return null;
    if (said === "") continue;
    const number = /^\d+$/.test(said) ? Number(said) : 0;
    return models.slice(0, MODELS_SHOWN)[number - 1] ?? said;
  }
}

async function saveAndTest(dialog: Dialog, setup: ModelSetup): Promise<DialogOutcome> {
  const { hermes, terminal, input } = dialog;
  const { paint } = terminal;
  const undo = await saveSetup(hermes, setup);
  terminal.line(paint.dim("One small test call…"));
  const outcome = await testSetup(hermes, terminal, true);
  if (!outcome.ok) {
    terminal.line(`${paint.red("✗")} ${outcome.message}`);
    const answer = await input.ask("Keep this setting nevertheless? [y/N] ");
    if (answer.type !== "line" || !/^y(es)?$/i.test(answer.text.trim())) {
      await undo();
      return "cancelled";
    }
    terminal.line(`Kept in ${hermes.config.path}; hermes doctor --online tests it again.`);
    return isUsable(hermes) ? "configured" : "cancelled";
  }
  terminal.line(`${paint.green("✓")} ${outcome.message}`);
  terminal.line(`Written to ${hermes.config.path}. Next: hermes chat`);
  return "configured";
}

function isUsable(hermes: Hermes): boolean {
  try {
    return !hermes.models.resolve().isDemo;
  } catch {
    return false;
  }
}
