/** Stand-ins for the programs of poppler, so that tests of `pdf.attach` run where they are not installed. */
import type { Rig } from "./program.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
export const PDF = "%PDF-1.4\n% nothing of interest\n%%EOF\n";

/** A PDF of that many pages; the programs write down what they are asked for. */
export async function installPoppler(rig: Rig, pages = 1): Promise<Record<string, string>> {
  const bin = `${rig.workspace}/../bin`;
  await Deno.mkdir(bin);
  await Deno.writeFile(`${bin}/one.png`, Uint8Array.from(atob(PNG), (c) => c.charCodeAt(0)));
  const draw = `#!/bin/sh
echo "$@" >> "$(dirname "$0")/asked"
while [ $# -gt 2 ]; do
  case "$1" in -f) first=$2; shift;; -l) last=$2; shift;; esac
  shift
done
grep -q broken "$1" && { echo "Syntax Error: broken" >&2; exit 1; }
[ "$last" -gt ${pages} ] && last=${pages}
n=$first
while [ "$n" -le "$last" ]; do
  cp "$(dirname "$0")/one.png" "$2-$(printf %02d "$n").png"
  n=$((n + 1))
done
`;
  const info = `#!/bin/sh\necho "Title: x"\necho "Pages:           ${pages}"\n`;
  for (const [name, text] of [["pdftoppm", draw], ["pdfinfo", info]] as const) {
    await Deno.writeTextFile(`${bin}/${name}`, text, { mode: 0o755 });
  }
  return { PATH: `${bin}:${rig.env["PATH"]}` };
}
