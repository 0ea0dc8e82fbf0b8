/**
 * A catalogue as it is written: one line is looked up by search, so that a question at start parses one line only.
 * What was looked up is kept, also that there is nothing: the same few models are asked for again and again.
 */
import { type CatalogModel, parseLine } from "./catalog_format.ts";

const MOST_KEPT = 500;

export class CatalogLines {
  readonly #text: string;
  /** Ids are compared in any case. */
  #lower: string | null = null;
  readonly #kept = new Map<string, CatalogModel | null>();

  constructor(lines: string) {
    this.#text = `\n${lines.trim()}\n`;
  }

  find(provider: string, id: string): CatalogModel | null {
    return this.#at(`\n${provider}|`, id);
  }

  /** The first of that id, whoever sells it. */
  findAny(id: string): CatalogModel | null {
    return this.#at("|", id);
  }

  idsOf(provider: string): string[] {
    const start = `${provider}|`;
    return this.#text.split("\n").flatMap((line) => line.startsWith(start) ? [line.split("|")[1]!] : []);
  }

  #at(before: string, id: string): CatalogModel | null {
    if (id === "" || id.includes("|")) return null;
    const key = before + id;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
    const found = this.#search(before, id);
    this.#kept.set(key, found);
    return found;
  }

  #search(before: string, id: string): CatalogModel | null {
    this.#lower ??= this.#text.toLowerCase();
    const found = this.#lower.indexOf(`${before}${id.toLowerCase()}|`);
    if (found === -1) return null;
    const from = before.startsWith("\n") ? found + 1 : this.#text.lastIndexOf("\n", found) + 1;
    const model = parseLine(this.#text.slice(from, this.#text.indexOf("\n", from)));
    return model?.id.toLowerCase() === id.toLowerCase() ? model : null;
  }
}
