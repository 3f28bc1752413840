import { assertEquals } from "@std/assert";
import { type Effort, EFFORTS } from "../../src/conversation/neutral/conversation.ts";
import {
  COMMON_EFFORTS,
  EFFORT_SHARES,
  effortForShare,
  nearestEffort,
} from "../../src/conversation/parts/request/effort.ts";

const THINKING = EFFORTS.filter((effort) => effort !== "none") as [Effort, ...Effort[]];

Deno.test("effortForShare() returns every effort for its own share", () => {
  for (const effort of THINKING) assertEquals(effortForShare(EFFORT_SHARES[effort], THINKING), effort);
});

Deno.test("effortForShare() returns only supported efforts", () => {
  assertEquals(effortForShare(0.001, ["low", "medium", "high"]), "low");
  assertEquals(effortForShare(0.99, ["low", "medium", "high"]), "high");
});

Deno.test("nearestEffort() returns only supported efforts", () => {
  assertEquals(EFFORTS.map((effort) => nearestEffort(effort, COMMON_EFFORTS)), [
    ...["low", "low", "low", "medium", "high", "high", "high"],
  ]);
  assertEquals(nearestEffort("minimal", ["none", "low", "high"]), "low");
  assertEquals(nearestEffort("medium", ["low", "high"]), "high");
  assertEquals(nearestEffort("xhigh", ["low", "high", "max"]), "high");
  assertEquals(nearestEffort("max", ["low", "high", "max"]), "max");
  assertEquals(nearestEffort("low", ["none"]), "none");
});
