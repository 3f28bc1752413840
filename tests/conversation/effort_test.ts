import { assertEquals } from "@std/assert";
import { type Effort, EFFORTS } from "../../src/conversation/conversation.ts";
import { EFFORT_SHARES, effortForShare, plainEffort } from "../../src/conversation/effort.ts";

const THINKING = EFFORTS.filter((effort) => effort !== "none") as [Effort, ...Effort[]];

Deno.test("effortForShare() finds every effort by its own share", () => {
  for (const effort of THINKING) assertEquals(effortForShare(EFFORT_SHARES[effort], THINKING), effort);
});

Deno.test("effortForShare() keeps to the efforts that the target knows", () => {
  assertEquals(effortForShare(0.001, ["low", "medium", "high"]), "low");
  assertEquals(effortForShare(0.99, ["low", "medium", "high"]), "high");
});

Deno.test("plainEffort() knows three words only", () => {
  const words = THINKING.map((effort) => plainEffort(effort as Exclude<Effort, "none">));
  assertEquals(words, ["low", "low", "medium", "high", "high", "high"]);
});
