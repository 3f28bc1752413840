import { assertEquals, assertThrows } from "@std/assert";
import { CASE_IDS } from "../../bench/cases.ts";
import { runOptionsOf } from "../../bench/main.ts";

Deno.test("runOptionsOf() writes the results only for a whole run", () => {
  const whole = runOptionsOf([]);
  assertEquals([whole.seconds, whole.rounds, whole.out?.endsWith("bench/RESULTS.md")], [3, 5, true]);
  assertEquals([...whole.cases], [...CASE_IDS]);
  assertEquals(whole.rivals, ["bare", "node", "portkey"]);
  assertEquals(runOptionsOf(["quick"]).out, null);
  assertEquals(runOptionsOf(["--cases", "json,streams"]).out, null);
  assertEquals(runOptionsOf(["--cases", "json", "--out", "here.md"]).out, "here.md");
});

Deno.test("runOptionsOf() reads contenders in any case, and the programs that were supplied", () => {
  const { rivals, binaries } = runOptionsOf([
    "--contenders",
    "bare,GoModel,Busbar",
    "--binary",
    "gomodel=/opt/gomodel",
    "--binary",
    "busbar=/opt/a=b",
  ]);
  assertEquals(rivals, ["bare", "gomodel", "busbar"]);
  assertEquals([...binaries], [["gomodel", "/opt/gomodel"], ["busbar", "/opt/a=b"]]);
});

Deno.test("runOptionsOf() refuses what it does not have", () => {
  const wrong = [["slow"], ["--cases", "all"], ["--contenders", "other"], ["--seconds", "0"], ["--binary", "gomodel"]];
  for (const args of wrong) assertThrows(() => runOptionsOf(args), RangeError, "expected");
});
