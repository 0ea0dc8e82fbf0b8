/** No spelling of an address that is not public passes `checkPublicUrl` (core.md C.11, core 46). */
import fc from "fast-check";
import { checkPublicUrl } from "@/lib/url_safety.ts";
import { assert } from "../support/assert.ts";

type Bytes = readonly [number, number, number, number];

const byte = fc.integer({ min: 0, max: 255 });

/** Addresses of private, link-local, shared, reserved and metadata ranges. */
const inside: fc.Arbitrary<Bytes> = fc.oneof(
  fc.tuple(fc.constant(127), byte, byte, byte),
  fc.tuple(fc.constant(10), byte, byte, byte),
  fc.tuple(fc.constant(0), byte, byte, byte),
  fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
  fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte, byte),
  fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
  fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), byte, byte),
  fc.tuple(fc.integer({ min: 224, max: 255 }), byte, byte, byte),
);

/** One number of an address as URL parsers read it: decimal, octal, hexadecimal, zeros in front. */
const number = (value: number) =>
  fc.tuple(fc.constantFrom("dec", "oct", "hex", "HEX"), fc.integer({ min: 0, max: 6 })).map(
    ([base, zeros]) => {
      if (base === "dec") return String(value);
      if (base === "oct") return `0${"0".repeat(zeros)}${value.toString(8)}`;
      const digits = value.toString(16);
      return base === "hex" ? `0x${"0".repeat(zeros)}${digits}` : `0X${digits.toUpperCase()}`;
    },
  );

/** With one to four parts: the last part takes what is left. */
const dotted = (bytes: Bytes) =>
  fc.integer({ min: 1, max: 4 }).chain((parts) => {
    const head = bytes.slice(0, parts - 1);
    const rest = bytes.slice(parts - 1).reduce((sum, b) => sum * 256 + b, 0);
    return fc.tuple(...[...head, rest].map(number)).map((texts) => texts.join("."));
  });

const WIDE: Readonly<Record<string, string>> = { ".": "。" };

/** What browsers normalise before they look: full-width digits and dots, percent codes, a final dot. */
const dressed = (text: string) =>
  fc.tuple(fc.constantFrom("plain", "wide", "percent", "ideographic"), fc.boolean()).map(([dress, dot]) => {
    const whole = dot ? `${text}.` : text;
    if (dress === "wide") {
      return whole.replace(/[!-~]/g, (c) => String.fromCodePoint(c.codePointAt(0)! + 0xfee0));
    }
    if (dress === "percent") return whole.replace(/[0-9]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
    return dress === "ideographic" ? whole.replaceAll(".", WIDE["."]!) : whole;
  });

const group = (a: number, b: number) => ((a << 8) | b).toString(16);

/** Inside IPv6: mapped, compatible, translated, 6to4; with hexadecimal or dotted end, any case, zeros written out. */
const embedded = ([a, b, c, d]: Bytes) =>
  fc.tuple(
    fc.constantFrom("::ffff:", "0:0:0:0:0:ffff:", "0000::ffff:", "::", "64:ff9b::", "::ffff:0:", "2002:"),
    fc.boolean(),
    fc.boolean(),
  ).map(([prefix, asDotted, upper]) => {
    const hex = `${group(a, b)}:${group(c, d)}`;
    const text = prefix === "2002:" ? `2002:${hex}::1` : `${prefix}${asDotted ? `${a}.${b}.${c}.${d}` : hex}`;
    return `[${upper ? text.toUpperCase() : text}]`;
  });

const spelling = inside.chain((bytes) => fc.oneof(dotted(bytes).chain(dressed), embedded(bytes)));
const noLookup = () => Promise.reject(new Error("no such name"));

Deno.test("core 46: no spelling of an address inside passes, in a URL or as what a name resolves to", async () => {
  await fc.assert(
    fc.asyncProperty(spelling, fc.constantFrom("http", "https"), async (host, scheme) => {
      const verdict = await checkPublicUrl(`${scheme}://${host}:8080/x`, { resolve: noLookup });
      assert(!verdict.ok, host);
    }),
    { numRuns: 3_000 },
  );
  await fc.assert(
    fc.asyncProperty(inside.chain((bytes) => embedded(bytes)), async (host) => {
      const addresses = ["93.184.216.34", host.slice(1, -1)];
      const verdict = await checkPublicUrl("http://name.test/", {
        resolve: () => Promise.resolve(addresses),
      });
      assert(!verdict.ok, host);
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("checkPublicUrl() never throws, whatever the text is", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
      for (const url of [text, `http://${text}`, `http://[${text}]/`]) {
        const verdict = await checkPublicUrl(url, { resolve: noLookup, allowPrivate: true });
        assert(typeof verdict.ok === "boolean");
      }
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("checkPublicUrl() lets what is public through, in the same spellings", async () => {
  const open = fc.tuple(fc.constantFrom(1, 8, 9, 93, 151), byte, byte, byte);
  await fc.assert(
    fc.asyncProperty(open.chain((bytes) => fc.oneof(dotted(bytes).chain(dressed))), async (host) => {
      const verdict = await checkPublicUrl(`https://${host}/`, { resolve: noLookup });
      assert(verdict.ok, host);
    }),
    { numRuns: 1_000 },
  );
});
