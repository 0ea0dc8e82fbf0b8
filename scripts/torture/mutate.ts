/**
 * Makes bad input out of good: one value of a JSON tree is replaced, removed, doubled, blown up or nested, or the
 * text itself is damaged. Pure; everything comes from the seed.
 */
import type { Random } from "./random.ts";

/** Stands for raw text that `JSON.stringify` could not make. */
const RAW = "\u0001raw:";

export function raw(text: string): string {
  return `${RAW}${text}\u0001`;
}

/** JSON text of a tree that may hold `raw` values. */
export function encode(value: unknown): string {
  return (JSON.stringify(value) ?? "").replace(
    /"\\u0001raw:(.*?)\\u0001"/g,
    (_, text) => JSON.parse(`"${text}"`),
  );
}

const DEPTHS = [50, 600, 20_000];
const SIZES = [300, 5_000, 200_000];

/** Values that some code will not expect. */
export function nasty(random: Random): unknown {
  const depth = random.pick(DEPTHS);
  const size = random.pick(SIZES);
  return random.pick<() => unknown>([
    () => null,
    () => true,
    () => false,
    () => 0,
    () => -1,
    () => 1.5,
    () => 2 ** 53,
    () => raw("1e999"),
    () => raw("-0"),
    () => raw("123456789012345678901234567890"),
    () => raw('{"a":1,"a":2}'),
    () => raw("[".repeat(depth) + "]".repeat(depth)),
    () => raw('{"a":'.repeat(depth) + "1" + "}".repeat(depth)),
    () => "",
    () => " ",
    () => "\0",
    () => "\ud800",
    () => "\u2028\u2029\u0085\r\n",
    () => "💥".repeat(size),
    () => "x".repeat(size),
    () => "../../../../etc/passwd",
    () => "/dev/zero",
    () => "file:///nowhere",
    () => "%00%ff",
    () => "\u001b[2J",
    () => "'; DROP TABLE sessions; --",
    () => "__proto__",
    () => [],
    () => ({}),
    () => [[]],
    () => [null],
    () => Array(size > 5_000 ? 5_000 : size).fill(0),
    () => ({ length: -1 }),
    () => raw('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
    () => ({ toString: 1, toJSON: 2, then: 3, valueOf: null }),
  ])();
}

interface Place {
  readonly holder: Record<string, unknown> | unknown[];
  readonly key: string | number;
}

function placesOf(value: unknown, found: Place[] = []): Place[] {
  if (typeof value !== "object" || value === null) return found;
  for (const key of Object.keys(value)) {
    const holder = value as Record<string, unknown>;
    found.push({ holder, key });
    placesOf(holder[key], found);
  }
  return found;
}

/** A copy with one to three faults in it. */
export function mutate(value: unknown, random: Random): unknown {
  const copy: { it?: unknown } = structuredClone({ it: value });
  const times = 1 + random.below(3);
  for (let n = 0; n < times; n++) {
    const places = placesOf(copy);
    if (places.length > 0) change(random.pick(places), random);
  }
  return copy.it;
}

function change({ holder, key }: Place, random: Random): void {
  const tree = holder as Record<string | number, unknown>;
  random.pick<() => void>([
    () => tree[key] = nasty(random),
    () => tree[key] = nasty(random),
    () => tree[key] = [tree[key]],
    () => tree[key] = { [key]: tree[key] },
    () => tree[key] = typeof tree[key] === "string" ? Number(tree[key]) : JSON.stringify(tree[key]),
    () => Array.isArray(holder) ? void holder.splice(Number(key), 1) : void delete tree[key],
    () =>
      Array.isArray(holder) ? void holder.push(nasty(random)) : void (tree[oddName(random)] = nasty(random)),
    () => Array.isArray(holder) ? void holder.push(...holder.slice(0, 50)) : void (tree[key] = nasty(random)),
  ])();
}

function oddName(random: Random): string {
  return random.pick(["", "constructor", "toString", "id", "_meta", "extra", "\u0000", "x".repeat(1_000)]);
}

const encoder = new TextEncoder();

/** Bytes of a text with damage that is no longer JSON or no longer UTF-8. */
export function damage(text: string, random: Random): Uint8Array {
  const bytes = encoder.encode(text);
  const at = random.below(bytes.length);
  const part = (...more: number[]) =>
    Uint8Array.from([...bytes.subarray(0, at), ...more, ...bytes.subarray(at)]);
  if (bytes.length > 50_000) return bytes.subarray(0, at);
  return random.pick<() => Uint8Array>([
    () => bytes.subarray(0, at),
    () => part(0xff),
    () => part(0xc3, 0x28),
    () => part(0xed, 0xa0, 0x80),
    () => part(0x00),
    () => part(0x0d),
    () => part(0x0a),
    () => Uint8Array.from([0xef, 0xbb, 0xbf, ...bytes]),
    () => Uint8Array.from([...bytes, ...bytes]),
    () => encoder.encode(`[${text},${text}]`),
    () => encoder.encode(random.pick(["", " ", "{", "}", "null", '"', "\u0000", "NaN", "[]", "{}"])),
  ])();
}

/** The same bytes in pieces: a few large ones, many small ones, or one by one. */
export function* split(bytes: Uint8Array, random: Random): Generator<Uint8Array> {
  const largest = bytes.length > 100_000 ? 65_536 : random.pick([1, 7, 200, 65_536]);
  for (let at = 0; at < bytes.length;) {
    const size = 1 + random.below(largest);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}
