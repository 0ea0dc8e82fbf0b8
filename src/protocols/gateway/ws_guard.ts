/**
 * Who may open a WebSocket (tui-gateway.md A.2): decided before the upgrade, so a refused client never sees a
 * frame. Pure; the transport brings the facts.
 */

export interface UpgradeFacts {
  /** Address the server is bound to. */
  readonly bind: string;
  /** Remote address; empty when unknown. */
  readonly peer: string;
  readonly host: string | null;
  readonly origin: string | null;
  /** `Authorization` header. */
  readonly authorization: string | null;
  /** `token` of the query. */
  readonly queryToken: string | null;
  readonly token: string;
  readonly allowedHosts: readonly string[];
}

export interface Refusal {
  readonly status: 401 | 403;
  readonly code: string;
  readonly message: string;
}

export function isLoopback(address: string): boolean {
  const name = address.replace(/^\[|\]$/g, "").toLowerCase();
  return name === "localhost" || name === "::1" || /^127(\.\d{1,3}){3}$/.test(name) ||
    /^::ffff:127(\.\d{1,3}){3}$/.test(name);
}

/** What the operator of a bind like this is told at its start; `null` where nobody else can reach it. */
export function openWarning(bind: string): string | null {
  if (isLoopback(bind)) return null;
  return "WARNING: the gateway can be reached from the network and runs commands on this machine without a sandbox: " +
    "whoever has the token can run commands here.";
}

/** `null` = let in. */
export function refuseUpgrade(facts: UpgradeFacts): Refusal | null {
  if (!isKnownHost(hostName(facts.host ?? ""), facts)) {
    return {
      status: 403,
      code: "host_not_allowed",
      message: "This Host is not served; add it to gateway.allowed_hosts",
    };
  }
  if (isLoopback(facts.bind) && !isLoopback(facts.peer)) {
    return { status: 403, code: "peer_not_allowed", message: "Only programs on this machine may connect" };
  }
  if (!isKnownOrigin(facts)) {
    return { status: 403, code: "origin_not_allowed", message: "This Origin is not served" };
  }
  if (!isRightToken(facts)) {
    return { status: 401, code: "unauthorized", message: "Give the token as ?token= or as a bearer token" };
  }
  return null;
}

/** Name without port and brackets; an IPv6 address without brackets has no port. */
function hostName(host: string): string {
  const trimmed = host.trim().toLowerCase();
  if (/^[^[].*:.*:/.test(trimmed) || trimmed.startsWith("::")) return trimmed;
  if (trimmed.startsWith("[")) return trimmed.slice(1, Math.max(trimmed.indexOf("]"), 1));
  return trimmed.replace(/:\d*$/, "");
}

function isKnownHost(name: string, facts: UpgradeFacts): boolean {
  if (name === "") return false;
  if (facts.allowedHosts.some((allowed) => hostName(allowed) === name)) return true;
  const bind = hostName(facts.bind);
  if (bind === "0.0.0.0" || bind === "::") return true;
  return isLoopback(bind) ? isLoopback(name) : name === bind;
}

/** Only web pages name an http(s) origin; for everything else the token is the boundary. */
function isKnownOrigin(facts: UpgradeFacts): boolean {
  const match = /^https?:\/\/(.*)$/i.exec(facts.origin ?? "");
  return match ? isKnownHost(hostName(match[1]!), facts) : true;
}

function isRightToken(facts: UpgradeFacts): boolean {
  const bearer = /^bearer\s+(.+)$/i.exec(facts.authorization ?? "")?.[1]?.trim();
  const given = facts.queryToken || bearer || "";
  return given !== "" && isSameText(given, facts.token);
}

/** Takes the same time for every text of one length. */
function isSameText(a: string, b: string): boolean {
  const [left, right] = [new TextEncoder().encode(a), new TextEncoder().encode(b)];
  let difference = left.length ^ right.length;
  for (let i = 0; i < left.length; i++) difference |= left[i]! ^ (right[i % Math.max(right.length, 1)] ?? 0);
  return difference === 0;
}
