import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { base64Of, dataUriOf, jsonBody } from "../../src/vendors/upstreams/contract/inline_file.ts";
import { bytesOf, imageOf } from "./vendor.ts";

const jsonIn = async (body: ReturnType<typeof jsonBody>) => {
  const bytes = await bytesOf(body.open());
  assertEquals(bytes.length, body.lengthBytes);
  return JSON.parse(new TextDecoder().decode(bytes));
};

Deno.test("jsonBody() writes a value without images like JSON.stringify", async () => {
  const value = { prompt: 'Zwei "Füchse" 🦊', n: 2, none: undefined, list: [null, true] };
  assertEquals(await jsonIn(jsonBody(value)), JSON.parse(JSON.stringify(value)));
});

Deno.test("jsonBody() writes images of any length, and can be opened repeatedly", async () => {
  const image = fc.uint8Array({ maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(fc.array(image, { maxLength: 4 }), fc.string(), async (images, prompt) => {
      const body = jsonBody({
        first: images.map((bytes) => ({ url: dataUriOf(imageOf(bytes, "image/webp")) })),
        prompt,
        last: images.map((bytes) => base64Of(imageOf(bytes))),
      });
      for (let time = 0; time < 2; time++) {
        assertEquals(await jsonIn(body), {
          first: images.map((bytes) => ({ url: `data:image/webp;base64,${bytes.toBase64()}` })),
          prompt,
          last: images.map((bytes) => bytes.toBase64()),
        });
      }
    }),
    { numRuns: 50 },
  );
});

Deno.test("jsonBody() splits a large image into small chunks", async () => {
  const bytes = new Uint8Array(1_000_001).fill(7);
  const whole = { ...imageOf([]), lengthBytes: bytes.length, open: () => ReadableStream.from([bytes]) };
  const body = jsonBody({ image: base64Of(whole) });
  let largestChunk = 0;
  for await (const piece of body.open()) largestChunk = Math.max(largestChunk, piece.length);
  assert(largestChunk <= 65_536, `a piece of ${largestChunk} bytes`);
  assertEquals((await jsonIn(body)).image, bytes.toBase64());
});
