import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { UNLIMITED_MEMORY } from "../../src/platform/lib/process/memory_budget.ts";
import { jsonObjectOf, readJsonObject } from "../../src/platform/http/bodies/json_body.ts";
import { readMediaBody } from "../../src/platform/http/bodies/media_body.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const refusalOf = (sent: Uint8Array<ArrayBuffer> | string) =>
  assertThrows(() => jsonObjectOf(typeof sent === "string" ? bytesOf(sent) : sent), GatewayError);

Deno.test("jsonObjectOf() returns the object, its bytes and the positions of its members", () => {
  const { body, bytes, scan } = jsonObjectOf(bytesOf('{"model":"a/b","n":1}'));
  assertEquals(body, { model: "a/b", n: 1 });
  assertEquals(scan.members.map(({ key, valueStart, valueEnd }) => [key, valueStart, valueEnd]), [
    ["model", 9, 14],
    ["n", 19, 20],
  ]);
  assertEquals(bytes.length, 21);
});

Deno.test("jsonObjectOf() rejects a value that is no object and names its type", () => {
  const cases = {
    "": "an empty body",
    " \n": "an empty body",
    null: "null",
    "[]": "a list",
    '"x"': "a string",
    "1": "a number",
    true: "a boolean",
  };
  for (const [text, got] of Object.entries(cases)) {
    const { code, status, message } = refusalOf(text);
    assertEquals([code, status, message], [
      "invalid_request",
      400,
      `Cannot read the body: expected a JSON object, got ${got}`,
    ]);
  }
});

Deno.test("jsonObjectOf() reports the position of a syntax error and never repeats the text", () => {
  const cases: [string, string][] = [
    ['{"prompt":"canary"', "the end of the text at position 18"],
    ['{"prompt":"canary",}', "an unexpected character at position 19"],
    ['{"prompt":"canary"} canary', "an unexpected character at position 20"],
    ["{'prompt':'canary'}", "an unexpected character at position 1"],
    ['{"prompt":canary}', "an unexpected character at position 10"],
    ['{"a":1,\n"prompt":"can\nary"}', "an unexpected character at position 21 (line 2, column 14)"],
  ];
  for (const [text, place] of cases) {
    const { message, status } = refusalOf(text);
    assertEquals(status, 400);
    assertStringIncludes(message, place);
    assert(!message.includes("canary"));
  }
});

Deno.test("jsonObjectOf() skips a byte order mark and counts positions after it", () => {
  const { body, bytes, scan } = jsonObjectOf(bytesOf('\ufeff{"a":1}'));
  assertEquals(body, { a: 1 });
  assertEquals([bytes[0], scan.members[0]?.keyStart], [0x7b, 1]);
});

Deno.test("jsonObjectOf() rejects encodings other than UTF-8", () => {
  const latin = Uint8Array.from('{"a":"\xe9"}', (sign) => sign.charCodeAt(0));
  const wide = Uint8Array.from('\xff\xfe{\0"\0a\0"\0:\x001\0}\0', (sign) => sign.charCodeAt(0));
  const wideWithoutMark = Uint8Array.from('{\0"\0a\0"\0:\x001\0}\0', (sign) => sign.charCodeAt(0));
  for (const bytes of [latin, wide, wideWithoutMark]) assertEquals(refusalOf(bytes).status, 400);
});

Deno.test("jsonObjectOf() rejects a duplicate member of the top object and names it", () => {
  for (const key of ["model", "stream", "n", "max_tokens"]) {
    const { message, details } = refusalOf(`{"${key}":1,"other":2,"${key}":3}`);
    assertEquals([details.field, message], [key, `Cannot read "${key}": expected it once, got it twice`]);
  }
  assertEquals(refusalOf('{"model":1,"mod\\u0065l":2}').details.field, "model");
});

Deno.test("jsonObjectOf() rejects a duplicate member at any depth", () => {
  for (const text of ['{"a":{"b":1,"b":1}}', '{"a":[{"b":{}},{"c":1,"\\u0063":2}]}']) {
    assertStringIncludes(refusalOf(text).message, "repeated name");
  }
});

Deno.test("jsonObjectOf() rejects nesting deeper than two hundred levels without exhausting the stack", () => {
  const nest = (levels: number) => '{"a":'.repeat(levels) + "1" + "}".repeat(levels);
  jsonObjectOf(bytesOf(nest(200)));
  for (const text of [nest(201), nest(100_000), '{"a":'.repeat(100_000), "[".repeat(100_000)]) {
    assertStringIncludes(refusalOf(text).message, "200 levels");
  }
});

