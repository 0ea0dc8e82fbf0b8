/** Attachments for the next prompt, and pastes (tui-gateway.md B.16, B.17). */
import { isAbsolute, resolve } from "node:path";
import * as z from "zod/mini";
import { looksLikePath, splitDropped } from "../dropped_path.ts";
import { RpcError } from "../errors.ts";
import { stamp } from "../export.ts";
import type { ImageMeta } from "../image_files.ts";
import { imageMeta, isImagePath, MAX_IMAGE_BYTES } from "../image_files.ts";
import { keepFile } from "../kept_file.ts";
import type { LiveSession } from "../live.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, method, optional } from "./define.ts";

const text = optional(z.string());

export function attachmentMethods(gateway: Gateway): DefinedMethod[] {
  return [
    method({
      name: "image.attach",
      kind: "inline",
      params: z.object({ session_id: anything, path: text }),
      failCode: 5027,
      handle: (params) => attachImage(gateway, gateway.live.require(params.session_id), params.path ?? ""),
    }),
    method({
      name: "input.detect_drop",
      kind: "inline",
      params: z.object({ session_id: anything, text }),
      failCode: 5027,
      handle: (params) => detectDrop(gateway, gateway.live.require(params.session_id), params.text ?? ""),
    }),
    method({
      name: "clipboard.paste",
      kind: "worker",
      params: z.object({ session_id: anything }),
      failCode: 5027,
      handle: (params, { signal }) => pasteImage(gateway, gateway.live.require(params.session_id), signal),
    }),
    method({
      name: "paste.collapse",
      kind: "inline",
      params: z.object({ text }),
      failCode: 5027,
      handle: (params) => collapsePaste(gateway, params.text ?? ""),
    }),
  ];
}

export interface Found {
  readonly path: string;
  readonly remainder: string;
}

/** The existing file that the text begins with, else `null`. A path with bare blanks counts when it is all of the text. */
export async function findFile(gateway: Gateway, live: LiveSession, line: string): Promise<Found | null> {
  const { platform } = gateway.hermes;
  const dropped = splitDropped(line, platform.homeDir());
  if (!dropped) return null;
  for (const found of [{ path: line.trim(), remainder: "" }, dropped]) {
    const path = isAbsolute(found.path) ? found.path : resolve(live.session.cwd, found.path);
    const stat = await platform.files.stat(path).catch(() => null);
    if (stat?.isFile) return { path, remainder: found.remainder };
  }
  return null;
}

/** The next prompt takes it along. Throws 4016, 5027. */
export async function queueImage(
  gateway: Gateway,
  live: LiveSession,
  path: string,
): Promise<{ count: number; meta: ImageMeta }> {
  const { platform } = gateway.hermes;
  try {
    const size = (await platform.files.stat(path))?.size ?? 0;
    if (size > MAX_IMAGE_BYTES) throw new RpcError(4016, "The image is larger than 25 MB");
    const meta = await imageMeta(gateway.hermes, path);
    live.images.push(path);
    return { count: live.images.length, meta };
  } catch (error) {
    if (error instanceof RpcError) throw error;
    throw new RpcError(
      5027,
      `Cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Kept under the data home, so that it is still there when its prompt is sent. */
async function pasteImage(
  gateway: Gateway,
  live: LiveSession,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { hermes } = gateway;
  const { readClipboardImage } = await import("../clipboard_image.ts");
  const found = await readClipboardImage(hermes, signal);
  if ("missing" in found) return { attached: false, message: found.missing };
  const path = await keepFile(hermes, {
    folder: `${hermes.home}/images`,
    name: `clip_${stamp(hermes.platform.clock.now())}_${live.images.length + 1}`,
    ending: ".png",
    bytes: found.png,
  });
  const { count, meta } = await queueImage(gateway, live, path);
  return { attached: true, path, count, ...meta };
}

async function attachImage(
  gateway: Gateway,
  live: LiveSession,
  line: string,
): Promise<Record<string, unknown>> {
  if (line.trim() === "") throw new RpcError(4015, "path is required");
  const found = await findFile(gateway, live, line);
  if (!found) throw new RpcError(4016, `There is no file at ${line.trim()}`);
  if (!isImagePath(found.path)) {
    throw new RpcError(4016, "Only png, jpg, jpeg, gif, webp and bmp images can be attached");
  }
  const { count, meta } = await queueImage(gateway, live, found.path);
  return {
    attached: true,
    path: found.path,
    count,
    remainder: found.remainder,
    text: found.remainder || `[User attached image: ${meta.name}]`,
    ...meta,
  };
}

async function detectDrop(
  gateway: Gateway,
  live: LiveSession,
  line: string,
): Promise<Record<string, unknown>> {
  const found = looksLikePath(line) ? await findFile(gateway, live, line) : null;
  if (!found) return { matched: false };
  const { path, remainder } = found;
  const name = path.replace(/^.*[/\\]/, "");
  if (!isImagePath(path)) {
    const shown = `[User attached file: ${path}]`;
    return { matched: true, is_image: false, path, name, text: remainder ? `${shown}\n${remainder}` : shown };
  }
  const { count, meta } = await queueImage(gateway, live, path);
  return {
    matched: true,
    is_image: true,
    path,
    count,
    text: remainder || `[User attached image: ${name}]`,
    ...meta,
  };
}

async function collapsePaste(gateway: Gateway, pasted: string): Promise<Record<string, unknown>> {
  if (pasted === "") throw new RpcError(4004, "text is required");
  const { hermes } = gateway;
  const path = await keepFile(hermes, {
    folder: `${hermes.home}/pastes`,
    name: `paste_${stamp(hermes.platform.clock.now())}`,
    ending: ".txt",
    bytes: new TextEncoder().encode(pasted),
  });
  const lines = pasted.split("\n").length;
  return { placeholder: `[Pasted text: ${lines} line${lines === 1 ? "" : "s"} → ${path}]`, path, lines };
}
