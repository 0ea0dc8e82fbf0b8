import { Slices } from "./slices.ts";

/** Items from which on a list is written a slice at a time. */
const MANY = 64;

/**
 * The body of a request: `record` as JSON, the text of `JSON.stringify(record)`. The thread is free between the items
 * of its long lists, and a long text is made the bytes that are sent in a slice of its own.
 */
export async function jsonBody(
  record: Readonly<Record<string, unknown>>,
): Promise<string | Uint8Array<ArrayBuffer>> {
  const slices = new Slices();
  const members: string[] = [];
  for (const [name, value] of Object.entries(record)) {
    const text = Array.isArray(value) && value.length >= MANY
      ? await listInSlices(value, slices)
      : JSON.stringify(value) as string | undefined;
    if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`);
  }
  const text = `{${members.join(",")}}`;
  if (!slices.isOver) return text;
  await slices.next();
  const bytes = new TextEncoder().encode(text);
  await slices.next();
  return bytes;
}

async function listInSlices(list: readonly unknown[], slices: Slices): Promise<string> {
  const items: string[] = [];
  for (const item of list) {
    items.push(JSON.stringify(item) as string | undefined ?? "null");
    if (slices.isOver) await slices.next();
  }
  return `[${items.join(",")}]`;
}
