/** The picture of an empty database in the built program is the database, byte for byte. */
import fc from "fast-check";
import { buildDatabase } from "../../src/store/open.ts";
import { packPicture, unpackPicture } from "../../src/store/picture.ts";
import { assert, assertEquals } from "../support/assert.ts";

Deno.test("picture: any bytes come back as they were", () => {
  const zeros = fc.integer({ min: 0, max: 40 }).map((count) => new Uint8Array(count));
  const bytes = fc.array(fc.oneof(zeros, fc.uint8Array({ maxLength: 20 })), { maxLength: 12 })
    .map((parts) => new Uint8Array(parts.flatMap((part) => [...part])));
  fc.assert(fc.property(bytes, (value) => assertEquals(unpackPicture(packPicture(value)), value)));
});

Deno.test("picture: an empty database takes a fifth of its size at most", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const quiet = () => {/* nothing is told here */};
    buildDatabase(`${directory}/x.db`, { log: { debug: quiet, info: quiet, warn: quiet, error: quiet } });
    const whole = await Deno.readFile(`${directory}/x.db`);
    const packed = packPicture(whole);
    assertEquals(unpackPicture(packed), whole);
    assert(packed.length < whole.length / 5, `${packed.length} of ${whole.length} bytes`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
