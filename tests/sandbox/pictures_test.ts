import { assertEquals, assertThrows } from "@std/assert";
import { decodeImage, encodeImage, type SimulatedImageFormat } from "../../src/sandbox/pictures/file.ts";
import { paint } from "../../src/sandbox/pictures/paint.ts";
import { readPng, writePng } from "../../src/sandbox/pictures/png.ts";

const painted = (isTransparent: boolean) => paint({ prompt: "a", width: 70, height: 33, isTransparent, nth: 0 });

Deno.test("sandbox pictures: readPng() decodes the output of writePng(), with and without alpha", () => {
  for (const picture of [painted(false), painted(true)]) assertEquals(readPng(writePng(picture)), picture);
});

Deno.test("sandbox pictures: readPng() rejects data that is not PNG", () => {
  assertThrows(() => readPng(new Uint8Array([1, 2, 3])));
  assertThrows(() => readPng(writePng(painted(false)).subarray(0, 60)));
});

Deno.test("sandbox pictures: the platform decodes every format that is written", async () => {
  for (const format of ["png", "jpeg", "webp"] satisfies SimulatedImageFormat[]) {
    const read = await decodeImage(await encodeImage(painted(false), format), `image/${format}`);
    assertEquals([read?.width, read?.height], [70, 33], format);
    assertEquals(read?.pixels.data.length, 70 * 33 * 4, format);
  }
});

Deno.test("sandbox pictures: a decoded picture has at most 1,024 pixels per side", async () => {
  const large = paint({ prompt: "a", width: 2048, height: 512, isTransparent: false, nth: 0 });
  const read = await decodeImage(writePng(large), "image/png");
  assertEquals([read?.width, read?.height], [2048, 512]);
  assertEquals([read?.pixels.width, read?.pixels.height], [1024, 256]);
});

Deno.test("sandbox pictures: a detailed JPEG of 1,024 by 1,024 pixels is decoded", async () => {
  const detailed = paint({ prompt: "a pond", width: 1024, height: 1024, isTransparent: false, nth: 0 });
  const read = await decodeImage(await encodeImage(detailed, "jpeg"), "image/jpeg");
  assertEquals([read?.pixels.width, read?.pixels.height], [1024, 1024]);
});
