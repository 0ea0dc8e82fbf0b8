/**
 * Which addresses a URL that a model or a stranger gave may reach (core.md C.11): http and https only, never the
 * metadata services of clouds, and nothing that is not public unless the user allows it. Judged is what the URL
 * parser makes of a spelling (decimal, octal, hex, full width, IPv6 with IPv4 inside), and every address of a name.
 * Knows no network: names are resolved by the caller, who connects to the addresses that were checked.
 */

export type AddressKind = "public" | "private" | "metadata";

export interface UrlPolicy {
  /** Every address of a host name; rejects or gives none when there is no such name. */
  resolve(host: string): Promise<readonly string[]>;
  /** Private, loopback and reserved addresses may be reached; metadata services never. */
  readonly allowPrivate?: boolean;
  /** Hosts (`name`, `name:port`, an address) that may be private although others may not. */
  readonly allowHosts?: readonly string[];
}

export type UrlVerdict =
  | { readonly ok: true; readonly url: URL; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly reason: string };

type Range = readonly [base: string, bits: number];

/** What is never reached, whatever the settings say. */
const METADATA_HOSTS = new Set(["metadata.google.internal", "metadata.goog"]);
const METADATA: readonly Range[] = [
  ["169.254.0.0", 16],
  ["100.100.100.200", 32],
  ["168.63.129.16", 32],
  ["fd00:ec2::254", 128],
];
/** IPv4 without the ranges of the IANA registry that are not globally reachable. */
const PRIVATE_V4: readonly Range[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];
/** Of IPv6 only global unicast is public, and of that not these. */
const GLOBAL_V6: Range = ["2000::", 3];
const PRIVATE_V6: readonly Range[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["3fff::", 20],
];
/** IPv6 ranges that carry an IPv4 address, with the byte where it begins: judged by that address. */
const CARRIERS: readonly (readonly [range: Range, at: number])[] = [
  [["::ffff:0:0", 96], 12],
  [["::ffff:0:0:0", 96], 12],
  [["64:ff9b::", 96], 12],
  [["2002::", 16], 2],
  [["::", 96], 12],
];

/**
 * Judges a URL and, for a name, all its addresses. Connect to `addresses` and nothing else, or a name that changes
 * its mind between check and connection passes. Redirects are judged anew. Never throws but for what `resolve`
 * rejects with as an `AbortError`.
 */
export async function checkPublicUrl(input: string | URL, policy: UrlPolicy): Promise<UrlVerdict> {
  const url = typeof input === "string" ? parseUrl(input) : input;
  if (url === null) return refuse("it is not a valid URL");
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return refuse("only http and https addresses are opened");
  }
  const host = hostOf(url);
  if (METADATA_HOSTS.has(host)) return refuse("it is a cloud metadata service");
  const allowPrivate = policy.allowPrivate === true || isListed(url, host, policy.allowHosts ?? []);
  if (isAddress(host)) return judge(url, [host], allowPrivate);
  let addresses: readonly string[];
  try {
    addresses = await policy.resolve(host);
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") throw error;
    return refuse(`the host name ${host} cannot be resolved`);
  }
  if (addresses.length === 0) return refuse(`the host name ${host} cannot be resolved`);
  return judge(url, addresses, allowPrivate);
}

/** What kind of place an address is; `null` for text that is no address. Zone names (`%eth0`) are ignored. */
export function classifyAddress(address: string): AddressKind | null {
  const bytes = parseAddress(address);
  return bytes === null ? null : kindOf(bytes);
}

function judge(url: URL, addresses: readonly string[], allowPrivate: boolean): UrlVerdict {
  for (const address of addresses) {
    const kind = classifyAddress(address);
    if (kind === null) return refuse("its address cannot be read");
    if (kind === "metadata") return refuse("it leads to a cloud metadata service or a link-local address");
    if (kind === "private" && !allowPrivate) {
      return refuse("it leads to a private or reserved address (security.allow_private_urls allows that)");
    }
  }
  return { ok: true, url, addresses };
}

function refuse(reason: string): UrlVerdict {
  return { ok: false, reason };
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text.trim());
  } catch {
    return null;
  }
}

/** Lower case, without brackets and final dots. */
function hostOf(url: URL): string {
  return url.hostname.toLowerCase().replace(/^\[(.*)\]$/, "$1").replace(/\.+$/, "");
}

function isListed(url: URL, host: string, allowed: readonly string[]): boolean {
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return allowed.some((entry) => {
    const wanted = entry.trim().toLowerCase().replace(/^\[(.*)\]$/, "$1");
    return wanted !== "" &&
      (wanted === host || wanted === `${host}:${port}` || wanted === `[${host}]:${port}`);
  });
}

function isAddress(host: string): boolean {
  return parseAddress(host) !== null;
}

// ── Addresses as bytes ──────────────────────────────────────────────────────────────────────────────────────

function kindOf(bytes: Uint8Array): AddressKind {
  if (METADATA.some((range) => isIn(bytes, range))) return "metadata";
  if (bytes.length === 4) return PRIVATE_V4.some((range) => isIn(bytes, range)) ? "private" : "public";
  const carrier = CARRIERS.find(([range]) => isIn(bytes, range));
  if (carrier) return kindOf(bytes.subarray(carrier[1], carrier[1] + 4));
  if (!isIn(bytes, GLOBAL_V6)) return "private";
  return PRIVATE_V6.some((range) => isIn(bytes, range)) ? "private" : "public";
}

function isIn(bytes: Uint8Array, [base, bits]: Range): boolean {
  const wanted = parseAddress(base)!;
  if (wanted.length !== bytes.length) return false;
  for (let at = 0, left = bits; left > 0; at++, left -= 8) {
    const mask = left >= 8 ? 0xff : (0xff << (8 - left)) & 0xff;
    if ((bytes[at]! & mask) !== (wanted[at]! & mask)) return false;
  }
  return true;
}

/** Four or sixteen bytes of an address in its usual spelling; `null` for anything else. */
function parseAddress(text: string): Uint8Array | null {
  const plain = text.replace(/%.*$/s, "");
  return plain.includes(":") ? parseV6(plain) : parseV4(plain);
}

function parseV4(text: string): Uint8Array | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) {
    return null;
  }
  return Uint8Array.from(parts, Number);
}

function parseV6(text: string): Uint8Array | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const [head, tail] = [groupsOf(halves[0]!), groupsOf(halves[1] ?? "")];
  if (head === null || tail === null) return null;
  const missing = 16 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 2) return null;
  return Uint8Array.from([...head, ...new Array<number>(missing).fill(0), ...tail]);
}

/** The bytes of `a:b:1.2.3.4`; the dotted form only at the end. */
function groupsOf(text: string): number[] | null {
  if (text === "") return [];
  const groups = text.split(":");
  const bytes: number[] = [];
  for (const [at, group] of groups.entries()) {
    const v4 = at === groups.length - 1 && group.includes(".") ? parseV4(group) : null;
    if (v4) bytes.push(...v4);
    else if (/^[0-9a-f]{1,4}$/i.test(group)) bytes.push(parseInt(group, 16) >> 8, parseInt(group, 16) & 0xff);
    else return null;
  }
  return bytes;
}
