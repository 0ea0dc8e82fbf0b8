/**
 * What a reverse proxy says about the client it stands for. Its headers count only when the connection comes from an
 * address that the configuration trusts; from anybody else they are what a stranger has typed.
 */

export interface Forwarded {
  /** The client's address, for logs. */
  readonly peer: string;
  /** The name that the client has asked for; `null` = that of the request itself. */
  readonly host: string | null;
}

/** `trusted`: addresses, or networks like `10.0.0.0/8` and `fd00::/8`. */
export function readForwarded(headers: Headers, peer: string, trusted: readonly string[]): Forwarded {
  if (trusted.length === 0 || !isTrusted(peer, trusted)) return { peer, host: null };
  const hops = listOf(headers.get("X-Forwarded-For"));
  // The nearest address that is not one of our own proxies; everything before it can be made up.
  const client = hops.findLast((hop) => !isTrusted(hop, trusted)) ?? hops[0];
  return {
    peer: client !== undefined && bytesOf(client) !== null ? client : peer,
    host: listOf(headers.get("X-Forwarded-Host")).at(-1) ?? null,
  };
}

function listOf(value: string | null): string[] {
  return (value ?? "").split(",").map((part) => part.trim()).filter((part) => part !== "");
}

function isTrusted(address: string, trusted: readonly string[]): boolean {
  const bytes = bytesOf(address);
  return bytes !== null && trusted.some((entry) => isIn(bytes, entry.trim()));
}

function isIn(bytes: readonly number[], entry: string): boolean {
  const [base = "", size] = entry.split("/");
  const wanted = bytesOf(base);
  if (wanted === null || wanted.length !== bytes.length) return false;
  const bits = size === undefined ? wanted.length * 8 : /^\d{1,3}$/.test(size) ? Number(size) : NaN;
  if (!(bits <= wanted.length * 8)) return false;
  return bytes.every((byte, i) => {
    const left = Math.min(8, Math.max(0, bits - i * 8));
    const mask = (0xff << (8 - left)) & 0xff;
    return (byte & mask) === (wanted[i]! & mask);
  });
}

/** Four or sixteen bytes; `null` for what is no address. IPv4 inside IPv6 counts as IPv4. */
function bytesOf(text: string): readonly number[] | null {
  const plain = text.replace(/^\[(.*)\]$/, "$1").replace(/^::ffff:(?=\d+\.)/i, "");
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(plain)) {
    const bytes = plain.split(".").map(Number);
    return bytes.every((byte) => byte < 256) ? bytes : null;
  }
  if (!plain.includes(":") || !URL.canParse(`http://[${plain}]/`)) return null;
  const host = new URL(`http://[${plain}]/`).hostname.slice(1, -1);
  const [head = "", tail] = host.split("::");
  const groups = (part: string) => part === "" ? [] : part.split(":").map((group) => parseInt(group, 16));
  const [left, right] = [groups(head), groups(tail ?? "")];
  const middle = new Array<number>(8 - left.length - right.length).fill(0);
  return [...left, ...middle, ...right].flatMap((group) => [group >> 8, group & 0xff]);
}
