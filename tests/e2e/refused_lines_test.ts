import { sleep, systemClock } from "../../src/platform/lib/basics/clock.ts";
import { assertEquals, assertMatch } from "@std/assert";
import { callerOf } from "../support/gateway_call.ts";
import { PRICING } from "../support/gateway.ts";
import { chatLine, withVendorBatches } from "./vendor_batch_stage.ts";

/** The batches of one account that a gateway runs simultaneously. */
const RUNS_OF_ACCOUNT = 4;
const MAX_LOOKS = 300;

Deno.test("batches: lines of a revoked key are refused as its requests are, each with an id that the log of requests has", async () => {
  await withVendorBatches(async ({ gateway, admin, create, countOf }) => {
    const issued = await admin("POST", "/admin/v1/accounts/demo/keys", {});
    const call = callerOf(gateway.address, { authorization: `Bearer ${issued.json.secret}` });
    for (let n = 0; n < RUNS_OF_ACCOUNT; n++) {
      await create([chatLine("long", "[[stall 1500]] Hello", "sandbox/plain-1")]);
    }
    // It waits until one of the others has ended.
    const { json: batch, text } = await call("POST", "/v1/batches", {
      endpoint: "/v1/chat/completions",
      requests: [chatLine("vendor", "Hello"), chatLine("plain", "Hello", "sandbox/plain-1")],
    });
    assertEquals(batch.service_batch?.mode, "mixed", text);
    const sent = countOf("POST /openai/v1/chat/completions");
    assertEquals((await admin("DELETE", `/admin/v1/accounts/demo/keys/${issued.json.id}`)).status, 200);
    let status = "";
    for (let look = 0; look < MAX_LOOKS && status !== "completed"; look++) {
      status = (await admin("GET", `/admin/v1/batches/${batch.id}`)).json.status;
      await sleep(systemClock, 100);
    }
    assertEquals(status, "completed");
    const errors = (await admin("GET", `/admin/v1/batches/${batch.id}/errors`)).text.trimEnd().split("\n");
    const lines = errors.map((line) => JSON.parse(line));
    assertEquals(lines.map(({ custom_id: id }) => id), ["vendor", "plain"]);
    for (const { response } of lines) {
      assertEquals([response.status_code, response.body.error.code], [401, "invalid_api_key"]);
      assertMatch(response.request_id, /^req_/);
      const { json: logged } = await admin("GET", `/admin/v1/requests/${response.request_id}`);
      assertEquals([logged.status, logged.error?.code, logged.key], [401, "invalid_api_key", issued.json.id]);
    }
    assertEquals(countOf("POST /openai/v1/batches"), 0);
    assertEquals(countOf("POST /openai/v1/chat/completions") - sent <= RUNS_OF_ACCOUNT, true);
  }, { extraModels: [{ id: "sandbox/plain-1", pricing: PRICING, serves: [{ provider: "sandbox-openai" }] }] });
});
