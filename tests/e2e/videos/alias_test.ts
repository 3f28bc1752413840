import { assertEquals, assertStringIncludes } from "@std/assert";
import { startVideoGateway } from "../../support/video_gateway.ts";

const gateway = await startVideoGateway({
  config: { aliases: { film: "sandbox/video-1", "film-*": "sandbox/video-*" } },
});
const { call, create, until } = gateway;

Deno.test("a video by alias: its task has the alias, the ledger and the admin API the model", async () => {
  for (const model of ["film", "film-1"]) {
    const id = await create({ model });
    const task = await until(id, "completed", "failed");
    assertEquals([task.status, task.model], ["completed", model]);
    const admin = { authorization: `Bearer ${gateway.adminKey}` };
    const seen = await call("GET", `/admin/v1/tasks/${id}`, undefined, admin);
    assertEquals(seen.json.model, "sandbox/video-1");
    const { json: { data } } = await call("GET", "/v1/videos?limit=1");
    assertEquals(data[0].model, model);
  }
});

Deno.test("an unknown video model returns the most similar video models", async () => {
  const { status, json } = await call("POST", "/v1/videos", { model: "sandbox/video-3", prompt: "A fox" });
  assertEquals([status, json.error.code], [404, "model_not_found"]);
  assertStringIncludes(json.error.message, 'the nearest: "sandbox/video-1", "sandbox/video-2"');
});

Deno.test({
  name: "the gateway of these tests stops",
  sanitizeResources: false,
  sanitizeOps: false,
  fn: () => gateway.stop(),
});
