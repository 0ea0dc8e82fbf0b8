/**
 * A client from npm for a test, kept between runs in the machine's temp directory. `null` when npm, its registry or
 * the package cannot be had: the test then says that it was skipped.
 */

/** `spec` as for `npm install`, an exact version; `more` is installed beside it. */
export async function installClient(spec: string, more: readonly string[] = []): Promise<string | null> {
  const name = spec.replace(/(?!^)@[^@]*$/, "");
  const folder = `${Deno.env.get("TMPDIR") ?? "/tmp"}/hermes-${spec.replaceAll(/[^A-Za-z0-9.]+/g, "-")}`;
  const ready = `${folder}/node_modules/${name}/package.json`;
  if (await Deno.stat(ready).then(() => true, () => false)) return folder;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/package.json`, '{"private":true}');
  try {
    const { success, stderr } = await new Deno.Command("npm", {
      args: ["install", "--no-audit", "--no-fund", spec, ...more],
      cwd: folder,
      stdout: "null",
      stderr: "piped",
    }).output();
    if (success) return folder;
    const text = new TextDecoder().decode(stderr);
    if (/ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|E404|ETARGET|network/i.test(text)) return null;
    throw new Error(`npm could not install ${spec}:\n${text}`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null; // No npm on this machine.
    throw error;
  }
}
