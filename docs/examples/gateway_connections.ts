/**
 * The two ways to a gateway, for `gateway_client.ts`: the stdio of a child process, one JSON value per line, and a
 * WebSocket, one JSON value per message. No dependency; web streams and `WebSocket` are all they use.
 */

export interface Connection {
  /** One frame, without a line end. */
  send(frame: string): void;
  close(): void;
}

export interface Listener {
  frame(text: string): void;
  /** Once, when the line has ended by whatever reason. */
  closed(reason: string): void;
}

export type Connect = (listener: Listener) => Promise<Connection>;

/** `url` with its token: `ws://127.0.0.1:9119/api/ws?token=…`. Can be connected to again and again. */
export function webSocket(url: string): Connect {
  return (listener) =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(url);
      let open = false;
      socket.onopen = () => {
        open = true;
        resolve({ send: (frame) => socket.send(frame), close: () => socket.close() });
      };
      socket.onmessage = ({ data }) => listener.frame(data);
      socket.onerror = () => {/* a close follows */};
      socket.onclose = ({ code, reason }) => {
        const why = reason || `closed with code ${code}`;
        if (open) listener.closed(why);
        else reject(new Error(`cannot connect: ${why}`));
      };
    });
}

/**
 * The pipes of a child process that was started as `hermes gateway`. Closing ends its stdin, and with that the
 * process. Once only: a process that has ended is started anew by its host.
 *
 *   const child = new Deno.Command("hermes", { args: ["gateway"], stdin: "piped", stdout: "piped" }).spawn();
 *   new GatewayClient(pipes(child.stdin, child.stdout), { retries: 0 });
 *
 * In Node: `pipes(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout))`.
 */
export function pipes(stdin: WritableStream<Uint8Array>, stdout: ReadableStream<Uint8Array>): Connect {
  return (listener) => {
    const writer = stdin.getWriter();
    const encoder = new TextEncoder();
    readLines(stdout, (line) => listener.frame(line)).then(
      () => listener.closed("the gateway has ended"),
      (error) => listener.closed(String(error)),
    );
    return Promise.resolve({
      send: (frame) => void writer.write(encoder.encode(frame + "\n")).catch(() => {/* stdout ends, too */}),
      close: () => void writer.close().catch(() => {/* it has ended already */}),
    });
  };
}

/** Only LF ends a line: U+2028 and the like are text. */
async function readLines(stream: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop()!;
    for (const line of parts) if (line.trim() !== "") take(line);
  }
}
