import { assertEquals, assertRejects } from "@std/assert";
import { revokeKey } from "../../src/money/billing/keys/issued_key.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { openBatchStage } from "./stage.ts";

const encoder = new TextEncoder();

Deno.test("batches: a key that is revoked while its lines or its file arrive stores nothing", async () => {
  await using at = await openBatchStage(() => ({}));
  const lines = async function* () {
    await revokeKey(at.store, "demo", at.keyId);
    yield encoder.encode('{"custom_id": "one", "body": {"text": "one"}}\n');
  };
  await assertRejects(() => at.createWith([], { lines: lines() }), GatewayError, "revoked");
  const file = async function* () {
    yield await Promise.resolve(encoder.encode("text"));
  };
  const content = await at.stored.write(file());
  const asked = { filename: "a", purpose: "user_data", lifetimeSeconds: null } as const;
  const owner = { accountId: "demo", keyId: at.keyId };
  await assertRejects(() => at.stored.add(content, asked, owner), GatewayError, "revoked");
  assertEquals([at.names(), await at.store.balance("demo")], [[], { available: 1_000n, held: 0n }]);
});
