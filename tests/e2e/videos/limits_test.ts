import { assert, assertEquals } from "@std/assert";
import { newApiKey } from "../../../src/money/billing/keys/api_key.ts";
import { startVideoGateway, VALID_BODY } from "../../support/video_gateway.ts";
import { untilSo } from "../../support/patience.ts";

const BUDGETED = newApiKey();
const RATED = newApiKey();

/** The estimate of one video of the first model is reserved; two do not fit. */
async function gatewayWith(budget: string) {
  const keys = [{ key: BUDGETED, budget: { amount: budget, per: "month" } }, { key: RATED, rpm: 1 }];
  return await startVideoGateway({ config: { accounts: [{ id: "demo", balance: "25.00", keys }] } });
}

Deno.test("a budget holds the estimates of videos, counts what is captured, and gives back what is released", async () => {
  const trial = await gatewayWith("25");
  const own = { authorization: `Bearer ${BUDGETED}` };
  const dry = await trial.call("POST", "/v1/videos", VALID_BODY, { ...own, "x-service-dry-run": "true" });
  await trial.stop();
  const estimate = Number(dry.json.estimate.cost);
  assert(estimate > 0);
  const gateway = await gatewayWith((estimate * 2.5).toFixed(6));
  const create = (prompt: string) => gateway.call("POST", "/v1/videos", { ...VALID_BODY, prompt }, own);
  const ended = async (id: string) => {
    const read = async () => (await gateway.call("GET", `/v1/videos/${id}`, undefined, own)).json.status;
    await untilSo(async () => await read() !== "pending");
    return await read();
  };

  const released = await create(`${VALID_BODY.prompt} [[refuse]]`);
  assertEquals(await ended(released.json.id), "failed");
  assertEquals((await create("Waits [[never]]")).status, 202);
  const captured = await create(VALID_BODY.prompt);
  assertEquals(captured.status, 202, captured.text);
  const refused = await create(VALID_BODY.prompt);
  assertEquals([refused.status, refused.json.error.code], [402, "insufficient_credits"]);
  assert(refused.json.error.message.includes("the budget of the key"), refused.text);
  assertEquals(await ended(captured.json.id), "completed");
  assertEquals((await create(VALID_BODY.prompt)).status, 402);
  await gateway.stop();
});

Deno.test("of the video endpoints only a create takes from a limit of requests", async () => {
  const gateway = await gatewayWith("25");
  const own = { authorization: `Bearer ${RATED}` };
  const created = await gateway.call("POST", "/v1/videos", VALID_BODY, own);
  assertEquals([created.status, created.headers.get("x-ratelimit-remaining-requests")], [202, "0"]);
  for (let poll = 0; poll < 3; poll++) {
    assertEquals((await gateway.call("GET", `/v1/videos/${created.json.id}`, undefined, own)).status, 200);
  }
  assertEquals((await gateway.call("GET", "/v1/videos", undefined, own)).status, 200);
  const refused = await gateway.call("POST", "/v1/videos", VALID_BODY, own);
  assertEquals([refused.status, refused.json.error.code], [429, "rate_limited"]);
  assert(Number(refused.headers.get("retry-after")) > 0);
  await gateway.stop();
});
