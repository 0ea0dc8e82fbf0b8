/** The lines of a catalogue (see catalog_data.ts), read and written: the embedded one and the refreshed one share them. */

export interface Price {
  /** US dollars per million tokens. */
  readonly input: number;
  readonly output: number;
  /** `null` = not known. */
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
}

export interface CatalogModel {
  /** Id of our own provider table. */
  readonly provider: string;
  readonly id: string;
  /** Tokens; `null` = not known, as in all fields. */
  readonly window: number | null;
  readonly maxOutput: number | null;
  readonly price: Price | null;
  /** Other prices for prompts of more than `tokens`. */
  readonly tier: { readonly tokens: number; readonly price: Price } | null;
  readonly sees: boolean;
  readonly thinks: boolean;
  readonly callsTools: boolean;
  /** In order; empty when it does not think. */
  readonly efforts: readonly string[];
}

function numberOrNull(text: string | undefined): number | null {
  if (text === undefined || text === "") return null;
  const value = Number(text);
  return Number.isFinite(value) && value >= 0 ? value : null;
}

function priceOf(fields: readonly (string | undefined)[]): Price | null {
  const [input, output, cacheRead, cacheWrite] = fields.map(numberOrNull);
  if (input === null || input === undefined || output === null || output === undefined) return null;
  return { input, output, cacheRead: cacheRead ?? null, cacheWrite: cacheWrite ?? null };
}

const EXTRA_EFFORTS: readonly (readonly [letter: string, effort: string, isBefore: boolean])[] = [
  ["n", "none", true],
  ["m", "minimal", true],
  ["x", "xhigh", false],
  ["a", "max", false],
];

function effortsOf(letters: string, thinks: boolean): readonly string[] {
  if (!thinks) return [];
  const has = (isBefore: boolean) =>
    EXTRA_EFFORTS.flatMap(([letter, effort, before]) =>
      before === isBefore && letters.includes(letter) ? [effort] : []
    );
  return [...has(true), "low", "medium", "high", ...has(false)];
}

/** `null` when the line is not one of a catalogue. */
export function parseLine(line: string): CatalogModel | null {
  const [provider, id, window, maxOutput, input, output, read, write, abilities = "", efforts = "", tier] =
    line
      .split("|");
  if (!provider || !id) return null;
  const [above, prices] = (tier ?? "").split(":");
  const tierPrice = prices === undefined ? null : priceOf(prices.split(","));
  const tokens = numberOrNull(above);
  const thinks = abilities.includes("r");
  return {
    provider,
    id,
    window: numberOrNull(window),
    maxOutput: numberOrNull(maxOutput),
    price: priceOf([input, output, read, write]),
    tier: tierPrice && tokens !== null ? { tokens, price: tierPrice } : null,
    sees: abilities.includes("v"),
    thinks,
    callsTools: abilities.includes("t"),
    efforts: effortsOf(efforts, thinks),
  };
}

export function parseLines(text: string): CatalogModel[] {
  return text.split("\n").map(parseLine).filter((model) => model !== null);
}

export function writeLine(model: CatalogModel): string {
  const prices = (price: Price | null) =>
    price ? [price.input, price.output, price.cacheRead ?? "", price.cacheWrite ?? ""] : ["", "", "", ""];
  const abilities = `${model.sees ? "v" : ""}${model.thinks ? "r" : ""}${model.callsTools ? "t" : ""}`;
  const letters = EXTRA_EFFORTS.flatMap(([letter, effort]) => model.efforts.includes(effort) ? [letter] : []);
  const tier = model.tier ? `${model.tier.tokens}:${prices(model.tier.price).join(",")}` : "";
  return [
    model.provider,
    model.id,
    model.window ?? "",
    model.maxOutput ?? "",
    ...prices(model.price),
    abilities,
    letters.join(""),
    tier,
  ].join("|").replace(/\|+$/, "");
}
