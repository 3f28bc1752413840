import { assertEquals, assertRejects } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { BODY, CALLER, COST, openStage } from "./stage.ts";

const callOf = (bodyHash: string, key = "order-17") => ({ ...CALLER, body: BODY, key: { key, bodyHash } });

Deno.test("concurrent creates with one key at two nodes of one store create one task with one hold", async () => {
  const stage = await openStage();
  const other = stage.reopen(stage.store);
  const answers = await Promise.all([stage.videos.create(callOf("{}")), other.create(callOf("{}"))]);
  assertEquals(answers[0].taskId, answers[1].taskId);
  assertEquals(answers.map(({ replayed }) => replayed).toSorted(), [false, true]);
  assertEquals((await stage.store.balance("demo")).held, COST);
});

Deno.test("a key can be reused after 24 hours and not earlier", async () => {
  const stage = await openStage();
  const { taskId } = await stage.videos.create(callOf("{}"));
  stage.clock.advance(86_400_000 - 1);
  const again = await stage.videos.create(callOf("{}"));
  assertEquals([again.taskId, again.replayed], [taskId, true]);
  await assertRejects(() => stage.videos.create(callOf('{"other":1}')), GatewayError, "a different body");
  stage.clock.advance(1);
  assertEquals((await stage.videos.create(callOf("{}"))).replayed, false);
});

Deno.test("a repeat of a running create returns conflict, and a failed create is not stored", async () => {
  const stage = await openStage();
  const first = stage.videos.create(callOf("{}"));
  const repeat = await assertRejects(() => stage.videos.create(callOf("{}")), GatewayError, "still running");
  assertEquals([repeat.code, repeat.status, repeat.details.retryAfterSeconds], ["conflict", 409, 1]);
  await first;
  const refused = { ...callOf("{}", "mended"), body: { ...BODY, duration: 0 } };
  await assertRejects(() => stage.videos.create(refused), GatewayError, '"duration"');
  assertEquals((await stage.videos.create(callOf("{}", "mended"))).replayed, false);
});
