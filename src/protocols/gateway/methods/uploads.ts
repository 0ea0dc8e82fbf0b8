/**
 * Files that a host sends along (tui-gateway.md B.18), for hosts on another machine: images for the next prompt, and
 * files that a prompt then names by `@file:`. What is sent is kept under a name of our own choosing; nothing outside
 * the workspace is read for it.
 */
import { isAbsolute, relative, resolve } from "node:path";
import * as z from "zod/mini";
import { sniffImage } from "@/lib/image_type.ts";
import { RpcError } from "../errors.ts";
import { MAX_IMAGE_BYTES } from "../image_files.ts";
import { keepFile } from "../kept_file.ts";
import type { LiveSession } from "../live.ts";
import { quoteValue } from "../reference_text.ts";
import type { Gateway } from "../server.ts";
import { queueImage } from "./attachments.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, method, optional } from "./define.ts";

const text = optional(z.string());
const MAX_NAME = 80;
const ENDINGS: Readonly<Record<string, string>> = {
  "image/png": ".png",
  "image/jpeg": ".jpg",
  "image/gif": ".gif",
  "image/webp": ".webp",
  "image/bmp": ".bmp",
};
/** In the workspace, because references reach no further. */
const FOLDER = [".hermes", "attachments"];

export function uploadMethods(gateway: Gateway): DefinedMethod[] {
  const { live: sessions } = gateway;
  return [
    method({
      name: "image.attach_bytes",
      kind: "inline",
      params: z.object({ session_id: anything, content_base64: text, filename: text }),
      failCode: 5027,
      handle: (params) => attachBytes(gateway, sessions.require(params.session_id), params),
    }),
    method({
      name: "image.detach",
      kind: "inline",
      params: z.object({ session_id: anything, path: text }),
      handle: (params) => detachImage(sessions.require(params.session_id), params.path ?? ""),
    }),
    method({
      name: "file.attach",
      kind: "inline",
      params: z.object({ session_id: anything, path: text, data_url: text, name: text }),
      failCode: 5028,
      handle: (params) => attachFile(gateway, sessions.require(params.session_id), params),
    }),
  ];
}

async function attachBytes(
  gateway: Gateway,
  live: LiveSession,
  params: { readonly content_base64?: string | undefined; readonly filename?: string | undefined },
): Promise<Record<string, unknown>> {
  const bytes = decodeUpload(params.content_base64 ?? "");
  const type = sniffImage(bytes);
  if (type === null) throw new RpcError(4016, "Only png, jpg, gif, webp and bmp images can be attached");
  const { hermes } = gateway;
  const path = await keepFile(hermes, {
    folder: `${hermes.home}/images`,
    name: safeName(params.filename ?? "", "image").replace(/\.[^.]*$/, ""),
    ending: ENDINGS[type]!,
    bytes,
  });
  const { count, meta } = await queueImage(gateway, live, path);
  return {
    attached: true,
    path,
    count,
    remainder: "",
    text: `[User attached image: ${meta.name}]`,
    bytes: bytes.length,
    ...meta,
  };
}

/** Takes back an image that waits for the next prompt, by the path it was attached under. */
function detachImage(live: LiveSession, path: string): { detached: boolean; count: number } {
  if (path.trim() === "") throw new RpcError(4015, "path is required");
  const at = live.images.lastIndexOf(path);
  if (at !== -1) live.images.splice(at, 1);
  return { detached: at !== -1, count: live.images.length };
}

interface FileParams {
  readonly path?: string | undefined;
  readonly data_url?: string | undefined;
  readonly name?: string | undefined;
}

