/**
 * An address on loopback that takes no connection and refuses none, as one behind a firewall: a socket that listens,
 * accepts nothing, and whose short queue is full. Linux only.
 */

const AF_INET = 2;
const SOCK_STREAM = 1;
const SYN_SENT = "02";

const SYMBOLS = {
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  bind: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  listen: { parameters: ["i32", "i32"], result: "i32" },
  getsockname: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
} as const;

export const hasSilentAddresses = Deno.build.os === "linux";

export interface SilentAddress extends AsyncDisposable {
  readonly port: number;
  /** Connections that somebody on this machine is trying to make to it. */
  attempts(): Promise<number>;
}

/** Connects until nobody answers any more. */
export async function openSilentAddress(): Promise<SilentAddress> {
  const libc = openLibc();
  const fd = libc.symbols.socket(AF_INET, SOCK_STREAM, 0);
  const address = new Uint8Array(16);
  const view = new DataView(address.buffer);
  view.setUint16(0, AF_INET, true);
  view.setUint32(4, 0x7f000001);
  const size = new Uint8Array(new Uint32Array([address.length]).buffer);
  const results = [
    libc.symbols.bind(fd, address, address.length),
    libc.symbols.listen(fd, 0),
    libc.symbols.getsockname(fd, address, size),
  ];
  if (results.some((result) => result !== 0)) throw new Error(`Cannot listen: ${results}`);
  const port = view.getUint16(2);
  const queued: Deno.Conn[] = [];
  const close = () => {
    for (const connection of queued) connection.close();
    libc.symbols.close(fd);
    libc.close();
  };
  for (let n = 0; n < 16; n++) {
    const connection = await Deno.connect({ port, signal: AbortSignal.timeout(300) }).catch(() => null);
    if (connection === null) {
      return { port, attempts: () => attemptsAt(port), [Symbol.asyncDispose]: async () => await close() };
    }
    queued.push(connection);
  }
  close();
  throw new Error("The queue does not fill");
}

function openLibc(): Deno.DynamicLibrary<typeof SYMBOLS> {
  try {
    return Deno.dlopen("libc.so.6", SYMBOLS);
  } catch {
    // musl names its library after the machine.
    return Deno.dlopen(`libc.musl-${Deno.build.arch}.so.1`, SYMBOLS);
  }
}

async function attemptsAt(port: number): Promise<number> {
  const remote = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = (await Deno.readTextFile("/proc/net/tcp")).split("\n").map((line) =>
    line.trim().split(/\s+/)
  );
  return lines.filter(([, , to, state]) => to === remote && state === SYN_SENT).length;
}
