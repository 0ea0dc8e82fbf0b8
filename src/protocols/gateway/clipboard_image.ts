/**
 * The image in the clipboard of this machine, read by the program that its desktop has for that (`clipboard.paste`,
 * tui-gateway.md B.16). Bounded in time and size; only a real PNG counts.
 */
import type { Hermes } from "@/app/mod.ts";
import type { Child, Platform } from "@/platform/mod.ts";

/** A PNG file, or for people why there is none. */
export type ClipboardImage = { readonly png: Uint8Array } | { readonly missing: string };

interface Reader {
  readonly program: string;
  readonly args: readonly string[];
  /** How the program writes the image. */
  readonly form: "binary" | "base64" | "applescript";
}

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 25 << 20;
/** Text forms need up to two characters per byte. */
const MAX_OUTPUT = MAX_BYTES * 2 + 1024;
const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

const POWERSHELL = "Add-Type -AssemblyName System.Windows.Forms,System.Drawing;" +
  "$i=[Windows.Forms.Clipboard]::GetImage();if($i){$m=New-Object IO.MemoryStream;" +
  "$i.Save($m,[Drawing.Imaging.ImageFormat]::Png);[Convert]::ToBase64String($m.ToArray())}";

function powershell(program: string): Reader {
  return { program, args: ["-NoProfile", "-Sta", "-Command", POWERSHELL], form: "base64" };
}

/** Those that may work here, the likeliest first. */
export function clipboardReaders(os: Platform["os"], env: Readonly<Record<string, string>>): Reader[] {
  if (os === "windows") return [powershell("powershell.exe")];
  if (os === "darwin") {
    const script = "get the clipboard as «class PNGf»";
    return [
      { program: "pngpaste", args: ["-"], form: "binary" },
      { program: "osascript", args: ["-e", script], form: "applescript" },
    ];
  }
  const wayland: Reader = {
    program: "wl-paste",
    args: ["--no-newline", "--type", "image/png"],
    form: "binary",
  };
  const x11: Reader = {
    program: "xclip",
    args: ["-selection", "clipboard", "-t", "image/png", "-o"],
    form: "binary",
  };
  return [
    ...(env["WAYLAND_DISPLAY"] ? [wayland] : []),
    ...(env["DISPLAY"] ? [x11] : []),
    ...(env["WSL_DISTRO_NAME"] ? [powershell("powershell.exe")] : []),
  ];
}

/** Never throws. */
export async function readClipboardImage(hermes: Hermes, signal: AbortSignal): Promise<ClipboardImage> {
  const { platform } = hermes;
  const readers = clipboardReaders(platform.os, platform.env());
  let ran = false;
  for (const reader of readers) {
    const output = await outputOf(hermes, reader, signal);
    if (output === null) continue;
    ran = true;
    const png = decode(output, reader.form);
    if (png !== null && png.length > MAX_BYTES) {
      return { missing: "The image in the clipboard is larger than 25 MB" };
    }
    if (png !== null) return { png };
  }
  if (ran) return { missing: "There is no image in the clipboard" };
  const names = readers.map(({ program }) => program).join(" or ");
  return {
    missing: names === ""
      ? "This machine has no clipboard that can be read; save the image and attach its path"
      : `The clipboard cannot be read: install ${names}`,
  };
}

/** `null` when the program is not there or does not end in time; empty when it found nothing. */
async function outputOf(hermes: Hermes, reader: Reader, signal: AbortSignal): Promise<Uint8Array | null> {
  const { platform } = hermes;
  const chunks: Uint8Array[] = [];
  let size = 0;
  let child: Child;
  try {
    child = platform.spawn(reader.program, [...reader.args], {
      cwd: hermes.home,
      env: hermes.childEnv(),
      stdin: "null",
      onStdout: (chunk) => {
        size += chunk.length;
        if (size <= MAX_OUTPUT) chunks.push(chunk);
      },
      onStderr: () => {/* "no image" in the words of the program */},
    });
  } catch {
    return null;
  }
  const done = new AbortController();
  const late = platform.clock.delay(TIMEOUT_MS, { signal: AbortSignal.any([signal, done.signal]) })
    .then(() => null, () => null);
  try {
    const exit = await Promise.race([child.exited, late]);
    if (exit === null || exit.code === 127) return null;
    return exit.code === 0 ? joined(chunks, Math.min(size, MAX_OUTPUT)) : new Uint8Array();
  } catch {
    return null;
  } finally {
    done.abort();
    child.kill("SIGKILL");
  }
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const all = new Uint8Array(chunks.reduce((total, chunk) => total + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all.subarray(0, size);
}

/** `null` for what is no PNG. */
function decode(output: Uint8Array, form: Reader["form"]): Uint8Array | null {
  const bytes = form === "binary" ? output : fromText(new TextDecoder().decode(output).trim(), form);
  return bytes !== null && SIGNATURE.every((byte, at) => bytes[at] === byte) ? bytes : null;
}

function fromText(text: string, form: "base64" | "applescript"): Uint8Array | null {
  try {
    if (form === "base64") return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const hex = /^«data PNGf([0-9A-F]+)»$/i.exec(text)?.[1];
    if (hex === undefined) return null;
    return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  } catch {
    return null;
  }
}
