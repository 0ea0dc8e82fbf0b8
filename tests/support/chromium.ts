/**
 * A headless Chromium for tests of pages, driven over its debugging WebSocket: open a page, wait for what it shows,
 * click and type as a person does, take pictures. `findChromium()` is `null` where there is none: such tests say so
 * and are skipped.
 *
 *   await using browser = await startChromium();
 *   const page = await browser.open("http://127.0.0.1:1234/");
 *   await page.waitFor("#gate");
 */
import { eventually } from "./program.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/** The path of a browser on this machine: `CHROMIUM_BIN`, else the first one on `PATH`. */
export function findChromium(): string | null {
  const given = Deno.env.get("CHROMIUM_BIN");
  if (given) return given;
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    for (const name of NAMES) {
      try {
        if (Deno.statSync(`${folder}/${name}`).isFile) return `${folder}/${name}`;
      } catch {
        // Not here.
      }
    }
  }
  return null;
}

// deno-lint-ignore no-explicit-any
type Wire = any;

export interface ViewOptions {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: "light" | "dark";
}

export interface Browser extends AsyncDisposable {
  open(url: string, view?: ViewOptions): Promise<Page>;
}

/** `extension`: the folder of one that is loaded unpacked. */
export async function startChromium(options: { readonly extension?: string } = {}): Promise<Browser> {
  const path = findChromium();
  if (!path) throw new Error("There is no Chromium on this machine");
  const profile = await Deno.makeTempDir({ prefix: "hermes-chromium-" });
  const child = new Deno.Command(path, {
    args: [
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
      "--remote-debugging-port=0",
      `--user-data-dir=${profile}`,
      ...(options.extension === undefined ? [] : [`--load-extension=${options.extension}`]),
      "about:blank",
    ],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    const [port, id] = await eventually(
      async () => {
        const text = await Deno.readTextFile(`${profile}/DevToolsActivePort`).catch(() => "");
        const lines = text.trim().split("\n");
        return lines.length === 2 ? lines : undefined;
      },
      20_000,
      "Chromium to listen",
    ) as [string, string];
    const link = await Link.open(`ws://127.0.0.1:${port}${id}`);
    return {
      open: (url, view) => Page.open(link, url, view ?? {}),
      [Symbol.asyncDispose]: async () => {
        await link.send("Browser.close").catch(() => {});
        await child.status;
        await link.close();
        await Deno.remove(profile, { recursive: true }).catch(() => {});
      },
    };
  } catch (error) {
    child.kill("SIGKILL");
    await child.status;
    await Deno.remove(profile, { recursive: true }).catch(() => {});
    throw error;
  }
}

/** The protocol: numbered calls, and events by session. */
class Link {
  readonly #socket: WebSocket;
  readonly #calls = new Map<number, PromiseWithResolvers<Wire>>();
  readonly #listeners = new Set<(message: Wire) => void>();
  readonly #closed = Promise.withResolvers<void>();
  #last = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      const call = this.#calls.get(message.id);
      if (!call) { for (const listener of this.#listeners) listener(message); }
      else if (message.error) call.reject(new Error(`Chromium: ${message.error.message}`));
      else call.resolve(message.result);
      this.#calls.delete(message.id);
    };
    socket.onclose = () => {
      for (const call of this.#calls.values()) call.reject(new Error("Chromium has gone"));
      this.#calls.clear();
      this.#closed.resolve();
    };
  }

  static async open(url: string): Promise<Link> {
    const socket = new WebSocket(url);
    const link = new Link(socket);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = reject;
    });
    return link;
  }

  send(method: string, params?: Wire, sessionId?: string): Promise<Wire> {
    const id = ++this.#last;
    const call = Promise.withResolvers<Wire>();
    if (this.#socket.readyState !== WebSocket.OPEN) return Promise.reject(new Error("Chromium has gone"));
    this.#calls.set(id, call);
    this.#socket.send(
      JSON.stringify({ id, method, params: params ?? {}, ...(sessionId ? { sessionId } : {}) }),
    );
    return call.promise;
  }

  listen(listener: (message: Wire) => void): void {
    this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    this.#socket.close();
    await this.#closed.promise;
  }
}

