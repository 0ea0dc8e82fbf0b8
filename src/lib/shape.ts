/**
 * Shapes of parameters on the way to a first answer, where loading the schema library would take longer than the
 * answer itself. A check looks and never changes: unknown members pass, and the value goes on as it came. Everything
 * that is not in such a hurry uses the schema library.
 */

export interface Issue {
  /** Members joined by dots; empty for the value itself. */
  readonly path: string;
  readonly message: string;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Shape<T> {
  /** Adds one issue for each thing that is wrong. */
  check(value: unknown, path: string, issues: Issue[]): void;
  /** The same as JSON Schema, for documents: made when it is asked for. */
  readonly json: JsonSchema;
  /** A member of this shape may be absent. */
  readonly mayBeAbsent?: true;
  /** The type it stands for; never set. */
  readonly type?: T;
}

export type TypeOf<S> = S extends Shape<infer T> ? T : never;

type Fields = Readonly<Record<string, Shape<unknown>>>;
type OptionalKeys<F extends Fields> = { [K in keyof F]: undefined extends TypeOf<F[K]> ? K : never }[keyof F];
type Fielded<F extends Fields> =
  & { readonly [K in Exclude<keyof F, OptionalKeys<F>>]: TypeOf<F[K]> }
  & { readonly [K in OptionalKeys<F>]?: TypeOf<F[K]> | undefined };

function kind<T>(name: string, json: JsonSchema, fits: (value: unknown) => boolean): Shape<T> {
  return {
    json,
    check: (value, path, issues) => {
      if (fits(value)) return;
      issues.push({
        path,
        message: value === undefined ? `is missing; ${name} expected` : `must be ${name}`,
      });
    },
  };
}

export const text: Shape<string> = kind("a string", { type: "string" }, (value) => typeof value === "string");
export const number: Shape<number> = kind(
  "a number",
  { type: "number" },
  (value) => typeof value === "number",
);
export const flag: Shape<boolean> = kind(
  "a boolean",
  { type: "boolean" },
  (value) => typeof value === "boolean",
);
export const anything: Shape<unknown> = { json: {}, mayBeAbsent: true, check: () => {} };

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const record = kind<Record<string, unknown>>("an object", { type: "object" }, isRecord);
const array = kind<unknown[]>("an array", { type: "array" }, Array.isArray);

export function literal<const T extends string>(wanted: T): Shape<T> {
  return kind(JSON.stringify(wanted), { const: wanted }, (value) => value === wanted);
}

/** Absent or `null` are both fine. */
export function optional<T>(shape: Shape<T>): Shape<T | null | undefined> {
  return {
    get json() {
      return { anyOf: [shape.json, { type: "null" }] };
    },
    mayBeAbsent: true,
    check: (value, path, issues) => {
      if (value !== undefined && value !== null) shape.check(value, path, issues);
    },
  };
}

export function list<T>(shape: Shape<T>): Shape<T[]> {
  return {
    get json() {
      return { type: "array", items: shape.json };
    },
    check: (value, path, issues) => {
      if (!Array.isArray(value)) return array.check(value, path, issues);
      for (let at = 0; at < value.length; at++) shape.check(value[at], join(path, at), issues);
    },
  };
}

export function object<F extends Fields>(fields: F): Shape<Fielded<F>> {
  const entries = Object.entries(fields);
  return {
    get json() {
      const properties = Object.fromEntries(entries.map(([name, shape]) => [name, shape.json]));
      const required = entries.filter(([, shape]) => !shape.mayBeAbsent).map(([name]) => name);
      return { type: "object", properties, ...(required.length === 0 ? {} : { required }) };
    },
    check: (value, path, issues) => {
      if (!isRecord(value)) return record.check(value, path, issues);
      for (const [name, shape] of entries) shape.check(value[name], join(path, name), issues);
    },
  };
}

/** The first that fits; what is wrong is told by the shape that `pick` says was meant, else by `expected`. */
export function either<S extends readonly Shape<unknown>[]>(
  shapes: S,
  pick: (value: unknown) => S[number] | undefined,
  expected: string,
): Shape<TypeOf<S[number]>> {
  return {
    get json() {
      return { anyOf: shapes.map((shape) => shape.json) };
    },
    check: (value, path, issues) => {
      const meant = pick(value);
      if (meant) return meant.check(value, path, issues);
      if (shapes.some((shape) => findIssues(shape, value).length === 0)) return;
      issues.push({ path, message: `must be ${expected}` });
    },
  };
}

/** Told apart by the member `type`. */
export function byType<S extends Readonly<Record<string, Shape<unknown>>>>(
  shapes: S,
): Shape<{ [K in keyof S]: TypeOf<S[K]> & { readonly type: K } }[keyof S]> {
  const names = Object.keys(shapes);
  return {
    get json() {
      const variants = Object.entries(shapes);
      return {
        oneOf: variants.map(([type, { json }]) => ({ properties: { type: { const: type } }, allOf: [json] })),
      };
    },
    check: (value, path, issues) => {
      if (!isRecord(value)) return record.check(value, path, issues);
      const type = value["type"];
      if (typeof type === "string" && Object.hasOwn(shapes, type)) {
        return shapes[type]!.check(value, path, issues);
      }
      issues.push({ path: join(path, "type"), message: `must be one of ${names.join(", ")}` });
    },
  };
}

/** Empty when the value fits. */
export function findIssues(shape: Shape<unknown>, value: unknown): Issue[] {
  const issues: Issue[] = [];
  shape.check(value, "", issues);
  return issues;
}

function join(path: string, member: string | number): string {
  return path === "" ? String(member) : `${path}.${member}`;
}
