import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { type FormField, multipartBody } from "../../src/vendors/upstreams/contract/multipart_body.ts";
import type { OutboundBody } from "../../src/vendors/upstreams/call/outbound_body.ts";
import { atLeast } from "../support/items.ts";
import { bytesOf, imageOf } from "./vendor.ts";

async function formIn(body: OutboundBody): Promise<FormData> {
  const bytes = await bytesOf(body.open());
  assertEquals(bytes.length, body.lengthBytes);
  return await new Response(bytes, { headers: { "content-type": body.contentType } }).formData();
}

Deno.test("multipartBody() writes the fields in their order and the files byte for byte", async () => {
  const form = await formIn(multipartBody([
    { name: "prompt", text: "Zwei Füchse 🦊\r\n--switchyard" },
    { name: "image[]", file: imageOf([0, 13, 10, 255], "image/png"), filename: "image_1.png" },
    { name: "image[]", file: imageOf([], "image/jpeg"), filename: "image_2.jpeg" },
  ]));
  assertEquals([...form.keys()], ["prompt", "image[]", "image[]"]);
  assertEquals(form.get("prompt"), "Zwei Füchse 🦊\r\n--switchyard");
  const [first, second] = atLeast(form.getAll("image[]") as File[], 2);
  assertEquals([first.name, first.type, [...await first.bytes()]], ["image_1.png", "image/png", [0, 13, 10, 255]]);
  assertEquals([second.name, second.type, second.size], ["image_2.jpeg", "image/jpeg", 0]);
});

Deno.test("multipartBody() is exact for any text and bytes, and can be opened repeatedly", async () => {
  const field = fc.oneof(
    fc.record({ name: fc.constant("text"), text: fc.string({ unit: "binary" }) }),
    fc.record({ name: fc.constant("file"), bytes: fc.uint8Array({ maxLength: 300 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(field, { minLength: 1, maxLength: 5 }), async (wanted) => {
      const body = multipartBody(
        wanted.map((each): FormField =>
          "text" in each ? each : { name: "file", file: imageOf(each.bytes), filename: "a.png" }
        ),
      );
      for (let time = 0; time < 2; time++) {
        const entries = await Array.fromAsync((await formIn(body)).values(), async (value) => {
          return typeof value === "string" ? value : await value.bytes();
        });
        assertEquals(
          entries,
          wanted.map((each) => "text" in each ? each.text.toWellFormed() : each.bytes),
        );
      }
    }),
    { numRuns: 50 },
  );
});

for (const name of ['a"b', "a\r\nb", "ä"]) {
  Deno.test(`multipartBody() rejects the name ${JSON.stringify(name)}`, () => {
    assertThrows(() => multipartBody([{ name, text: "x" }]), TypeError, "invalid name");
  });
}