async function attachFile(
  gateway: Gateway,
  live: LiveSession,
  params: FileParams,
): Promise<Record<string, unknown>> {
  const { path = "", data_url: sent = "" } = params;
  if (path.trim() === "" && sent === "") throw new RpcError(4015, "path or data_url is required");
  const stored = sent === ""
    ? await fileInside(gateway, live, path)
    : await keepInside(gateway, live, decodeUpload(sent), safeName(params.name || path, "file"));
  const ref = relative(live.session.cwd, stored).replaceAll("\\", "/");
  return {
    attached: true,
    name: stored.replace(/^.*[/\\]/, ""),
    path: stored,
    ref_path: ref,
    ref_text: `@file:${quoteValue(ref)}`,
    uploaded: sent !== "",
  };
}

/** Throws 4016 for what is not there, or may not be referred to. */
async function fileInside({ hermes }: Gateway, { session }: LiveSession, path: string): Promise<string> {
  const { files } = hermes.platform;
  const asked = resolve(session.cwd, path.trim());
  const real = await files.realPath(asked).catch(() => null);
  const isFile = real !== null && (await files.stat(real))?.isFile === true;
  if (!isFile) throw new RpcError(4016, `There is no file at ${path.trim()}`);
  const root = await files.realPath(session.cwd) ?? session.cwd;
  const refused = await hermes.refuseRead(asked);
  if (refused !== null || !isInside(real, root) || !isInside(asked, session.cwd)) {
    throw new RpcError(
      4016,
      refused ?? `${path.trim()} is outside the workspace: send its bytes as data_url`,
    );
  }
  return asked;
}

function isInside(path: string, root: string): boolean {
  const rest = relative(root, path);
  return rest !== "" && !isAbsolute(rest) && !/^\.\.([\\/]|$)/.test(rest);
}

/** A folder that is a link could lead anywhere; then nothing is written. */
async function keepInside(
  { hermes }: Gateway,
  { session }: LiveSession,
  bytes: Uint8Array,
  name: string,
): Promise<string> {
  const { files } = hermes.platform;
  let folder = session.cwd;
  for (const part of FOLDER) {
    folder = `${folder}/${part}`;
    const there = await files.lstat(folder);
    if (there?.isDirectory === false) throw new RpcError(5028, `${folder} is not a folder`);
  }
  // Not a matter of the user's repository.
  if (await files.lstat(`${folder}/.gitignore`) === null) {
    const all = new TextEncoder().encode("*\n");
    await keepFile(hermes, { folder, name: ".gitignore", ending: "", bytes: all });
  }
  const ending = /\.[^.]+$/.exec(name)?.[0] ?? "";
  const base = name.slice(0, name.length - ending.length);
  return await keepFile(hermes, { folder, name: base, ending, bytes });
}

/** Base64, alone or as a data URL. Throws 4015, 4017, 4018. */
export function decodeUpload(sent: string, maxBytes = MAX_IMAGE_BYTES): Uint8Array {
  const given = sent.trim();
  if (given === "") throw new RpcError(4015, "content_base64 is required");
  const base64 = given.startsWith("data:") ? /^data:[^,]*;base64,(.*)$/s.exec(given)?.[1] : given;
  if (!base64) throw new RpcError(4017, "not base64");
  if (base64.length / 4 * 3 > maxBytes + 3) throw new RpcError(4018, `larger than ${maxBytes >> 20} MB`);
  const bytes = bytesOf(base64);
  if (bytes === null || bytes.length === 0) throw new RpcError(4017, "not base64, or empty");
  return bytes;
}

/** A plain loop: the iterator of a long text takes seconds, in which nobody else is served. */
function bytesOf(base64: string): Uint8Array | null {
  let text: string;
  try {
    text = atob(base64);
  } catch {
    return null;
  }
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** One plain file name: no folder, nothing hidden, nothing that a shell or a reference reads otherwise. */
export function safeName(name: string, fallback: string): string {
  const plain = name.replace(/^.*[/\\]/s, "").replace(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^[._]+/, "");
  const end = /\.[\p{L}\p{N}]{1,10}$/u.exec(plain)?.[0] ?? "";
  const base = plain.slice(0, plain.length - end.length).slice(0, MAX_NAME - end.length).toWellFormed();
  return base === "" ? `${fallback}${end}` : base + end;
}
