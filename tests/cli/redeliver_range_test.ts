import { assertEquals, assertRejects } from "@std/assert";
import { GatewayUnreachableError } from "../../src/entry/cli/command_errors.ts";
import type { AdminCall } from "../../src/entry/cli/admin/admin_call.ts";
import { redeliverRange } from "../../src/entry/cli/admin/redeliver_range.ts";

const CALL: AdminCall = { method: "POST", path: "/admin/v1/deliveries/redeliver", body: { from: 1, to: 2 } };

Deno.test("redeliverRange() calls until the end of the range and gives the sum", async () => {
  const asked: unknown[] = [];
  const said: string[] = [];
  const parts = [{ redelivered: 500, next: "a" }, { redelivered: 499, next: "b" }, { redelivered: 3, next: null }];
  const answer = await redeliverRange(CALL, ({ body }) => {
    asked.push(body?.after);
    return Promise.resolve({ status: 202, body: parts[asked.length - 1] });
  }, (message) => void said.push(message));
  assertEquals(answer, { status: 202, body: { redelivered: 1_002, next: null } });
  assertEquals([asked, said], [[undefined, "a", "b"], []]);
});

Deno.test("redeliverRange() notifies how to continue when a later call fails", async () => {
  const refusal = { status: 500, body: { error: { code: "internal_error", message: "No" } } };
  const first = { status: 202, body: { redelivered: 500, next: "a" } };
  const said: string[] = [];
  const complain = (message: string) => void said.push(message);
  const hint = "500 deliveries were restarted; to continue, add --after a to the same command";
  const isFirst = ({ body }: AdminCall) => body?.after === undefined;

  const ask = (call: AdminCall) => Promise.resolve(isFirst(call) ? first : refusal);
  assertEquals(await redeliverRange(CALL, ask, complain), refusal);
  assertEquals(said, [hint]);
  const lose = (call: AdminCall) =>
    isFirst(call) ? Promise.resolve(first) : Promise.reject(new GatewayUnreachableError("gone"));
  await assertRejects(() => redeliverRange(CALL, lose, complain), GatewayUnreachableError);
  assertEquals(said, [hint, hint]);
});

Deno.test("redeliverRange() gives no notice when the first call fails", async () => {
  const said: string[] = [];
  const complain = (message: string) => void said.push(message);
  const refusal = { status: 400, body: {} };
  assertEquals(await redeliverRange(CALL, () => Promise.resolve(refusal), complain), refusal);
  await assertRejects(() => redeliverRange(CALL, () => Promise.reject(new Error("gone")), complain), Error, "gone");
  assertEquals(said, []);
});
