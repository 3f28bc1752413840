import { sleep, systemClock } from "../../src/platform/lib/basics/clock.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { PRICING } from "../support/gateway.ts";
import { StepMeasure } from "../support/step_measure.ts";
import { chatLine, withVendorBatches } from "./vendor_batch_stage.ts";

interface Vendor {
  readonly model: string;
  /** The request that creates a batch. */
  readonly create: string;
  /** Its beginning that lists batches, and the one that reads one. */
  readonly list: string;
  readonly read: string;
  /** Whether the vendor can refuse a batch after its create. */
  readonly refusesLater: boolean;
}

const VENDORS: readonly Vendor[] = [
  {
    model: "sandbox/chat-1",
    create: "POST /openai/v1/batches",
    list: "GET /openai/v1/batches?",
    read: "GET /openai/v1/batches/",
    refusesLater: true,
  },
  {
    model: "sandbox/messages-1",
    create: "POST /anthropic/v1/messages/batches",
    list: "GET /anthropic/v1/messages/batches?",
    read: "GET /anthropic/v1/messages/batches/",
    refusesLater: false,
  },
  {
    model: "sandbox/content-1",
    create: "POST /google/v1beta/models/content-1:batchGenerateContent",
    list: "GET /google/v1beta/batches?",
    read: "GET /google/v1beta/batches/",
    refusesLater: true,
  },
];

const texts = (count: number) => Array.from({ length: count }, (_, n) => `Hello ${n}`);

/** What a reply costs in a batch: half of the tokens' prices, as the reply counts them. */
function batchCostOf({ usage }: { readonly usage: { prompt_tokens: number; completion_tokens: number } }): number {
  const { prompt_tokens: prompt, completion_tokens: completion } = usage;
  return (prompt * Number(PRICING.prompt) + completion * Number(PRICING.completion)) / 2;
}