Deno.test("jsonObjectOf() reads member names of prototypes without changing another object", () => {
  const { body } = jsonObjectOf(bytesOf('{"__proto__":{"admin":true},"constructor":1,"toString":2}'));
  assertEquals(Object.keys(body), ["__proto__", "constructor", "toString"]);
  assertEquals(Object.getPrototypeOf(body), Object.prototype);
  assertEquals(({} as Record<string, unknown>).admin, undefined);
});

Deno.test("jsonObjectOf() keeps lone surrogates and numbers larger than doubles in the bytes", () => {
  const text = '{"prompt":"\\ud800","seed":9007199254740993}';
  const { body, bytes } = jsonObjectOf(bytesOf(text));
  assertEquals(body.prompt, "\ud800");
  assertEquals(new TextDecoder().decode(bytes), text);
});

Deno.test("readJsonObject() applies one rule to content types", async () => {
  const read = (type: string | null) => {
    const request = new Request("http://a/", { method: "POST", body: bytesOf("{}") });
    if (type !== null) request.headers.set("content-type", type);
    return readJsonObject({ request, memory: UNLIMITED_MEMORY.lease() }, { capBytes: 100 });
  };
  const accepted = [
    null,
    "application/json",
    "Application/JSON; charset=UTF-8",
    'application/json;charset="utf-8"',
    "application/vnd.api+json",
    "text/json",
    "application/json; profile=x",
    "",
  ];
  for (const type of accepted) assertEquals((await read(type)).body, {});
  const refused = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json; charset=utf-16",
    "application/jsonp",
    "json",
    "application/json, text/plain",
  ];
  for (const type of refused) {
    const error = await assertRejects(() => read(type), GatewayError, `"${type}": expected application/json`);
    assertEquals([type, error.status, error.code], [type, 415, "invalid_request"]);
  }
});

Deno.test("readJsonObject() rejects more values than its endpoint accepts, before it parses them", async () => {
  const text = `{"a":[${"0,".repeat(200_000)}0]}`;
  const sent = () => new Request("http://h/", { method: "POST", body: bytesOf(text) });
  const limits = { capBytes: 1_000_000 };
  const refusal = await assertRejects(
    () => readJsonObject({ request: sent(), memory: UNLIMITED_MEMORY.lease() }, { ...limits, maxValues: 100_000 }),
    GatewayError,
    "expected at most 100000 JSON values",
  );
  assertEquals(refusal.status, 400);
  const names = Array.from({ length: 10_000 }, (_, n) => `"a name that no other member has, ${n}":0`).join();
  const named = new Request("http://h/", { method: "POST", body: bytesOf(`{${names}}`) });
  await assertRejects(
    () => readJsonObject({ request: named, memory: UNLIMITED_MEMORY.lease() }, { ...limits, maxValues: 100_000 }),
    GatewayError,
    "and a new name of a member as 40",
  );
  const taken = { ...limits, maxValues: 300_000 };
  const { body } = await readJsonObject({ request: sent(), memory: UNLIMITED_MEMORY.lease() }, taken);
  assertEquals((body.a as number[]).length, 200_001);
});

Deno.test("readJsonObject() reads a body that was received before, and no longer one than its endpoint accepts", async () => {
  const bytes = bytesOf('{"model":"a"}');
  const source = {
    request: new Request("http://localhost/", { method: "POST" }),
    memory: UNLIMITED_MEMORY.lease("a"),
    received: { bytes },
  };
  assertEquals((await readJsonObject(source, { capBytes: bytes.length })).body, { model: "a" });
  const refusal = await assertRejects(() => readJsonObject(source, { capBytes: bytes.length - 1 }), GatewayError);
  assertEquals([refusal.code, refusal.status], ["request_too_large", 413]);
  for (const maxBytes of [bytes.length - 1, bytes.length]) {
    const limits = { limits: { capBytes: maxBytes }, places: { members: [], isBase64: false } };
    const reading = readMediaBody(source, {
      ...limits,
      accountId: "a",
      thread: { reader: NO_READER, aboveBytes: 1_000 },
    });
    if (maxBytes === bytes.length) assertEquals((await reading).body, { model: "a" });
    else await assertRejects(() => reading, GatewayError, "expected at most");
  }
});

const NO_READER = { read: () => Promise.reject(new Error("No thread reads a short body")) };
