import { Slices } from "./slices.ts";

/** Items from which on a list is written a slice at a time. */
const MANY = 64;

/**
 * The body of a request: `record` as JSON, the text of `JSON.stringify(record)`. The thread is free between the items
 * of its long lists; what took longer than a slice is given as the bytes that are sent.
 */
export async function jsonBody(
  record: Readonly<Record<string, unknown>>,
): Promise<string | Uint8Array<ArrayBuffer>> {
  const slices = new Slices();
  const body = new Body();
  let separator = "{";
  for (const [name, value] of Object.entries(record)) {
    const isLong = Array.isArray(value) && value.length >= MANY && !("toJSON" in value);
    const text = isLong ? "[" : JSON.stringify(value) as string | undefined;
    if (text === undefined) continue;
    body.add(`${separator}${JSON.stringify(name)}:${text}`);
    separator = ",";
    if (isLong) await addItems(value, body, slices);
  }
  body.add(separator === "{" ? "{}" : "}");
  const done = body.end();
  await slices.end();
  return done;
}

async function addItems(list: readonly unknown[], body: Body, slices: Slices): Promise<void> {
  let separator = "";
  for (const item of list) {
    body.add(separator + (JSON.stringify(item) as string | undefined ?? "null"));
    separator = ",";
    if (!slices.isOver) continue;
    body.settle();
    await slices.next();
  }
  body.add("]");
}

/** A text in pieces; those of earlier slices are bytes already. */
class Body {
  #texts: string[] = [];
  readonly #bytes: Uint8Array[] = [];
  #size = 0;

  add(text: string): void {
    this.#texts.push(text);
  }

  settle(): void {
    const bytes = new TextEncoder().encode(this.#texts.join(""));
    this.#texts = [];
    this.#bytes.push(bytes);
    this.#size += bytes.length;
  }

  end(): string | Uint8Array<ArrayBuffer> {
    if (this.#bytes.length === 0) return this.#texts.join("");
    this.settle();
    const all = new Uint8Array(this.#size);
    let at = 0;
    for (const bytes of this.#bytes) {
      all.set(bytes, at);
      at += bytes.length;
    }
    return all;
  }
}
