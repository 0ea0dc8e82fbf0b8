/** `GET /openapi.json` and `GET /docs`: made at the first request, kept with the server. */
import type { ApiService } from "../service.ts";
import { openApiDocument, type RouteFacts } from "./document.ts";
import { renderPage, STYLE } from "./page.ts";

/** Only what the page has in it, and nothing that could run. */
async function pagePolicy(): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(STYLE)));
  const hash = btoa(String.fromCharCode(...digest));
  return `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

export function getOpenApi(api: ApiService, routes: readonly RouteFacts[]): Response {
  const text = api.texts.get("openapi") ?? JSON.stringify(openApiDocument(api.hermes.version, routes));
  api.texts.set("openapi", text);
  return new Response(text, { headers: { "Content-Type": "application/json" } });
}

export async function getDocs(api: ApiService, routes: readonly RouteFacts[]): Promise<Response> {
  const text = api.texts.get("docs") ?? renderPage(openApiDocument(api.hermes.version, routes));
  api.texts.set("docs", text);
  return new Response(text, {
    headers: { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": await pagePolicy() },
  });
}
