/** Certificates and keys that settings name by file. */

interface Disk {
  homeDir(): string;
  cwd(): string;
  readonly files: { read(path: string): Promise<Uint8Array> };
}

/** `name` may begin with `~/` or be relative. Throws a `TypeError` that begins with `member`, the setting that names it. */
export async function readPem(name: string, member: string, disk: Disk): Promise<string> {
  const path = name.startsWith("~/")
    ? disk.homeDir() + name.slice(1)
    : /^(\/|[A-Za-z]:[\\/])/.test(name)
    ? name
    : `${disk.cwd()}/${name}`;
  let text: string;
  try {
    text = new TextDecoder().decode(await disk.files.read(path));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TypeError(`${member}: ${path} cannot be read: ${reason}`);
  }
  if (!text.includes("-----BEGIN ")) throw new TypeError(`${member}: ${path} holds no PEM`);
  return text;
}