for (const { model, create, list, read, refusesLater } of VENDORS) {
  Deno.test(`vendors' batches: the lines of ${model} are one batch of its vendor at half price`, async () => {
    await withVendorBatches(async ({ create: createBatch, ended, linesOf, charges, money, countOf }) => {
      const lines = texts(12).map((text, n) => chatLine(`line ${n}`, text, model));
      const created = await createBatch(lines);
      assertEquals(created.service_batch.mode, "vendor");
      const batch = await ended(created.id);
      assertEquals([batch.status, batch.error_file_id], ["completed", null]);
      assertEquals(batch.request_counts, { total: 12, completed: 12, failed: 0 });
      assertEquals(countOf(create), 1);
      const output = await linesOf(batch.output_file_id);
      const paid = await charges();
      let sum = 0;
      for (const { custom_id: id, response } of output) {
        assertEquals(response.status_code, 200);
        assertStringIncludes(response.body.choices[0].message.content, id.replace("line", "Hello"));
        assertEquals(paid.get(id)?.toFixed(10), batchCostOf(response.body).toFixed(10));
        sum += paid.get(id) ?? 0;
      }
      assertEquals([output.length, paid.size], [12, 12]);
      assertEquals(Number(batch.service_batch.cost).toFixed(10), sum.toFixed(10));
      assert(Number(batch.service_batch.estimate) > sum);
      const { balance, held } = await money();
      assertEquals([balance.toFixed(8), held], [(25 - sum).toFixed(8), 0]);
    });
  });

  Deno.test(`vendors' batches of ${model}: hostile results are read line by line, and no line is charged twice`, async () => {
    await withVendorBatches(async ({ create: createBatch, ended, linesOf, charges, money, countOf }) => {
      const created = await createBatch([
        chatLine("good", "Hello", model),
        chatLine("double", "[[batch double]] Hello", model),
        chatLine("garbage", "[[batch garbage]] Hello", model),
        chatLine("missing", "[[batch missing]] Hello", model),
        chatLine("foreign", "[[batch foreign]] Hello", model),
        chatLine("refused", "[[fail 400]] Hello", model),
        chatLine("page", "[[html]] Hello", model),
      ]);
      const batch = await ended(created.id);
      assertEquals([batch.status, batch.request_counts], ["completed", { total: 7, completed: 3, failed: 4 }]);
      const failed = await linesOf(batch.error_file_id);
      assertEquals(failed.map(({ custom_id: id, response }) => [id, response.status_code]), [
        ["garbage", 502],
        ["missing", 502],
        ["refused", 400],
        ["page", 502],
      ]);
      assertStringIncludes(failed[0]?.response.body.error.message, "the vendor returned no result");
      const paid = await charges();
      assertEquals([...paid.keys()].sort(), ["double", "foreign", "good"]);
      const { balance, held } = await money();
      const sum = paid.values().reduce((all, cost) => all + cost, 0);
      assertEquals([balance.toFixed(8), held], [(25 - sum).toFixed(8), 0]);
      assertEquals(countOf(create), 1);
    });
  });

  Deno.test(`vendors' batches of ${model}: far too many values beside a reply are not parsed, and the reply counts`, async () => {
    await withVendorBatches(async ({ create: createBatch, ended }) => {
      using measure = new StepMeasure();
      const created = await createBatch([
        chatLine("good", "Hello", model),
        chatLine("bloated", "[[batch bloated]] Hello", model),
      ]);
      const batch = await ended(created.id);
      assertEquals(batch.request_counts, { total: 2, completed: 2, failed: 0 });
      assert(measure.maxLength < 500_000, `${measure.maxLength} characters were parsed`);
    });
  });

  for (const order of ["cut", "gone"] as const) {
    Deno.test(`vendors' batches of ${model}: results that are ${order} leave lines without a reply, which cost nothing`, async () => {
      await withVendorBatches(async ({ create: createBatch, ended, charges, money, linesOf }) => {
        const created = await createBatch([
          chatLine("one", `[[batch ${order}]] Hello`, model),
          chatLine("two", "Hello", model),
        ]);
        const batch = await ended(created.id);
        const left = order === "cut" ? 1 : 0;
        assertEquals(batch.request_counts, { total: 2, completed: left, failed: 2 - left });
        assertEquals((await charges()).size, left);
        assertEquals((await linesOf(batch.error_file_id)).length, 2 - left);
        assertEquals((await money()).held, 0);
      });
    });
  }

  Deno.test(`vendors' batches of ${model}: a create whose response is lost is found again, and is not sent twice`, async () => {
    await withVendorBatches(async ({ create: createBatch, ended, countOf, charges }) => {
      const created = await createBatch([chatLine("one", "[[batch lose]] Hello", model)]);
      assertEquals((await ended(created.id)).request_counts, { total: 1, completed: 1, failed: 0 });
      assertEquals([countOf(create), countOf(list)], [1, 1]);
      assertEquals((await charges()).size, 1);
    });
  });

  if (refusesLater) {
    Deno.test(`vendors' batches of ${model}: one that the vendor refuses for now is sent again, any other fails with its lines`, async () => {
      await withVendorBatches(async ({ create: createBatch, ended, countOf, linesOf, money }) => {
        const busy = await createBatch([chatLine("one", "[[batch busy]] Hello", model)]);
        assertEquals((await ended(busy.id)).request_counts, { total: 1, completed: 1, failed: 0 });
        assertEquals(countOf(create), 2);
        const refused = await ended(
          (await createBatch([chatLine("one", "[[batch fail billing_hard_limit]] Hello", model)])).id,
        );
        assertEquals(refused.request_counts, { total: 1, completed: 0, failed: 1 });
        const [line] = await linesOf(refused.error_file_id);
        assertStringIncludes(line?.response.body.error.message, "The batch was refused.");
        assertEquals((await money()).held, 0);
      });
    });
  }

  Deno.test(`vendors' batches of ${model}: a cancellation reaches the vendor, and what it had answered is charged`, async () => {
    await withVendorBatches(async ({ create: createBatch, call, ended, linesOf, charges, money, countOf, sandbox }) => {
      const created = await createBatch(
        Array.from({ length: 20 }, (_, n) => chatLine(`${n}`, "[[batch wait 4000]] Hello", model)),
      );
      for (let look = 0; look < 200 && countOf(read) < 1; look++) {
        await sleep(systemClock, 50);
      }
      assertEquals((await call("POST", `/v1/batches/${created.id}/cancel`)).json.status, "cancelling");
      const batch = await ended(created.id);
      assertEquals(batch.status, "cancelled");
      const [answered, left] = [await linesOf(batch.output_file_id), await linesOf(batch.error_file_id)];
      assertEquals(answered.length + left.length, 20);
      assert(answered.length > 0 && left.length > 0, `${answered.length}`);
      for (const { error } of left) assertEquals(error?.code, "batch_cancelled");
      assertEquals([...(await charges()).keys()].sort(), answered.map((line) => line.custom_id).sort());
      assertEquals((await money()).held, 0);
      assertEquals(sandbox.requests.filter(({ path }) => path.endsWith("cancel")).length, 1);
    });
  });

  Deno.test(`vendors' batches of ${model}: lines that the vendor leaves at the end of its own window fail, and cost nothing`, async () => {
    await withVendorBatches(async ({ create: createBatch, ended, charges, money }) => {
      const created = await createBatch([
        chatLine("one", "[[batch expire]] Hello", model),
        chatLine("two", "Hello", model),
      ]);
      const batch = await ended(created.id);
      assertEquals(batch.request_counts, { total: 2, completed: 1, failed: 1 });
      assertEquals([[...(await charges()).keys()], (await money()).held], [["one"], 0]);
    });
  });
}

