import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { callerOf } from "../../support/gateway_call.ts";
import { stateOf } from "../../support/patience.ts";
import { startVideoGateway, type VideoGateway } from "../../support/video_gateway.ts";

const ENDED = ["completed", "failed", "cancelled", "expired"];
const QUICK = "[[queue 0]] [[run 0]]";

/** A line for a video of five seconds, which costs at most 0.50 USD. */
function videoLine(id: string, directives: string, fields: object = {}) {
  const body = { model: "sandbox/video-1", prompt: `A lighthouse ${id} ${directives}`, seconds: "5", ...fields };
  return { custom_id: id, body };
}

/** What a test reads of a gateway with batches of videos. */
function stageOf({ call, address, adminKey }: VideoGateway) {
  const admin = callerOf(address, { authorization: `Bearer ${adminKey}` });
  return {
    admin,
    create: (requests: readonly unknown[], headers: Record<string, string> = {}) =>
      call("POST", "/v1/batches", { endpoint: "/v1/videos", requests }, headers),
    ended: (id: string) =>
      stateOf(
        "the batch has ended",
        async () => (await call("GET", `/v1/batches/${id}`)).json,
        ({ status }) => ENDED.includes(status),
      ),
    async linesOf(fileId: string | null) {
      if (fileId === null) return [];
      const { text } = await call("GET", `/v1/files/${fileId}/content`);
      return text.trimEnd().split("\n").map((line) => JSON.parse(line));
    },
    /** The operations of the ledger, without the credit of the start. */
    async entries() {
      const { json } = await admin("GET", "/admin/v1/accounts/demo/ledger?limit=100");
      return json.data.filter(({ operation }: { operation: string }) => operation !== "credit");
    },
  };
}

async function withGateway(use: (gateway: VideoGateway) => Promise<void>): Promise<void> {
  const gateway = await startVideoGateway();
  try {
    await use(gateway);
  } finally {
    await gateway.stop();
  }
}

Deno.test("batches of videos: each line is a task with one charge, and its result is the finished video", async () => {
  await withGateway(async (gateway) => {
    const { create, ended, linesOf, entries } = stageOf(gateway);
    const { json: created, status, text } = await create([
      videoLine("one", QUICK, { metadata: { shot: "1" } }),
      videoLine("two", QUICK),
      videoLine("refused", "[[refuse]] [[queue 0]] [[run 0]]"),
      videoLine("image", QUICK, { input_reference: "data:image/png;base64,AAAA" }),
    ]);
    assertEquals(status, 202, text);
    assertEquals(created.service_batch, { mode: "emulated", estimate: "2.0000000000", cost: "0.0000000000" });
    const batch = await ended(created.id);
    assertEquals([batch.status, batch.request_counts], ["completed", { total: 4, completed: 2, failed: 2 }]);
    assertEquals(batch.service_batch.cost, "1.0000000000");
    for (const { custom_id: id, response } of await linesOf(batch.output_file_id)) {
      assertEquals([response.status_code, response.body.status, response.body.object], [200, "completed", "video"]);
      assertStringIncludes(response.body.prompt, id);
      assertEquals([response.body.usage.cost, response.body.mirror_urls.length], [0.5, 1]);
      assertMatch(response.request_id, /^req_/);
      const read = await gateway.call("GET", `/v1/videos/${response.body.id}`);
      assertEquals(read.json.status, "completed");
    }
    const failed = await linesOf(batch.error_file_id);
    assertEquals(
      failed.map(({ custom_id: id, response: { status_code, body } }) => [id, status_code, body.error.code]),
      [
        ["refused", 400, "content_policy_violation"],
        ["image", 400, "invalid_request"],
      ],
    );
    assertEquals(await gateway.money(), { balance: "24.0000000000", held: "0.0000000000" });
    const ledger = await entries();
    const captures = ledger.filter(({ operation }: { operation: string }) => operation === "capture");
    assertEquals(
      captures.map(({ detail }: { detail: object }) => detail).map((each: Record<string, unknown>) => [
        each.batch,
        each.custom_id,
      ]).sort(),
      [[created.id, "one"], [created.id, "two"]],
    );
    // One hold of all lines, and none of a task.
    assertEquals(ledger.filter(({ operation }: { operation: string }) => operation === "hold").length, 1);
    assertEquals(gateway.created().length, 3);
  });
});

