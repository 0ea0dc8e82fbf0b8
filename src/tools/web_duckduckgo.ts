/** The result page of DuckDuckGo's plain HTML search, as hits; the one service without a key and without an API. */
import { Parser } from "htmlparser2";

interface DuckHit {
  title: string;
  url: string;
  description: string;
}

/** `null` when the page is no page of results (a challenge, an error); empty when nothing was found. */
export function readDuckDuckGo(html: string): DuckHit[] | null {
  const found: DuckHit[] = [];
  let into: "title" | "description" | null = null;
  let isResults = false;
  const parser = new Parser({
    onopentag(name, attributes) {
      const classes = new Set((attributes["class"] ?? "").split(/\s+/));
      if (classes.has("results") || classes.has("no-results")) isResults = true;
      if (name !== "a") return;
      if (classes.has("result__a")) {
        const url = targetOf(attributes["href"] ?? "");
        found.push({ title: "", url: url ?? "", description: "" });
        into = "title";
      } else if (classes.has("result__snippet") && found.length > 0) into = "description";
    },
    ontext(text) {
      if (into) found.at(-1)![into] += text;
    },
    onclosetag(name) {
      if (name === "a") into = null;
    },
  }, { decodeEntities: true });
  parser.write(html.slice(0, 2 << 20));
  parser.end();
  if (!isResults && found.length === 0) return null;
  return found.filter(({ url }) => url !== "").map(({ title, url, description }) => ({
    title: oneLine(title),
    url,
    description: oneLine(description),
  }));
}

/** The address behind the link: the search engine's own forwarder carries it as `uddg`; advertisements are dropped. */
function targetOf(href: string): string | null {
  const url = URL.parse(href, "https://duckduckgo.com/");
  if (url === null) return null;
  if (!/(?:^|\.)duckduckgo\.com$/.test(url.hostname)) return url.href;
  return url.pathname === "/l/" ? url.searchParams.get("uddg") : null;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
