/**
 * The document as one HTML page: no script, nothing from elsewhere, every text escaped. Its only style stands in the
 * page and is allowed by its hash.
 */
import type { Json } from "./document.ts";

export const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h2 { border-bottom: 1px solid var(--line); margin-top: 2.5rem; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; }
summary { cursor: pointer; padding: .5rem .75rem; }
details > div { padding: 0 .75rem .75rem; overflow-x: auto; }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { background: var(--soft); padding: .6rem; border-radius: 4px; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; border-top: 1px solid var(--line); padding: .25rem .5rem .25rem 0; }
.method { display: inline-block; min-width: 4.5rem; font-weight: 700; }
`;

// deno-lint-ignore no-explicit-any
type Any = any;

export function renderPage(document: Json): string {
  const { info, paths, tags, components } = document as Any;
  const sections = tags.map(({ name }: { name: string }) => {
    const rows = Object.entries(paths as Record<string, Record<string, Any>>).flatMap(([path, methods]) =>
      Object.entries(methods).filter(([, operation]) => operation.tags.includes(name))
        .map(([method, operation]) => renderOperation(method, path, operation))
    );
    return `<h2>${escape(name)}</h2>\n${rows.join("\n")}`;
  });
  const shapes = Object.entries(components.schemas).map(([name, schema]) =>
    `<details id="${escape(name)}"><summary><code>${escape(name)}</code></summary><div>${
      json(schema)
    }</div></details>`
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(info.title)} ${escape(info.version)}</title><style>${STYLE}</style></head><body><main>
<h1>${escape(info.title)} ${escape(info.version)}</h1>
<p>${escape(info.description)} Send the key as <code>Authorization: Bearer …</code>. For programs:
<a href="/openapi.json">openapi.json</a> (OpenAPI ${escape(String(document.openapi))}).</p>
${sections.join("\n")}
<h2>Shapes</h2>
${shapes.join("\n")}
</main></body></html>
`;
}

function renderOperation(method: string, path: string, operation: Any): string {
  const body = operation.requestBody?.content["application/json"];
  const examples = Object.entries(body?.examples ?? {}).map(([name, example]) =>
    `<p>${escape(name)}</p>${json((example as Any).value)}`
  );
  const parameters = operation.parameters.map((parameter: Any) => [
    `<code>${escape(parameter.name)}</code>`,
    `${escape(parameter.in)}, ${escape(parameter.schema.type)}`,
    escape(parameter.description ?? ""),
  ]);
  const responses = Object.entries(operation.responses).map(([status, response]) => [
    escape(status),
    escape((response as Any).description),
    Object.entries((response as Any).content as Record<string, Any>).map(([type, { schema, ...rest }]) =>
      `${escape(type)} ${link(rest["x-event-schema"] ?? schema)}`
    ).join("<br>"),
  ]);
  return `<details><summary><span class="method">${escape(method.toUpperCase())}</span> <code>${
    escape(path)
  }</code> – ${escape(operation.summary)}</summary><div>
${operation.security ? "<p>Needs no key.</p>" : ""}${
    operation.description ? `<p>${escape(operation.description)}</p>` : ""
  }
${table(parameters)}${body ? `<p>Body: ${link(body.schema)}</p>` : ""}${examples.join("\n")}
${table(responses)}</div></details>`;
}

/** Cells are HTML already. */
function table(rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  return `<table>${
    rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("")
  }</table>`;
}

function link(schema: Any): string {
  const name = typeof schema?.$ref === "string" ? schema.$ref.split("/").at(-1) : null;
  return name === null ? "" : `<a href="#${escape(name)}"><code>${escape(name)}</code></a>`;
}

function json(value: unknown): string {
  return `<pre>${escape(JSON.stringify(value, null, 2))}</pre>`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(
    '"',
    "&quot;",
  );
}
