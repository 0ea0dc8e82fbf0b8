import { base64Of, imageSize, isBeyond } from "@/lib/image_head.ts";
import { assertEquals } from "../support/assert.ts";
import { base64, bmp, gif, join, jpeg, png, webp } from "../support/images.ts";

Deno.test("imageSize() reads the head of each format, and none from anything else", () => {
  const bytes = (text: string, length = 40) => {
    const all = new Uint8Array(length);
    all.set([...text].map((c) => c.charCodeAt(0)));
    return all;
  };
  const png = bytes("\x89PNG\r\n\x1a\n");
  png.set([0, 0, 2, 1, 0, 0, 0, 3], 16);
  assertEquals(imageSize(png), [513, 3]);
  const gif = bytes("GIF89a");
  gif.set([1, 2, 3, 0], 6);
  assertEquals(imageSize(gif), [513, 3]);
  const bmp = bytes("BM");
  bmp.set([5, 0, 0, 0, 0xfa, 0xff, 0xff, 0xff], 18);
  assertEquals(imageSize(bmp), [5, 6]);
  const webp = bytes("RIFF....WEBPVP8X");
  webp.set([9, 0, 0, 1, 1, 0], 24);
  assertEquals(imageSize(webp), [10, 258]);
  const lossless = bytes("RIFF....WEBPVP8L");
  lossless.set([0x2f, 0x04, 0x80, 0x02, 0x00], 20);
  assertEquals(imageSize(lossless), [5, 11]);
  const jpeg = bytes("\xff\xd8\xff\xe0\x00\x04..\xff\xc0\x00\x11\x08");
  jpeg.set([0, 7, 1, 0], 13);
  assertEquals(imageSize(jpeg), [256, 7]);
  const filled = bytes("\xff\xd8\xff\xff\xff\x01\xff\xfe\x00\x02\xff\xc2\x00\x11\x08");
  filled.set([0, 7, 1, 0], 15);
  assertEquals(imageSize(filled), [256, 7]);
  const old = bytes("BM");
  old.set([12, 0, 0, 0, 5, 0, 6, 0], 14);
  assertEquals(imageSize(old), [5, 6]);
  const endless = bytes("\xff\xd8\xff\xe0\x00\x00");
  assertEquals([imageSize(endless), imageSize(bytes("nonsense")), imageSize(new Uint8Array(3))], [
    null,
    null,
    null,
  ]);
});

Deno.test("imageSize() agrees with what made the image", () => {
  const black = () => [0, 0, 0, 255] as const;
  const made = [png(30, 20), jpeg(30, 20, black), bmp(30, 20, black), gif(30, 20, [[0, 0, 0], [1, 1, 1]], 0)];
  for (const bytes of [...made, webp(30, 20, [1, 2, 3, 4])]) assertEquals(imageSize(bytes), [30, 20]);
  assertEquals(imageSize(jpeg(30, 20, black, { orientation: 6 })), [30, 20]);
});

Deno.test("isBeyond(): more pixels a side or more bytes than the limits; addresses and what is no image are fine", () => {
  const url = (bytes: Uint8Array, type = "image/png") => `data:${type};base64,${base64(bytes)}`;
  const limits = { maxSide: 30, maxBytes: 20_000 };
  for (const [width, height, beyond] of [[30, 30, false], [31, 1, true], [1, 31, true]] as const) {
    assertEquals(isBeyond(url(png(width, height)), limits), beyond, `${width}×${height}`);
  }
  // Behind metadata.
  const plain = jpeg(31, 1, () => [0, 0, 0, 255]);
  const metadata = new Uint8Array(10_000);
  metadata.set([0xff, 0xe2, 0x27, 0x0e]);
  const photo = join(plain.subarray(0, 2), metadata, plain.subarray(2));
  assertEquals(isBeyond(url(photo, "IMAGE/JPEG;charset=x"), limits), true);
  const padded = (length: number) => url(join(png(1, 1), new Uint8Array(length - png(1, 1).length)));
  assertEquals([20_000, 20_003].map((length) => isBeyond(padded(length), limits)), [false, true]);
  const others = [
    "https://a.test/x.png",
    "data:image/png,plain",
    "data:image/png;base64,%%%",
    url(new Uint8Array(99)),
  ];
  assertEquals(others.map((other) => isBeyond(other, limits)), [false, false, false, false]);
  assertEquals(["data:;base64,AA", "data:a/b;c=d;base64,AA", "data:a/b,AA"].map(base64Of), [
    "AA",
    "AA",
    null,
  ]);
});
