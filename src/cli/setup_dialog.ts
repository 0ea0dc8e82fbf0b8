/**
 * The questions of `hermes setup`: provider, key without echo, model, then the test call. Leaving is possible at any
 * point; what does not work is taken back unless the user says to keep it. How it is asked is the asker's business.
 */
import type { Hermes } from "@/app/mod.ts";
import type { Asker, Choice } from "./setup_asker.ts";
import { type ModelSetup, saveSetup, testSetup } from "./setup_store.ts";
import type { Terminal } from "./terminal.ts";
import { wrapIndented } from "./text_layout.ts";

export interface Dialog {
  readonly hermes: Hermes;
  readonly terminal: Terminal;
  readonly asker: Asker;
}

/** `kept`: written although it does not work. */
export type DialogOutcome = "configured" | "demo" | "kept" | "cancelled";

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
  readonly warning?: string;
}

/** Shown first; the rest of the table follows behind "more". */
const WELL_KNOWN = ["openrouter", "openai-api", "anthropic", "gemini", "deepseek", "nous"];
const NOT_OFFERED = new Set(["builtin", "custom", "lmstudio", "moa"]);
const LOCAL_NAMES = { ollama: "Ollama", lmstudio: "LM Studio", llamacpp: "llama.cpp", vllm: "vLLM" } as const;

export async function askForChoice(dialog: Dialog): Promise<DialogOutcome> {
  const { hermes } = dialog;
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
  { asker }: Dialog,
  local: readonly Offer[],
  known: readonly Offer[],
): Promise<Offer | "custom" | "demo" | "cancelled"> {
  const short = known.filter((offer) => offer.hasKey || WELL_KNOWN.includes(offer.provider));
  let offers = [...local, ...short];
  for (;;) {
    const hasMore = offers.length < local.length + known.length;
    const picked = await asker.choose("Where should the model come from?", [
      ...offers,
      { label: "Another endpoint", hint: "any OpenAI-compatible URL" },
      { label: "No model for now", hint: "how to use the built-in demo" },
      ...(hasMore ? [{ label: "More providers", hint: "" }] : []),
    ]);
    if (picked === null) return "cancelled";
    const extra = picked - offers.length;
    if (extra < 0) return offers[picked]!;
    if (extra < 2) return extra === 0 ? "custom" : "demo";
    offers = [...local, ...known];
  }
}

async function askCustom(dialog: Dialog): Promise<ModelSetup | null> {
  const { asker, terminal } = dialog;
  let baseUrl = "";
  while (!/^https?:\/\/[^/\s]+/.test(baseUrl)) {
    if (baseUrl !== "") terminal.line("  an address starts with http:// or https://");
    const said = await asker.text("Base URL", "http://127.0.0.1:8000/v1");
    if (said === null || said === "") return null;
    baseUrl = said;
  }
  const key = await asker.secret("API key, empty for none");
  if (key === null) return null;
  const name = "CUSTOM_API_KEY";
  const setup = {
    provider: "custom",
    model: "",
    baseUrl,
    ...(key === "" ? {} : { keyEnv: name, newKey: { name, value: key } }),
  };
  const { models, warning } = await modelsOf(dialog, setup);
  if (warning !== "") terminal.line(wrapIndented(warning, terminal.columns, 2));
  if (models.length === 0) terminal.line("  it gives no list of its models; the test call will show why");
  const model = await askModel(dialog, models);
  return model === null ? null : { ...setup, model };
}

/** An endpoint is only asked for its models when one is chosen; stands for it meanwhile. */
const NO_MODEL = "not-chosen-yet";

/** What the endpoint offers; it is asked with the settings of this setup, which are taken back again. */
async function modelsOf(
  { hermes }: Dialog,
  setup: ModelSetup,
): Promise<{ models: readonly string[]; warning: string }> {
  const undo = await saveSetup(hermes, { ...setup, model: NO_MODEL });
  try {
    const { providers } = await hermes.models.options({ refresh: true });
    const row = (providers as readonly ProviderRow[]).find(({ slug }) => slug === setup.provider);
    return { models: (row?.models ?? []).filter((model) => model !== NO_MODEL), warning: row?.warning ?? "" };
  } finally {
    await undo();
  }
}

async function askOffer(dialog: Dialog, offer: Offer): Promise<ModelSetup | null> {
  let newKey: ModelSetup["newKey"];
  if (!offer.hasKey) {
    const value = await dialog.asker.secret(`${offer.keyEnv}, kept in .env`);
    if (!value) return null;
    newKey = { name: offer.keyEnv!, value };
  }
  const model = await askModel(dialog, offer.models);
  if (model === null) return null;
  const where = offer.baseUrl === undefined ? {} : { baseUrl: offer.baseUrl };
  return { provider: offer.provider, model, ...where, ...(newKey ? { newKey } : {}) };
}

const MODELS_SHOWN = 30;

async function askModel({ asker, terminal }: Dialog, models: readonly string[]): Promise<string | null> {
  if (models.length === 1) {
    terminal.line(`  its only model: ${models[0]}`);
    return models[0]!;
  }
  const shown = models.slice(0, MODELS_SHOWN);
  if (shown.length > 0) {
    const choices: Choice[] = shown.map((label) => ({ label, hint: "" }));
    const picked = await asker.choose("Model", [...choices, { label: "Another one", hint: "by its name" }]);
    if (picked === null) return null;
    if (picked < shown.length) return shown[picked]!;
  }
  for (;;) {
    const said = await asker.text("Model name");
    if (said !== "") return said;
  }
}

async function saveAndTest(dialog: Dialog, setup: ModelSetup): Promise<DialogOutcome> {
  const { hermes, terminal, asker } = dialog;
  const { paint } = terminal;
  const undo = await saveSetup(hermes, setup);
  terminal.line(paint.dim("One small test call…"));
  const outcome = await testSetup(hermes, terminal, true);
  if (!outcome.ok) {
    terminal.line(wrapIndented(`${paint.red("✗")} ${outcome.message}`, terminal.columns, 2));
    if (!await asker.confirm("Keep this setting nevertheless?")) {
      await undo();
      return "cancelled";
    }
    terminal.line(`Kept in ${hermes.config.path}; hermes doctor --online tests it again.`);
    return isUsable(hermes) ? "configured" : "kept";
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
