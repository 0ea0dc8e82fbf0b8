/** Edits of a JSONC text: comments stay, the value reads back, everything else has the value it had. */
import { editJsonc, type Path } from "@/config/edit.ts";
import { parseJsonc } from "@/config/jsonc_read.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { fc, holds } from "./support.ts";

type Value = null | boolean | number | string | readonly Value[] | { readonly [key: string]: Value };

const key = fc.constantFrom("a", "b", "model", "x.y", "ü", "//", "/*", '"', "");
const leaf: fc.Arbitrary<Value> = fc.oneof(
  fc.constantFrom<Value>(
    null,
    true,
    0,
    -1.5,
    "",
    "text",
    "// no comment",
    "/* none */",
    'quo"te\\',
    "a,}",
    "\u2028",
  ),
);
const { value } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    leaf,
    fc.array(tie("value") as fc.Arbitrary<Value>, { maxLength: 3 }),
    fc.dictionary(key, tie("value") as fc.Arbitrary<Value>, { maxKeys: 3, noNullPrototype: true }),
  ) as fc.Arbitrary<Value>,
}));
const root = fc.dictionary(key, value, { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<
  Record<string, Value>
>;

/** How a text is laid out: numbers that choose blanks, comments and trailing commas one after the other. */
interface Layout {
  readonly eol: string;
  readonly picks: readonly number[];
  readonly bom: boolean;
}

const layout: fc.Arbitrary<Layout> = fc.record({
  eol: fc.constantFrom("\n", "\r\n"),
  picks: fc.array(fc.nat(11), { minLength: 5, maxLength: 40 }),
  bom: fc.boolean(),
});

/** The text, and its comments in order. */
function write(value: Value, { eol, picks }: Layout): { text: string; comments: string[] } {
  const comments: string[] = [];
  let n = 0;
  const pick = () => picks[n++ % picks.length]! + (n > picks.length ? 1 : 0);
  const comment = (text: string) => {
    comments.push(text);
    return text;
  };
  const gap = (): string => {
    switch (pick()) {
      case 0:
        return ` ${comment(`/* c${n} { , " */`)} `;
      case 1:
        return ` ${comment(`// l${n} ] , "`)}${eol}`;
      case 2:
        return `${eol}  `;
      case 3:
        return " ";
      case 4:
        return `${eol}${comment(`/* m${n}${eol} second */`)}${eol}`;
      default:
        return "";
    }
  };
  const list = (open: string, items: readonly (() => string)[], close: string): string => {
    let out = open + gap();
    items.forEach((item, i) => {
      out += item() + gap();
      if (i < items.length - 1) out += `,${gap()}`;
      else if (pick() > 7) out += `,${gap()}`;
    });
    return out + close;
  };
  const any = (value: Value): string => {
    if (Array.isArray(value)) return list("[", value.map((item) => () => any(item)), "]");
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    const members = Object.entries(value).map(([key, item]) => () =>
      `${JSON.stringify(key)}${gap()}:${gap()}${any(item)}`
    );
    return list("{", members, "}");
  };
  const text = gap() + any(value) + gap();
  return { text, comments };
}

function read(text: string): unknown {
  const result = parseJsonc(text);
  assert(result.ok, `cannot be read back: ${JSON.stringify(text)}`);
  return result.value;
}

/** What the value is after the edit, worked out apart from any text. */
function expected(value: Value, path: Path, wanted: Value): Value {
  const [first, ...rest] = path;
  if (first === undefined) return wanted;
  const copy: Record<string, Value> = typeof value === "object" && value !== null && !Array.isArray(value)
    ? { ...value as Record<string, Value> }
    : {};
  copy[String(first)] = expected(copy[String(first)] ?? null, rest, wanted);
  return copy;
}

/** True when the path goes through objects only, or through nothing yet. */
function passesObjects(value: Value | undefined, path: Path): boolean {
  if (path.length <= 1 || value === undefined || typeof value !== "object" || value === null) {
    return !Array.isArray(value);
  }
  return !Array.isArray(value) &&
    passesObjects((value as Record<string, Value>)[String(path[0])], path.slice(1));
}

const paths = fc.array(key, { minLength: 1, maxLength: 3 });

Deno.test("core 54: editJsonc() sets one value; comments stay and everything else reads back as it was", async () => {
  await holds(
    fc.asyncProperty(root, layout, paths, value, async (root, layout, path, wanted) => {
      if (!passesObjects(root, path)) return;
      const { text, comments } = write(root, layout);
      const edited = await editJsonc((layout.bom ? "\ufeff" : "") + text, path, wanted);
      assertEquals(read(edited), structuredClone(expected(root, path, wanted)));
      const replaced = replacedText(root, path);
      if (!replaced) {
        for (const comment of comments) assert(edited.includes(comment), `${comment} is lost`);
      }
      if (layout.bom) assert(edited.startsWith("\ufeff"), "the mark at the start is lost");
    }),
    4,
  );
});

/** The value that is replaced may have comments inside, which go with it. */
function replacedText(value: Value, path: Path): boolean {
  let at: Value | undefined = value;
  for (const segment of path) {
    if (typeof at !== "object" || at === null) return false;
    at = (at as Record<string, Value>)[String(segment)];
  }
  return typeof at === "object" && at !== null;
}

Deno.test("core 54: editJsonc() takes one value away; the rest reads back as it was", async () => {
  await holds(
    fc.asyncProperty(root, layout, paths, async (root, layout, path) => {
      if (!passesObjects(root, path)) return;
      const { text } = write(root, layout);
      const edited = await editJsonc(text, path, undefined);
      const rest = structuredClone(root) as Record<string, unknown>;
      let holder: Record<string, unknown> | undefined = rest;
      for (const segment of path.slice(0, -1)) {
        holder = holder?.[String(segment)] as Record<string, unknown> | undefined;
      }
      if (typeof holder === "object" && holder !== null) delete holder[String(path.at(-1))];
      assertEquals(read(edited), rest);
    }),
    4,
  );
});

Deno.test("parseJsonc() answers any text, and reads what JSON.parse reads", async () => {
  await holds(fc.property(fc.string(), (text) => void parseJsonc(text)));
  await holds(fc.property(value, (value) => {
    const text = JSON.stringify(value);
    assertEquals(read(text), JSON.parse(text));
  }));
});
