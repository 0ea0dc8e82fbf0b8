/**
 * The process that makes one image smaller: this program again, with the image on stdin and the smaller one on stdout
 * (`src/cli/image_fit`). Bounded in pixels, time and output; ended with everything it has started.
 */
import { AbortError } from "@/lib/abort.ts";
import { type ImageLimits, imageSize, MAX_PIXELS } from "@/lib/image_head.ts";
import { selfCommand, selfEnv } from "@/lib/self_command.ts";
import type { Child } from "@/platform/mod.ts";
import { type FitDeps, type FittedImage, ImageRefusal } from "./image_fitting.ts";

/** The word that starts it; no command for people. */
export const FIT_COMMAND = "image-fit";
/** The largest that are taken need about ten seconds. */
const TIMEOUT_MS = 60_000;
const BROKEN =
  "it is damaged or of a kind that cannot be opened here: save it again as PNG or JPEG, at most 7,900 pixels a side";

/** Throws `AbortError` and `ImageRefusal`. */
export async function fitInChild(
  image: Uint8Array,
  limits: ImageLimits,
  signal: AbortSignal,
  deps: FitDeps,
): Promise<FittedImage> {
  const from = imageSize(image);
  if (from === null || Math.min(...from) < 1) throw new ImageRefusal("unreadable", BROKEN);
  if (from[0] * from[1] > MAX_PIXELS) {
    throw new ImageRefusal(
      "too_many_pixels",
      `it has ${from[0]}×${from[1]} pixels, more than the ${
        MAX_PIXELS / 1e6
      } million that are opened here: ` +
        `make it smaller first, at most ${limits.maxSide} pixels a side`,
    );
  }
  const bytes = await new FitRun(limits, deps).run(image, signal);
  const to = imageSize(bytes);
  if (to === null || bytes.length > limits.maxBytes || Math.max(...to) > limits.maxSide) {
    throw new ImageRefusal("failed", "the process that makes images smaller gave no image");
  }
  return { bytes, from, to };
}

class FitRun {
  readonly #limits: ImageLimits;
  readonly #deps: FitDeps;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #stderr = "";

  constructor(limits: ImageLimits, deps: FitDeps) {
    this.#limits = limits;
    this.#deps = deps;
  }

  async run(image: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    if (signal.aborted) throw new AbortError();
    const { clock } = this.#deps.platform;
    const stop = new AbortController();
    const child = this.#start();
    try {
      // A child that ends early closes the pipe; its exit tells why.
      child.write(image).then(() => child.closeStdin(), () => {});
      const limit = AbortSignal.any([signal, stop.signal]);
      const late = clock.delay(TIMEOUT_MS, { signal: limit }).then(
        () => "timeout" as const,
        () => "aborted" as const,
      );
      // It rejects when the program cannot be started.
      const ended = await Promise.race([child.exited.catch(() => null), late]);
      if (signal.aborted) throw new AbortError();
      if (ended === "timeout") {
        throw new ImageRefusal(
          "timeout",
          `it could not be made smaller within ${TIMEOUT_MS / 1000} s: make it smaller first`,
        );
      }
      if (ended === null || typeof ended === "string" || ended.code !== 0) throw this.#refusal();
      return this.#output();
    } finally {
      stop.abort();
      child.kill("SIGKILL");
    }
  }

  #start(): Child {
    const { platform, home, env } = this.#deps;
    const [command, ...prefix] = selfCommand(platform.execPath());
    const { maxSide, maxBytes } = this.#limits;
    try {
      return platform.spawn(command, [...prefix, FIT_COMMAND, String(maxSide), String(maxBytes)], {
        cwd: home,
        env: selfEnv(env(), home),
        stdin: "pipe",
        onStdout: (chunk) => {
          this.#size += chunk.length;
          if (this.#size <= maxBytes) this.#chunks.push(chunk);
        },
        onStderr: (chunk) => this.#stderr = (this.#stderr + new TextDecoder().decode(chunk)).slice(-2_000),
      });
    } catch (error) {
      throw new ImageRefusal("failed", `it is too large, and making it smaller failed: ${error}`);
    }
  }

  #refusal(): ImageRefusal {
    const told = this.#stderr.trim().split("\n").at(-1) ?? "";
    if (told === "unreadable") return new ImageRefusal("unreadable", BROKEN);
    return new ImageRefusal(
      "failed",
      "it is too large, and making it smaller failed (out of memory, or the runtime): make it smaller first",
    );
  }

  #output(): Uint8Array {
    const all = new Uint8Array(this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0));
    let at = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    return all;
  }
}
