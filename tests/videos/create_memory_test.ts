import { assertEquals, assertThrows } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { MemoryBudget } from "../../src/platform/lib/process/memory_budget.ts";
import { CreateMemory } from "../../src/services/videos/create/create_memory.ts";

const MB = 1_000_000;

function codeOf(take: () => void): string {
  return assertThrows(take, GatewayError).code;
}

Deno.test("CreateMemory gives a provider a third of the memory that others leave free, across all accounts", () => {
  const budget = new MemoryBudget(400 * MB);
  const memory = new CreateMemory(budget);
  for (const account of ["a", "b", "c", "d", "e"]) memory.lease("slow", account).reserve(20 * MB);
  assertEquals(codeOf(() => memory.lease("slow", "f").reserve(20 * MB)), "overloaded");
  assertEquals(budget.inUse, 100 * MB);
  memory.lease("other", "f").reserve(20 * MB);
});

Deno.test("CreateMemory always rejects more than the maximum of an account", () => {
  const memory = new CreateMemory(new MemoryBudget(400 * MB));
  assertEquals(codeOf(() => memory.lease("slow", "a").reserve(101 * MB)), "request_too_large");
  memory.lease("slow", "a").reserve(100 * MB);
});

Deno.test("CreateMemory frees all memory at the end of a lease", () => {
  const budget = new MemoryBudget(400 * MB);
  const memory = new CreateMemory(budget);
  for (let nth = 0; nth < 3; nth++) {
    using lease = memory.lease("slow", "a");
    lease.reserve(40 * MB);
    lease.reserve(50 * MB);
    assertEquals(codeOf(() => memory.lease("slow", "b").reserve(90 * MB)), "overloaded");
  }
  assertEquals(budget.inUse, 0);
});
