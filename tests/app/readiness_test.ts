import { assertEquals } from "@std/assert";
import { readinessOf } from "../../src/entry/app/routes/readiness.ts";

const STORE = { isReady: () => Promise.resolve(true), writeGuard: { failure: null } };
const FULL = { isReady: () => Promise.resolve(false), writeGuard: { failure: "the disk is full" } };

Deno.test("a gateway is not ready before it knows its own address, while it stops, and without its store", async () => {
  const state = { isDraining: false, baseUrl: "" };
  const { isReady, reason } = readinessOf(state, STORE);
  assertEquals([await isReady(), reason()], [false, "the gateway does not know its own address yet"]);
  state.baseUrl = "http://127.0.0.1:8787";
  assertEquals([await isReady(), reason()], [true, null]);
  const full = readinessOf(state, FULL);
  assertEquals([await full.isReady(), full.reason()], [false, "the disk is full"]);
  state.isDraining = true;
  assertEquals([await isReady(), reason()], [false, "the gateway is shutting down"]);
});
