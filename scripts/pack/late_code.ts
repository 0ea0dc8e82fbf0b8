/**
 * Run-time half of `late.ts`: loads code that the program keeps compressed in one file beside its other code. The
 * runtime reads everything that is embedded at every start and keeps it in memory, so what a start does not need is
 * small there: 2.4 MB of 2.9 as 0.8.
 *
 * The modules are in the `system` form that rollup writes: a function that gets its imports by setters and tells its
 * exports by a call, which is what a module is without the syntax. No two of them import each other, also not by way
 * of others: `late.ts` sees to that, and so a module can simply wait for those that it imports.
 */
type Namespace = Record<string, unknown>;
type Setter = (namespace: Namespace) => void;

interface Context {
  readonly meta: { readonly url: string; readonly dirname: string; readonly filename: string };
  import(specifier: string): Promise<Namespace>;
}

type Declare = (
  tell: (name: string | Namespace, value?: unknown) => unknown,
  context: Context,
) => { readonly setters?: readonly Setter[]; readonly execute?: () => void | Promise<void> };

/** What a module is written as: `System.register(imports, declare)`. */
type Source = (system: { register(imports: readonly string[], declare: Declare): void }) => void;

interface Unit {
  readonly namespace: Namespace;
  readonly imports: readonly string[];
  readonly setters: readonly Setter[];
  readonly execute: () => void | Promise<void>;
  /** Whose setters are called again when an export changes. */
  readonly listeners: Setter[];
  linked: boolean;
  evaluated?: Promise<void>;
}

/** Where late code comes from. */
export interface LateSource {
  has(name: string): boolean;
  /** The text of a module. */
  read(name: string): string;
  /** Loads what is not kept here, by the specifier that a module beside this one would use. */
  importNative(specifier: string): Promise<Namespace>;
  /** The `import.meta` of a module that lay beside this one. */
  meta(name: string): Context["meta"];
}

export interface LateCode {
  /** As `import("./name")`: one instance, the same failure each time; rejects with a `TypeError` for an unknown name. */
  load(name: string): Promise<Namespace>;
}

export function createLateCode({ has, read, importNative, meta }: LateSource): LateCode {
  const units = new Map<string, Unit>();
  const natives = new Map<string, Namespace>();
  const nameOf = (specifier: string) => specifier.replace(/^\.\//, "");

  function declare(name: string, text: string): Unit {
    const namespace: Namespace = Object.create(null, { [Symbol.toStringTag]: { value: "Module" } });
    const listeners: Setter[] = [];
    const tell = (key: string | Namespace, value?: unknown) => {
      if (typeof key === "string") namespace[key] = value;
      else Object.assign(namespace, key);
      for (const listener of listeners) listener(namespace);
      return value;
    };
    const context = { meta: meta(name), import: importAny };
    let unit: Unit | undefined;
    const source = new Function("System", text) as Source;
    source({
      register(imports, declaration) {
        const { setters = [], execute = () => {} } = declaration(tell, context);
        unit = { namespace, imports, setters, execute, listeners, linked: false };
      },
    });
    if (!unit) throw new TypeError(`No module in ${name}`);
    return unit;
  }

  /** One for all who ask; a failed reading may be tried again. */
  function unitOf(name: string): Unit {
    const known = units.get(name);
    if (known) return known;
    const unit = declare(name, read(name));
    units.set(name, unit);
    return unit;
  }

  /** Everything that `name` reaches, by name; what is not kept here is loaded meanwhile. */
  async function fetchAll(name: string): Promise<ReadonlyMap<string, Unit>> {
    const found = new Map<string, Unit>();
    const others = new Set<string>();
    const open = [name];
    for (let specifier = open.pop(); specifier !== undefined; specifier = open.pop()) {
      const own = nameOf(specifier);
      if (!has(own)) others.add(specifier);
      else if (!found.has(own)) {
        const unit = unitOf(own);
        found.set(own, unit);
        open.push(...unit.imports);
      }
    }
    await Promise.all([...others].map(async (specifier) => {
      if (!natives.has(specifier)) natives.set(specifier, await importNative(specifier));
    }));
    return found;
  }

  function link(unit: Unit, found: ReadonlyMap<string, Unit>): void {
    if (unit.linked) return;
    unit.linked = true;
    for (const [index, specifier] of unit.imports.entries()) {
      const setter = unit.setters[index];
      if (!setter) continue;
      const other = found.get(nameOf(specifier));
      other?.listeners.push(setter);
      setter(other?.namespace ?? natives.get(specifier)!);
    }
  }

  /** Once, after all that it imports; what fails keeps failing with the same error. */
  function evaluate(unit: Unit, found: ReadonlyMap<string, Unit>): Promise<void> {
    return unit.evaluated ??= (async () => {
      for (const specifier of unit.imports) {
        const other = found.get(nameOf(specifier));
        if (other) await evaluate(other, found);
      }
      await unit.execute();
    })();
  }

  async function load(name: string): Promise<Namespace> {
    if (!has(name)) throw new TypeError(`Cannot find the module ${name}`);
    const found = await fetchAll(name);
    for (const unit of found.values()) link(unit, found);
    const unit = found.get(name)!;
    await evaluate(unit, found);
    return unit.namespace;
  }

  function importAny(specifier: string): Promise<Namespace> {
    const name = nameOf(specifier);
    return has(name) ? load(name) : importNative(specifier);
  }

  return { load };
}
