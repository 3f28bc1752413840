import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { encodedVector, type Vector } from "../../src/upstreams/vector_list.ts";

const numbers = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 20 });

const floats = (values: readonly number[]): Vector => ({
  encoding: "float",
  bytes: new TextEncoder().encode(JSON.stringify(values)),
});
const textOf = ({ bytes }: Vector) => new TextDecoder().decode(bytes);

Deno.test("encodedVector() keeps 32-bit floats through base64 and back", () => {
  fc.assert(fc.property(numbers, (values) => {
    const there = encodedVector(floats(values), "base64");
    const back = encodedVector(there, "float");
    // JSON has no negative zero.
    assertEquals(JSON.parse(textOf(back)), values.map((value) => value === 0 ? 0 : value));
    assertEquals(encodedVector(there, "base64"), there);
  }));
});

Deno.test("encodedVector() refuses what is not finite, and base64 that is no list of floats", () => {
  assertThrows(() => encodedVector({ encoding: "float", bytes: new TextEncoder().encode("[1e40]") }, "base64"));
  const base64 = (bytes: Uint8Array<ArrayBuffer>): Vector => ({
    encoding: "base64",
    bytes: new TextEncoder().encode(bytes.toBase64()),
  });
  assertThrows(() => encodedVector(base64(new Uint8Array([0, 0, 128, 127])), "float")); // infinity
  assertThrows(() => encodedVector(base64(new Uint8Array(6)), "float"));
});
