import { assert, assertEquals } from "@std/assert";
import { anthropicListing, googleListing } from "../../src/vendors/upstreams/shared/capability_listings.ts";
import { eventually } from "../support/account_money.ts";
import { PRICING, startTestGateway, type TestGateway } from "../support/gateway.ts";
import { type Json, MESSAGES, sendAs } from "./caller_protocols.ts";

/** What vendors' lists say about models, and what becomes of it in requests. */

const yes = { supported: true };
const no = { supported: false };

/** Of a model that the gateway knows otherwise: budgets, thinking that can be off, two efforts, no schemas. */
const CAPABILITIES = {
  image_input: yes,
  pdf_input: no,
  structured_outputs: no,
  effort: { ...yes, low: yes, medium: no, high: yes, max: no, xhigh: null },
  thinking: { ...yes, types: { adaptive: yes, enabled: yes, disabled: yes, between_tools: no } },
};

function startVendor() {
  const vendor = { page: listOf({ capabilities: CAPABILITIES }) as Json, lists: 0, sent: null as Json };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    if (request.method === "GET") {
      vendor.lists++;
      return Response.json(vendor.page);
    }
    vendor.sent = await request.json();
    return Response.json({
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: vendor.sent.model,
      content: [{ type: "text", text: "hi" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 5, output_tokens: 1 },
    });
  });
  return { vendor, address: `http://127.0.0.1:${server.addr.port}`, stop: () => server.shutdown() };
}

function listOf(model: Json): Json {
  return { data: [{ type: "model", id: "claude-opus-5-5", display_name: "Opus", ...model }], has_more: false };
}

function start(base_url: string, files: string, isolates: number): Promise<TestGateway> {
  return startTestGateway({
    isolates,
    config: {
      files,
      providers: { mine: { kind: "anthropic", base_url, api_key: "k" } },
      models: [
        { id: "mine/*", pricing: PRICING },
        { id: "own/opus", pricing: PRICING, serves: [{ provider: "mine", model: "claude-opus-5-5" }] },
      ],
    },
  });
}

async function sentOf(gateway: TestGateway, vendor: { sent: Json }, model: string, extra: Json): Promise<Json> {
  const { status, text, headers } = await sendAs(MESSAGES, gateway, { model, extra });
  assertEquals(status, 200, text);
  return { ...vendor.sent, dropped: headers.get("x-service-dropped") };
}

const OFF = { thinking: { type: "disabled" }, output_config: { effort: "medium" } };

for (const isolates of [1, 2]) {
  Deno.test(`what a vendor's list says holds for its models before the built-in facts, with ${isolates} isolates`, async () => {
    const files = await Deno.makeTempDir({ prefix: "switchyard-listed-" });
    const { vendor, address, stop } = startVendor();
    const gateway = await start(address, files, isolates);
    try {
      for (const model of ["mine/claude-opus-5-5", "own/opus"]) {
        await eventually(async () => {
          const { status } = await sendAs(MESSAGES, gateway, { model, extra: OFF });
          return status === 200 && vendor.sent?.thinking?.type === "disabled";
        });
        const sent = await sentOf(gateway, vendor, model, OFF);
        // The facts of Claude Opus 5.5 have neither thinking that is off nor fewer efforts.
        assertEquals([sent.thinking, sent.output_config.effort, sent.dropped], [
          { type: "disabled" },
          "high",
          "output_config.effort",
        ]);
        const budget = { type: "enabled", budget_tokens: 1_024 };
        const schema = { type: "object", properties: {}, additionalProperties: false };
        const other = await sentOf(gateway, vendor, model, {
          thinking: budget,
          output_config: { format: { type: "json_schema", schema } },
        });
        assertEquals([other.thinking, other.output_config?.format, other.dropped], [
          budget,
          undefined,
          "output_config.format",
        ]);
      }
      const response = await fetch(`${gateway.address}/admin/v1/models`, {
        headers: { authorization: `Bearer ${gateway.adminKey}` },
      });
      const { data } = await response.json();
      for (const { providers: [{ facts }] } of data) {
        const layer = facts.find(({ source }: Json) => source === "the vendor's list");
        assertEquals(layer.facts.efforts, ["none", "low", "high"]);
        assertEquals(layer.facts.has_output_schemas, false);
      }
      assertEquals(data.length, 2);
    } finally {
      await gateway.stop();
      await stop();
      await Deno.remove(files, { recursive: true });
    }
  });
}

Deno.test("a broken list changes nothing", async () => {
  const files = await Deno.makeTempDir({ prefix: "switchyard-listed-" });
  const { vendor, address, stop } = startVendor();
  try {
    for (
      const page of [
        listOf({ capabilities: null }),
        listOf({ capabilities: "all" }),
        listOf({ capabilities: { thinking: { supported: "yes", types: [] }, effort: [], structured_outputs: {} } }),
        listOf({
          capabilities: { thinking: { types: { disabled: { supported: "no" } } }, effort: { supported: true } },
        }),
        { data: "none" },
        { data: [null, 5, { id: 7 }] },
      ]
    ) {
      vendor.page = page;
      const before = vendor.lists;
      const gateway = await start(address, files, 1);
      await eventually(() => Promise.resolve(vendor.lists > before));
      const sent = await sentOf(gateway, vendor, "own/opus", OFF);
      assertEquals([sent.thinking, sent.dropped], [undefined, "thinking, output_config.effort"], JSON.stringify(page));
      await gateway.stop();
    }
  } finally {
    await stop();
    await Deno.remove(files, { recursive: true });
  }
});

const read = (capabilities: Json): Json => anthropicListing.readPage(listOf({ capabilities })).models[0];

Deno.test("Anthropic's list is read by what it says, and only that", () => {
  assertEquals(read(CAPABILITIES).facts, {
    canReason: true,
    hasThinkingBudgets: true,
    reasoningControl: "effort",
    thinkingOff: "disabled",
    efforts: ["none", "low", "high"],
    hasOutputSchemas: false,
    hasOutputSchemasWithTools: false,
  });
  assertEquals(read(CAPABILITIES).inputModalities, ["text", "image"]);
  const types = { adaptive: no, enabled: yes, disabled: no, between_tools: yes };
  assertEquals(read({ thinking: { ...yes, types }, effort: no }).facts, {
    canReason: true,
    hasThinkingBudgets: true,
    reasoningControl: "budget",
    thinkingOff: "between_tools",
    efforts: null,
    defaultEffort: null,
  });
  const always = { adaptive: yes, enabled: no, disabled: no, between_tools: no };
  assertEquals(read({ thinking: { ...yes, types: always } }).facts, {
    canReason: true,
    hasThinkingBudgets: false,
    reasoningControl: "effort",
    thinkingOff: "never",
  });
  assertEquals(read({}).facts, undefined);
  assertEquals(read(null).facts, undefined);
});

Deno.test("Google's list says whether a model thinks", () => {
  const factsOf = (thinking: unknown): Json =>
    googleListing.readPage({ models: [{ name: "models/gemini-9", thinking }] }).models[0]?.facts;
  assertEquals([factsOf(true), factsOf(false)], [{ canReason: true }, { canReason: false }]);
  assert([undefined, null, "yes", 1].every((thinking) => factsOf(thinking) === undefined));
});