export class Page {
  /** What the page wrote to its console as an error, policy violations included. */
  readonly problems: string[] = [];
  /** Every address the page has asked for. */
  readonly requests: string[] = [];
  readonly #link: Link;
  readonly #session: string;

  private constructor(link: Link, session: string) {
    this.#link = link;
    this.#session = session;
    link.listen((message) => {
      if (message.sessionId !== session) return;
      const { params } = message;
      if (message.method === "Runtime.exceptionThrown") {
        this.problems.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
      } else if (message.method === "Log.entryAdded" && params.entry.level === "error") {
        this.problems.push(`${params.entry.text} ${params.entry.url ?? ""}`.trim());
      } else if (message.method === "Network.requestWillBeSent") this.requests.push(params.request.url);
    });
  }

  static async open(link: Link, url: string, view: ViewOptions): Promise<Page> {
    const { targetId } = await link.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await link.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(link, sessionId);
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await page.send(`${domain}.enable`);
    await page.look(view);
    await page.send("Page.navigate", { url });
    return page;
  }

  send(method: string, params: Wire = {}): Promise<Wire> {
    return this.#link.send(method, params, this.#session);
  }

  /** Size and colour scheme. */
  async look({ width = 1200, height = 800, scheme = "light" }: ViewOptions): Promise<void> {
    await this.send("Emulation.setDeviceMetricsOverride", {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: width < 600,
    });
    await this.send("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-color-scheme", value: scheme }],
    });
  }

  /** The value of an expression in the page. */
  async evaluate(expression: string): Promise<Wire> {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Until an expression is true in the page. */
  until(expression: string, timeoutMs = 10_000): Promise<true> {
    return eventually(
      async () => (await this.evaluate(`Boolean(${expression})`).catch(() => false)) === true,
      timeoutMs,
      expression,
    );
  }

  /** Until an element is there and can be seen. */
  waitFor(selector: string): Promise<true> {
    const quoted = JSON.stringify(selector);
    return this.until(`document.querySelector(${quoted})?.checkVisibility({ visibilityProperty: true })`);
  }

  async text(selector: string): Promise<string> {
    return await this.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ""`);
  }

  /** With the mouse, in the middle of the element. */
  async click(selector: string): Promise<void> {
    await this.waitFor(selector);
    const { x, y } = await this.evaluate(`(() => {
      const element = document.querySelector(${JSON.stringify(selector)});
      element.scrollIntoView({ block: "nearest" });
      const box = element.getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    })()`);
    const mouse = { x, y, button: "left", clickCount: 1 };
    await this.send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
    await this.send("Input.dispatchMouseEvent", { type: "mousePressed", ...mouse });
    await this.send("Input.dispatchMouseEvent", { type: "mouseReleased", ...mouse });
  }

  async type(text: string): Promise<void> {
    await this.send("Input.insertText", { text });
  }

  /** `modifiers`: 1 Alt, 2 Ctrl, 8 Shift. */
  async press(key: string, { code = key, modifiers = 0 } = {}): Promise<void> {
    const codes: Record<string, number> = { Enter: 13, Tab: 9, Escape: 27, ArrowDown: 40 };
    const windowsVirtualKeyCode = codes[key] ?? key.toUpperCase().charCodeAt(0);
    const text = key === "Enter" ? { text: "\r" } : {};
    const event = { key, code, modifiers, windowsVirtualKeyCode };
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", ...event, ...text });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
  }

  async reload(): Promise<void> {
    await this.send("Page.reload");
  }

  async picture(path: string): Promise<void> {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    await Deno.writeFile(path, Uint8Array.from(atob(data), (char) => char.charCodeAt(0)));
  }
}
