/**
 * Bytes ↔ text of a file, without loss: an edit must leave every byte it was not asked for as it is (FC-16). BOM and
 * encoding are remembered apart from the text; line ends stay in the text. A file that is no valid UTF-8 and has no
 * UTF-16 mark is read byte by byte as Latin-1, which writes back exactly what was there.
 */
import { ToolError } from "./args.ts";

export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "latin1";

export interface TextFile {
  /** Without the BOM, line ends as they are. */
  readonly text: string;
  readonly encoding: Encoding;
  readonly bom: boolean;
}

const BINARY_EXTENSIONS = new Set(
  ("png jpg jpeg gif webp bmp ico tif tiff heic avif psd mp3 mp4 m4a wav flac ogg avi mov mkv webm zip gz tgz bz2 " +
    "xz zst 7z rar tar jar war class pyc pyo o a so dylib dll exe bin wasm pdf doc docx xls xlsx ppt pptx odt ods " +
    "ttf otf woff woff2 eot sqlite sqlite3 db db3 mdb dat pack idx node iso dmg deb rpm apk").split(" "),
);
const IMAGE_EXTENSIONS = new Set("png jpg jpeg gif webp bmp ico tif tiff heic avif".split(" "));

function extensionOf(path: string): string {
  return /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
}

export function isImagePath(path: string): boolean {
  return IMAGE_EXTENSIONS.has(extensionOf(path));
}

export function isBinaryPath(path: string): boolean {
  return BINARY_EXTENSIONS.has(extensionOf(path));
}

function encodingOf(bytes: Uint8Array): { encoding: Encoding; bomLength: number } {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { encoding: "utf-8", bomLength: 3 };
  if (bytes.length % 2 === 0 && bytes[0] === 0xff && bytes[1] === 0xfe) {
    return { encoding: "utf-16le", bomLength: 2 };
  }
  if (bytes.length % 2 === 0 && bytes[0] === 0xfe && bytes[1] === 0xff) {
    return { encoding: "utf-16be", bomLength: 2 };
  }
  return { encoding: "utf-8", bomLength: 0 };
}

/** More than 30 % of the first 1,000 characters cannot be printed, or one of them is NUL. */
export function looksBinary(text: string): boolean {
  const sample = text.slice(0, 1_000);
  let odd = 0;
  for (let i = 0; i < sample.length; i++) {
    const code = sample.charCodeAt(i);
    if (code === 0) return true;
    if (
      (code < 32 && code !== 9 && code !== 10 && code !== 13 && code !== 27 && code !== 12) || code === 127
    ) odd++;
    else if (code === 0xfffd || (code >= 0x80 && code < 0xa0)) odd++;
  }
  return odd > sample.length * 0.3;
}

function latin1(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 8_192) {
    parts.push(String.fromCharCode(...bytes.subarray(at, at + 8_192)));
  }
  return parts.join("");
}

/** `null` for a binary file. */
export function decodeText(bytes: Uint8Array): TextFile | null {
  const { encoding, bomLength } = encodingOf(bytes);
  const body = bytes.subarray(bomLength);
  let file: TextFile;
  try {
    const text = new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(body);
    file = { text, encoding, bom: bomLength > 0 };
  } catch {
    if (bomLength > 0) return null;
    file = { text: latin1(bytes), encoding: "latin1", bom: false };
  }
  return looksBinary(file.text) ? null : file;
}

/** Throws `ToolError` when the text has characters the file's encoding lacks. */
export function encodeText(text: string, like: { encoding: Encoding; bom: boolean }): Uint8Array {
  if (like.encoding === "utf-8") return new TextEncoder().encode(like.bom ? `\ufeff${text}` : text);
  if (like.encoding === "latin1") {
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 255) {
        throw new ToolError(
          `The file is not UTF-8 and its encoding has no character '${
            String.fromCodePoint(text.codePointAt(i)!)
          }'. ` +
            "Convert the file to UTF-8 first, or leave that character out",
        );
      }
      bytes[i] = code;
    }
    return bytes;
  }
  const withBom = like.bom ? `\ufeff${text}` : text;
  const bytes = new Uint8Array(withBom.length * 2);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < withBom.length; i++) {
    view.setUint16(i * 2, withBom.charCodeAt(i), like.encoding === "utf-16le");
  }
  return bytes;
}

/** The line end most lines of the text have. */
export function lineEndOf(text: string): "\n" | "\r\n" {
  let crlf = 0, lf = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (at > 0 && text.charCodeAt(at - 1) === 13) crlf++;
    else lf++;
  }
  return crlf > lf ? "\r\n" : "\n";
}

export function toLf(text: string): string {
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}

/** The text with every line end as `end`. */
export function withLineEnd(text: string, end: "\n" | "\r\n"): string {
  const lf = toLf(text);
  return end === "\n" ? lf : lf.replaceAll("\n", "\r\n");
}

/** SHA-256 in hexadecimal; what "the file as this session has seen it" means. */
export async function hashBytes(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as BufferSource));
  let text = "";
  for (const byte of digest) text += byte.toString(16).padStart(2, "0");
  return text;
}
