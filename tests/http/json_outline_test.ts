import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { jsonObjectOf } from "../../src/platform/http/bodies/json_body.ts";

/** A JSON value with the spelling of every string and space, and with repeated names. */
type Spelled = string | readonly Spelled[] | { readonly members: readonly (readonly [string, Spelled])[] };

const bytesOf = (text: string) => new TextEncoder().encode(text);

const piece = fc.oneof(
  fc.constantFrom(
    "word ",
    "é",
    "你好",
    "😀",
    '\\"',
    "\\\\",
    "\\n",
    "\\t",
    "\\u0041",
    "\\ud83d\\ude00",
    "\\ud800",
    "\\/",
  ),
  fc.constantFrom("fileid://a", "{", "]", ":", ",", "'", "x\\\\"),
);
const short = fc.array(piece, { maxLength: 4 }).map((pieces) => `"${pieces.join("")}"`);
const long = fc.tuple(fc.array(piece, { maxLength: 6 }), fc.nat(40)).map(([pieces, times]) =>
  `"${"abcdefgh".repeat(times)}${pieces.join("").repeat(times)}"`
);
const name = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom("role", "content", "text", "messages", "input", "a", "b\\u0063", "te\\u0078t"),
  },
  { weight: 1, arbitrary: short.map((each) => each.slice(1, -1)) },
);
const space = fc.constantFrom("", "", "", " ", "\n", "\t ");
const { object: objectTree } = fc.letrec<{ value: Spelled; object: Spelled }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(short, long, long, fc.constantFrom("1", "-2.5e3", "true", "null", "9007199254740993")),
    fc.array(tie("value"), { maxLength: 4 }),
    tie("object"),
  ),
  object: fc.array(fc.tuple(name, tie("value")), { maxLength: 5 }).map((members) => ({ members })),
}));

const message: fc.Arbitrary<Spelled> = fc.tuple(fc.constantFrom('"user"', '"system"'), long).map(([role, content]) => ({
  members: [["role", role], ["content", content]],
}));
const conversation: fc.Arbitrary<Spelled> = fc.tuple(fc.array(message, { maxLength: 5 }), objectTree).map((
  [messages, other],
) => ({ members: [["model", '"m"'], ["messages", messages], ["other", other]] }));

function textOf(value: Spelled, gap: string): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return `[${gap}${value.map((each) => textOf(each, gap)).join(`${gap},${gap}`)}${gap}]`;
  const { members } = value as { members: readonly (readonly [string, Spelled])[] };
  return `{${gap}${members.map(([key, each]) => `"${key}"${gap}:${gap}${textOf(each, gap)}`).join(`,${gap}`)}${gap}}`;
}

function hasRepeatedName(value: Spelled): boolean {
  if (typeof value === "string") return false;
  if (Array.isArray(value)) return value.some(hasRepeatedName);
  const { members } = value as { members: readonly (readonly [string, Spelled])[] };
  const names = members.map(([key]) => JSON.parse(`"${key}"`));
  return new Set(names).size < names.length || members.some(([, each]) => hasRepeatedName(each));
}

/** The outline with the omitted texts put back. */
function restored(value: unknown, wholeText: (text: string) => string): unknown {
  if (typeof value === "string") return wholeText(value);
  if (Array.isArray(value)) return value.map((each) => restored(each, wholeText));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, restored(each, wholeText)]));
}

const text = fc.tuple(fc.oneof(objectTree, conversation), space).map(([tree, gap]) => ({
  json: textOf(tree, gap),
  isRepeated: hasRepeatedName(tree),
}));

Deno.test("jsonObjectOf() reads what JSON.parse reads, and rejects repeated names, for any spelling", () => {
  let omitted = 0;
  const check = ({ json, isRepeated }: { readonly json: string; readonly isRepeated: boolean }) => {
    let read;
    try {
      read = jsonObjectOf(bytesOf(json));
    } catch (error) {
      assert(error instanceof GatewayError && isRepeated, `${error}: ${json}`);
      return;
    }
    assert(!isRepeated, json);
    const expected = JSON.parse(json);
    if (read.outline !== read.body) omitted++;
    assertEquals(read.body, expected);
    assertEquals(read.outline, JSON.parse(read.outlineText));
    assertEquals(restored(read.outline, (each) => read.wholeText(each)), expected);
  };
  fc.assert(fc.property(text, check), { numRuns: 600 });
  assert(omitted > 50, `only ${omitted} outlines omit a text`);
});

Deno.test("jsonObjectOf() rejects exactly the damaged texts that JSON.parse rejects", () => {
  const damage = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    isCut: fc.boolean(),
    sign: fc.constantFrom('"', "\\", "\n", "{", "}", "]", ",", ":", "\u0001", "q", "u"),
  });
  fc.assert(
    fc.property(conversation, space, damage, (tree, gap, { at, isCut, sign }) => {
      const whole = textOf(tree, gap);
      const place = Math.floor(at * whole.length);
      const json = (whole.slice(0, place) + (isCut ? "" : sign + whole.slice(place + 1))).toWellFormed();
      let expected: unknown = null;
      try {
        expected = JSON.parse(json);
      } catch {
        // The text is not valid JSON.
      }
      try {
        assertEquals(jsonObjectOf(bytesOf(json)).body, expected);
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        const isAllowed = expected === null || typeof expected !== "object" || Array.isArray(expected) ||
          /repeated name|got it twice/.test(error.message);
        assert(isAllowed, `${error.message}: ${json}`);
      }
    }),
    { numRuns: 1_500 },
  );
});

Deno.test("jsonObjectOf() keeps long texts with escaped spellings in the outline, so that searches find them", () => {
  const padding = "x".repeat(400);
  const json =
    `{"messages":[{"role":"system","content":"${padding} file\\u0069d://a"},{"content":"${padding} b:\\/\\/"}]}`;
  const { outline, body } = jsonObjectOf(bytesOf(json));
  assertEquals(outline, body);
});

Deno.test("jsonObjectOf() reports the position of an error in the whole text", () => {
  const json = `{"messages":[{"content":"${"x".repeat(400)}"}],"a":}`;
  try {
    jsonObjectOf(bytesOf(json));
    assert(false);
  } catch (error) {
    assert(error instanceof GatewayError && error.message.includes(`position ${json.length - 1} `), `${error}`);
  }
});
