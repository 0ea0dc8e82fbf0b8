/**
 * Puts the picture of an empty session database beside the bundled code, so that the first session of a new home
 * need not build one: `deno run -A scripts/empty_database.ts <directory>`.
 */
import { emptyDatabaseName } from "../src/store/db.ts";
import { MIGRATIONS } from "../src/store/migrations.ts";
import { buildDatabase } from "../src/store/open.ts";
import { packPicture } from "../src/store/picture.ts";

const directory = Deno.args[0];
if (!directory) throw new Error("usage: scripts/empty_database.ts <directory>");
const say = (line: string) => Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
const quiet = () => {/* nothing to tell while building */};
const log = {
  debug: quiet,
  info: quiet,
  // Without write-ahead logging the picture would be of the wrong kind.
  warn: (line: string) => {
    say(`build: ${line}`);
    Deno.exit(1);
  },
  error: say,
};
const path = `${directory}/${emptyDatabaseName(MIGRATIONS.length)}`;
buildDatabase(path, { log });
await Deno.writeFile(path, packPicture(await Deno.readFile(path)));
