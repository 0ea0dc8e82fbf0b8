/**
 * `hermes image-fit <side> <bytes>`: the image on stdin, made smaller, on stdout. No command for people: the core
 * starts it for one image and ends it (`src/core/image_child.ts`). On failure nothing is written to stdout, and the
 * last line of stderr is `unreadable` or what has happened.
 */
import type { Platform } from "@/platform/mod.ts";
import { fitImage } from "./fit.ts";
import { Unreadable } from "./pixels.ts";

export async function run(args: readonly string[], platform: Platform): Promise<number> {
  const [maxSide, maxBytes] = args.map(Number);
  if (!(maxSide! >= 1 && maxBytes! >= 1)) {
    platform.stderr("usage: image-fit <side> <bytes>");
    return 2;
  }
  try {
    const image = new Uint8Array(await new Response(Deno.stdin.readable).arrayBuffer());
    await writeAll(await fitImage(image, { maxSide: maxSide!, maxBytes: maxBytes! }));
    return 0;
  } catch (error) {
    platform.stderr(error instanceof Unreadable ? "unreadable" : String(error));
    return 1;
  }
}

async function writeAll(bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await Deno.stdout.write(bytes.subarray(at));
}