Deno.test("batches of videos: results are in the form of the client that created the batch", async () => {
  await withGateway(async (gateway) => {
    const { create, ended, linesOf } = stageOf(gateway);
    const agent = { "user-agent": "OpenAI/JS 7.59.0" };
    const { json: created } = await create([videoLine("one", QUICK), videoLine("two", `[[failure]] ${QUICK}`)], agent);
    const batch = await ended(created.id);
    const [line] = await linesOf(batch.output_file_id);
    assertEquals([line.response.body.status, line.response.body.expires_at], ["completed", null]);
    const [failed] = await linesOf(batch.error_file_id);
    assertEquals([failed.response.status_code, failed.response.body.status], [502, "failed"]);
  });
});

Deno.test("batches of videos: a line whose video cannot be made fails the batch before anything is held", async () => {
  await withGateway(async (gateway) => {
    const { create, entries } = stageOf(gateway);
    const { json } = await create([videoLine("one", QUICK), videoLine("two", QUICK, { seconds: "999" })]);
    assertEquals(json.status, "failed");
    assertEquals(json.errors.data[0].line, 2);
    assertEquals(await entries(), []);
    const large = await create(Array.from({ length: 51 }, (_, n) => videoLine(`${n}`, QUICK)));
    assertEquals([large.status, large.json.error.code], [402, "insufficient_credits"]);
    assertEquals(gateway.created().length, 0);
  });
});

Deno.test("batches of videos: a cancellation ends the tasks, and what was made is charged", async () => {
  await withGateway(async (gateway) => {
    const { create, ended, linesOf } = stageOf(gateway);
    const { json: created } = await create([
      videoLine("made", QUICK),
      ...Array.from({ length: 5 }, (_, n) => videoLine(`queued ${n}`, "[[queue 600000]]")),
    ]);
    await stateOf("the tasks are at the vendor", () => Promise.resolve(gateway.created().length), (made) => made === 6);
    await stateOf(
      "a line is settled",
      async () => (await gateway.call("GET", `/v1/batches/${created.id}`)).json.request_counts.completed,
      (completed) => completed === 1,
    );
    const { json: held } = { json: await gateway.money() };
    assertEquals(held, { balance: "22.0000000000", held: "2.5000000000" });
    assertEquals((await gateway.call("POST", `/v1/batches/${created.id}/cancel`)).json.status, "cancelling");
    const batch = await ended(created.id);
    assertEquals([batch.status, batch.request_counts], ["cancelled", { total: 6, completed: 1, failed: 0 }]);
    const left = await linesOf(batch.error_file_id);
    assertEquals(left.map(({ error }) => error.code), Array(5).fill("batch_cancelled"));
    assertEquals(await gateway.money(), { balance: "24.5000000000", held: "0.0000000000" });
    const { json: tasks } = await gateway.call("GET", "/v1/videos");
    assertEquals(tasks.data.map(({ status }: { status: string }) => status).sort(), [
      ...Array(5).fill("cancelled"),
      "completed",
    ]);
  });
});

Deno.test("batches of videos: a task that its caller cancels ends its line, and the batch goes on", async () => {
  await withGateway(async (gateway) => {
    const { create, ended, linesOf } = stageOf(gateway);
    const { json: created } = await create([videoLine("a", "[[queue 600000]]"), videoLine("b", QUICK)]);
    const tasks = await stateOf(
      "the tasks are listed",
      async () => (await gateway.call("GET", "/v1/videos")).json.data,
      (data) => data.length === 2 && gateway.created().length === 2,
    );
    const queued = tasks.find(({ prompt }: { prompt: string }) => prompt.includes("[[queue 600000]]"));
    assertEquals((await gateway.call("DELETE", `/v1/videos/${queued.id}`)).status, 200);
    const batch = await ended(created.id);
    assertEquals([batch.status, batch.request_counts], ["completed", { total: 2, completed: 1, failed: 1 }]);
    const [line] = await linesOf(batch.error_file_id);
    assertEquals([line.custom_id, line.response.status_code, line.response.body.status], ["a", 409, "cancelled"]);
  });
});
