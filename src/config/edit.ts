/**
 * Changing one value in a JSONC text so that everything else stays as it was: comments, order, spacing, unknown
 * keys. The parser package is loaded at the first edit and never at start-up.
 */
import type { Node } from "@std/jsonc";
import { HermesError } from "@/core/contract.ts";

export type Path = readonly (string | number)[];

interface Change {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

interface Style {
  readonly unit: string;
  readonly eol: string;
}

function styleOf(text: string): Style {
  const indent = /^([ \t]+)"/m.exec(text)?.[1];
  return { unit: indent ?? "  ", eol: text.includes("\r\n") ? "\r\n" : "\n" };
}

/** The blanks at the start of the line that holds `offset`. */
function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start))?.[0] ?? "";
}

function render(value: unknown, indent: string, style: Style): string {
  return JSON.stringify(value, null, style.unit).replaceAll("\n", style.eol + indent);
}

function nest(path: Path, value: unknown): unknown {
  return path.reduceRight<unknown>((inner, segment) => ({ [segment]: inner }), value);
}

function childAt(node: Node, segment: string | number): Node | undefined {
  if (node.type === "array") {
    return /^\d+$/.test(String(segment)) ? node.children?.[Number(segment)] : undefined;
  }
  // The last of several members with one name counts, as it does for every reader.
  return node.children?.findLast((member) => member.children?.[0]?.value === String(segment))?.children?.[1];
}

/** The comma after `offset` with only blanks and comments before it, or -1; and the end of a comment on that line. */
function afterValue(text: string, offset: number): { comma: number; lineEnd: number } {
  const rest = text.slice(offset);
  const gap = /^(?:[ \t\r\n]|\/\/[^\r\n]*|\/\*[^]*?\*\/)*/.exec(rest)?.[0] ?? "";
  const comma = rest[gap.length] === "," ? offset + gap.length : -1;
  const from = comma === -1 ? offset : comma + 1;
  const tail = /^[ \t]*(?:\/\*(?:[^*\r\n]|\*(?!\/))*\*\/[ \t]*)*(?:\/\/[^\r\n]*)?(?=\r?\n|$)/.exec(
    text.slice(from),
  )?.[0];
  return { comma, lineEnd: from + (tail?.trimEnd().length ?? 0) };
}

function insertFirst(
  text: string,
  container: Node,
  member: (indent: string) => string,
  style: Style,
): Change[] {
  const close = container.offset + container.length - 1;
  const outer = indentAt(text, container.offset);
  const inner = outer + style.unit;
  const body = text.slice(container.offset + 1, close);
  const kept = body.trimEnd();
  const start = container.offset + 1 + kept.length;
  const added = `${style.eol}${inner}${member(inner)}${style.eol}${outer}`;
  return [{ offset: start, length: close - start, text: added }];
}

/** Adds a member or an item at the end of an object or a list. */
function insertLast(
  text: string,
  container: Node,
  member: (indent: string) => string,
  style: Style,
): Change[] {
  const last = container.children?.at(-1);
  if (!last) return insertFirst(text, container, member, style);
  const end = last.offset + last.length;
  const oneLine = !text.slice(container.offset, last.offset).includes("\n");
  const indent = oneLine ? indentAt(text, container.offset) : indentAt(text, last.offset);
  const { comma, lineEnd } = afterValue(text, end);
  const added = oneLine ? ` ${member(indent)}` : `${style.eol}${indent}${member(indent)}`;
  if (comma === -1 && (oneLine || lineEnd === end)) return [{ offset: end, length: 0, text: `,${added}` }];
  if (comma === -1) {
    return [{ offset: end, length: 0, text: "," }, { offset: lineEnd, length: 0, text: added }];
  }
  // The list ends with a comma by habit: the new member gets one too.
  return [{ offset: oneLine ? comma + 1 : lineEnd, length: 0, text: `${added},` }];
}

function cannot(path: Path, at: number, what: string): HermesError {
  return new HermesError(
    "config_invalid",
    `Cannot set ${path.join(".")}: ${path.slice(0, at).join(".")} ${what}`,
  );
}

function setValue(text: string, root: Node, path: Path, value: unknown): Change[] {
  const style = styleOf(text);
  let node = root;
  for (const [at, segment] of path.entries()) {
    const child = childAt(node, segment);
    if (child && at === path.length - 1) return [replacement(text, child, value, style)];
    if (child?.type === "object" || child?.type === "array") {
      node = child;
      continue;
    }
    const inner = nest(path.slice(at + 1), value);
    if (child) return [replacement(text, child, inner, style)];
    if (node.type === "array") {
      const size = node.children?.length ?? 0;
      if (Number(segment) !== size) {
        throw cannot(path, at, `is a list of ${size}; ${segment} is not one of its items`);
      }
      return insertLast(text, node, (indent) => render(inner, indent, style), style);
    }
    const name = JSON.stringify(String(segment));
    return insertLast(text, node, (indent) => `${name}: ${render(inner, indent, style)}`, style);
  }
  throw new HermesError("internal", "An edit needs a path");
}

function replacement(text: string, node: Node, value: unknown, style: Style): Change {
  return {
    offset: node.offset,
    length: node.length,
    text: render(value, indentAt(text, node.offset), style),
  };
}

function apply(text: string, changes: readonly Change[]): string {
  let out = text;
  for (const change of [...changes].sort((a, b) => b.offset - a.offset)) {
    out = out.slice(0, change.offset) + change.text + out.slice(change.offset + change.length);
  }
  return out;
}

/**
 * The text with `value` at `path`; `undefined` removes. Objects are built on the way and replace plain values, a
 * list is only entered by index. Throws `config_invalid` when that cannot be done.
 */
export async function editJsonc(text: string, path: Path, value: unknown): Promise<string> {
  const { applyEdits, findNodeAtLocation, modify, parseTree } = await import("@std/jsonc");
  const root = parseTree(text, undefined, { allowTrailingComma: true });
  if (root?.type !== "object") {
    throw new HermesError("config_invalid", "The config file does not hold an object");
  }
  if (value !== undefined) return apply(text, setValue(text, root, path, value));
  const node = findNodeAtLocation(root, [...path]);
  if (!node) return text;
  const edits = modify(text, [...path], undefined, {});
  const comma = commaOfOnly(text, node);
  return applyEdits(text, comma === -1 ? edits : [...edits, { offset: comma, length: 1, content: "" }]);
}

/** The comma behind the only member or item of its container, which may not stay behind without it; or -1. */
function commaOfOnly(text: string, node: Node): number {
  const member = node.parent?.type === "property" ? node.parent : node;
  if (member.parent?.children?.length !== 1) return -1;
  return afterValue(text, member.offset + member.length).comma;
}
