import { assert, assertEquals } from "@std/assert";
import { compareTexts } from "./expected_output.ts";
import { shapeProblems } from "./shapes.ts";
import { shellCommandsOf, withVariables, wordsOf } from "./shell_commands.ts";

const isSame = (sample: string, output: string) => compareTexts(sample, output).problem === null;
const ID = "01a218d2-a936-7000-bf7c-fdc92d4711b5";

Deno.test("compareTexts() matches ids, times and durations by their kind, and gives the real ids", () => {
  const sample = `{"id":"01a2032d-…","created":1795349597,\n "took_ms":3,"model":"a b"}`;
  const output = `{"id":"${ID}","created":1795712788,"took_ms":17,"model":"a b"}`;
  assertEquals(compareTexts(sample, output), { problem: null, ids: new Map([["01a2032d-…", ID]]) });
  assert(isSame("done after 46 ms; id req_1", "done after 9 ms; id req_01a218"));
});

Deno.test("compareTexts() refuses another value, a field that one of them lacks, and further text", () => {
  for (
    const [sample, output] of [
      ['{"a":1}', '{"a":2}'],
      ['{"a":1}', '{"a":1,"b":2}'],
      ['{"a":1,"b":2}', '{"a":1}'],
      ['{"a":"1"}', '{"a":1}'],
      ['{"a":1,…,"c":3}', '{"a":1,"b":2,"c":4}'],
      ["one\ntwo", "one\ntwo\nthree"],
      ["status 200", "status 201"],
    ] as const
  ) assert(!isSame(sample, output), sample);
});

Deno.test("compareTexts() takes … for any text, and as a field for further fields", () => {
  assert(isSame('{"a":1,…,"c":3,…}', '{"a":1,"b":2,"c":3,"d":4}'));
  assert(isSame('{"a":1,"…":"…"}', '{"b":2,"a":1}'));
  assert(isSame("one\n…\nthree", "one\ntwo\nand\nthree"));
});

Deno.test("shapeProblems() compares names and types, and takes null for any type", () => {
  assertEquals(shapeProblems({ a: 1, b: [{ c: "x" }] }, { a: 2, b: [{ c: null }] }), []);
  assertEquals(shapeProblems({ a: 1 }, { a: "1" }), ["answer.a: the sample has a number, not a string"]);
  assertEquals(shapeProblems({ a: 1 }, { b: 1 }), ["answer: the sample lacks b", "answer: only the sample has a"]);
});

Deno.test("shellCommandsOf() reads sessions with prompts, and scripts with output in comments", () => {
  const block = { page: "", line: 1, heading: "" };
  const session = "$ curl a \\\n    -d '{\n}'\n{\"b\":1}\n$ ls   # all";
  assertEquals(shellCommandsOf({ ...block, language: "console", text: session }), [
    { text: "curl a \\\n    -d '{\n}'", output: '{"b":1}' },
    { text: "ls   # all", output: null },
  ]);
  assertEquals(shellCommandsOf({ ...block, language: "sh", text: "curl a\n# 200 {}\n\ncurl b" }), [
    { text: "curl a", output: "200 {}" },
    { text: "curl b", output: null },
  ]);
});

Deno.test("wordsOf() gives the words that bash reads, and runs nothing", async () => {
  const [commands, second] = await wordsOf(["export KEY=a; curl \"$KEY\" 'b c' > file", "rm -rf x\nls"], ["KEY"]);
  assertEquals(commands?.[0]?.map((word) => withVariables(word, { KEY: "k" })), ["curl", "k", "b c"]);
  assertEquals(second, [["rm", "-rf", "x"], ["ls"]]);
});
