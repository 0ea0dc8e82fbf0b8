/** Reading foreign JSON without trusting its shape: every step may meet anything. Pure. */

export type Json = { readonly [key: string]: unknown };

export function isJson(value: unknown): value is Json {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** The object behind a path of keys and indexes; an empty one when there is none. */
export function at(value: unknown, ...path: (string | number)[]): Json {
  const found = get(value, ...path);
  return isJson(found) ? found : {};
}

export function get(value: unknown, ...path: (string | number)[]): unknown {
  let here = value;
  for (const key of path) {
    if (here === null || typeof here !== "object") return undefined;
    here = (here as Record<string | number, unknown>)[key];
  }
  return here;
}

/** Text behind a path, empty when it is no text. */
export function text(value: unknown, ...path: (string | number)[]): string {
  const found = get(value, ...path);
  return typeof found === "string" ? found : "";
}

export function list(value: unknown, ...path: (string | number)[]): readonly unknown[] {
  const found = get(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Throws `SyntaxError` with the line when it is not a JSON object. */
export function parseJson(line: string): Json {
  const value: unknown = JSON.parse(line);
  if (!isJson(value)) throw new SyntaxError(`Not a JSON object: ${line.slice(0, 80)}`);
  return value;
}