Deno.test("vendors' batches: lines of several vendors and endpoints are one batch of each, and others are run here", async () => {
  await withVendorBatches(async ({ create, ended, linesOf, charges, countOf }) => {
    const created = await create([
      chatLine("vendor", "Hello"),
      { custom_id: "tier", body: { ...chatLine("", "Hello").body as object, service_tier: "default" } },
      chatLine("plain", "Hello", "sandbox/plain-1"),
    ]);
    assertEquals(created.service_batch.mode, "mixed");
    const batch = await ended(created.id);
    assertEquals(batch.request_counts, { total: 3, completed: 3, failed: 0 });
    const costs = await charges();
    assertEquals(costs.get("plain"), 2 * (costs.get("vendor") ?? 0));
    assertEquals(costs.get("tier"), costs.get("vendor"));
    assertEquals((await linesOf(batch.output_file_id)).length, 3);
    assertEquals([countOf("POST /openai/v1/batches"), countOf("POST /openai/v1/chat/completions")], [1, 1]);
  }, { extraModels: [{ id: "sandbox/plain-1", pricing: PRICING, serves: [{ provider: "sandbox-openai" }] }] });
});

for (const batches of ["off", "auto"] as const) {
  Deno.test(`vendors' batches: with "batches: ${batches}" at another address, all lines are run here`, async () => {
    await withVendorBatches(async ({ create, ended, countOf }) => {
      const created = await create([chatLine("one", "Hello")]);
      assertEquals(created.service_batch.mode, "emulated");
      assertEquals((await ended(created.id)).status, "completed");
      assertEquals(countOf("POST /openai/v1/batches"), 0);
    }, { batches });
  });
}

Deno.test("batches: a line without an output limit that the gateway runs gets none", async () => {
  await withVendorBatches(async ({ create, ended, sandbox }) => {
    const messages = [{ role: "user", content: "Hello" }];
    const created = await create([{ custom_id: "one", body: { model: "sandbox/chat-1", messages } }]);
    assertEquals((await ended(created.id)).status, "completed");
    const [sent] = sandbox.requests.filter(({ path }) => path.endsWith("/completions"));
    assertEquals(sent?.body, { model: "chat-1", messages });
  }, { batches: "off" });
});

const VERSION = { "anthropic-version": "2023-06-01" };

Deno.test("vendors' batches: lines in Anthropic's format are sent in the batches of any vendor, too", async () => {
  await withVendorBatches(async ({ call, charges, money, countOf }) => {
    const models = VENDORS.map(({ model }) => model);
    const created = await call("POST", "/msgcompat/v1/messages/batches", {
      requests: models.map((model, n) => ({
        custom_id: `${n}`,
        params: { model, max_tokens: 50, messages: [{ role: "user", content: `Hello ${n}` }] },
      })),
    }, VERSION);
    assertEquals(created.json.service_batch?.mode, "vendor", created.text);
    const { id } = created.json;
    for (let look = 0; look < 300; look++) {
      const { json } = await call("GET", `/msgcompat/v1/messages/batches/${id}`, undefined, VERSION);
      if (json.processing_status === "ended") break;
      await sleep(systemClock, 100);
    }
    const { text } = await call("GET", `/msgcompat/v1/messages/batches/${id}/results`, undefined, VERSION);
    const results = text.trimEnd().split("\n").map((line) => JSON.parse(line));
    for (const { custom_id: name, result } of results) {
      assertEquals(result.type, "succeeded", JSON.stringify(result));
      assertStringIncludes(result.message.content[0].text, `Hello ${name}`);
    }
    assertEquals([results.length, (await charges()).size, (await money()).held], [3, 3, 0]);
    for (const { create } of VENDORS) assertEquals(countOf(create), 1);
  });
});
