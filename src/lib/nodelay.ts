/**
 * Turns Nagle's algorithm off where the runtime leaves it on: before Deno 2.8.3 the second small write of a stream
 * on a kept connection waits for the client's delayed acknowledgement (40 ms). Linux hands TCP_NODELAY of a
 * listening socket on to the sockets it accepts, so it is set once, by FFI, on all our sockets at that port: the
 * listener and what it has accepted so far. It takes 3 ms, so callers do it after their ready line. Anywhere else,
 * and whenever something is missing, nothing happens: the server is then slower, not broken.
 */

/** The first runtime that does it by itself. */
const FIXED_IN: readonly [number, number, number] = [2, 8, 3];

const AF_INET = 2;
const AF_INET6 = 10;
const IPPROTO_TCP = 6;
const TCP_NODELAY = 1;

const SYMBOLS = {
  setsockopt: { parameters: ["i32", "i32", "i32", "buffer", "u32"], result: "i32" },
  getsockname: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
} as const;

type Libc = Deno.DynamicLibrary<typeof SYMBOLS>;

/** True when this runtime keeps Nagle's algorithm on and we know how to turn it off. */
export function needsNodelay(version: string = Deno.version.deno, os: string = Deno.build.os): boolean {
  if (os !== "linux") return false;
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/).map(Number);
  for (const [i, part] of [major, minor, patch].entries()) {
    if (part !== FIXED_IN[i]) return part < FIXED_IN[i]!;
  }
  return false;
}

/** Does what this runtime needs for our sockets at local `port`; never throws. The number of sockets changed. */
export function disableNagle(port: number, log: { debug(message: string): void }): number {
  if (!needsNodelay()) return 0;
  try {
    const changed = setNodelayAt(port);
    if (changed === 0) log.debug("nodelay: no socket was found; first bytes may take 40 ms");
    return changed;
  } catch (error) {
    log.debug(`nodelay: not available here: ${error instanceof Error ? error.message : String(error)}`);
    return 0;
  }
}

/** Sets TCP_NODELAY on all our sockets at local `port`, on Linux. Throws where the C library cannot be loaded. */
export function setNodelayAt(port: number): number {
  const libc = openLibc();
  try {
    return socketsAt(libc, port).filter((fd) => setNodelay(libc, fd)).length;
  } finally {
    libc.close();
  }
}

function openLibc(): Libc {
  try {
    return Deno.dlopen("libc.so.6", SYMBOLS);
  } catch {
    // musl names its library after the machine.
    return Deno.dlopen(`libc.musl-${Deno.build.arch}.so.1`, SYMBOLS);
  }
}

function socketsAt(libc: Libc, port: number): number[] {
  const fds = [...Deno.readDirSync("/proc/self/fd")].map((entry) => Number(entry.name));
  return fds.filter((fd) => portOf(libc, fd) === port);
}

/** sockaddr_in and sockaddr_in6 both keep the port at offset 2, in network order; -1 for what is not TCP. */
function portOf(libc: Libc, fd: number): number {
  const address = new Uint8Array(28);
  const size = new Uint32Array([address.length]);
  if (libc.symbols.getsockname(fd, address, bytes(size)) !== 0) return -1;
  const family = address[0]! | address[1]! << 8;
  if (family !== AF_INET && family !== AF_INET6) return -1;
  return address[2]! << 8 | address[3]!;
}

function setNodelay(libc: Libc, fd: number): boolean {
  return libc.symbols.setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, bytes(new Int32Array([1])), 4) === 0;
}

function bytes(array: Int32Array | Uint32Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(array.buffer as ArrayBuffer);
}
