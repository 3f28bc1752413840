import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  encodedVector,
  readBareVectors,
  readVectorList,
  type Vector,
} from "../../src/vendors/upstreams/contract/vector_list.ts";

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

const bytesOf = (value: unknown) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));

Deno.test("readBareVectors() reads a vector, a list of them, and an object that has one of both", async () => {
  const names = { vectors: "v", usage: "n" };
  const read = async (value: unknown, count: number, member?: string) => {
    const list = await readBareVectors(
      bytesOf({ a: [1], v: value, n: 7 }),
      { ...names, ...member && { member } },
      count,
    );
    assertEquals(list.usage, 7);
    return list.vectors.map((vector) => JSON.parse(textOf(vector)));
  };
  assertEquals(await read([1, 2], 1), [[1, 2]]);
  assertEquals(await read([[1, 2], [3, 4]], 2), [[1, 2], [3, 4]]);
  assertEquals(await read({ int8: [[9]], float: [[1, 2], [3, 4]] }, 2), [[1, 2], [3, 4]]);
  assertEquals(await read({ values: [1, 2] }, 1, "values"), [[1, 2]]);
});

Deno.test("readBareVectors() refuses another number of vectors, other lengths and other values", async () => {
  const others = [{}, { v: {} }, { v: [] }, { v: [[1], [2], [3]] }, { v: [[1], [2, 3]] }, { v: [["a"], ["b"]] }, "{", {
    v: [1, 2],
  }];
  for (const value of others) await assertRejects(() => readBareVectors(bytesOf(value), { vectors: "v" }, 2), Error);
});

Deno.test("readVectorList() reads vectors within objects, with what is reported beside each", async () => {
  const names = { list: "l", within: "e", vector: "v", statistics: "s", usage: "u" };
  const reply = { l: [{ e: { s: { n: 1 }, v: [1] } }, { x: 0, e: { v: [2], s: 3 } }], u: 4 };
  const { vectors, statistics, usage } = await readVectorList(bytesOf(reply), names, 2);
  assertEquals([vectors.map(textOf), statistics, usage], [["[1]", "[2]"], [{ n: 1 }, 3], 4]);
  await assertRejects(() => readVectorList(bytesOf({ l: [{ v: [1] }] }), names, 1), TypeError);
});
