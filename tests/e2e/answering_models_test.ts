import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { builtInModelAt } from "../../src/vendors/catalog/built_in.ts";
import { accountMoney, eventually } from "../support/account_money.ts";
import { startTestGateway, type TestGateway, textModel } from "../support/gateway.ts";
import { skipReplyChecks } from "../support/reply_checks.ts";
import { answer, startScriptedUpstream, STREAM_HEAD, type WireRequest } from "../support/scripted_upstream.ts";
import {
  CALLER_PROTOCOLS,
  type CallerProtocol,
  CHAT,
  CONTENT,
  type Json,
  MESSAGES,
  RESPONSES,
  sendAs,
} from "./caller_protocols.ts";

const KINDS: Readonly<Record<CallerProtocol["name"], string>> = {
  chat: "openai",
  responses: "openai",
  messages: "anthropic",
  content: "google",
};

/** A reply of 1,000 and 10 tokens by a model, as the vendors of each format send it. */
function replyBy(name: CallerProtocol["name"], model: unknown): Json {
  switch (name) {
    case "chat": {
      const choices = [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }];
      const usage = { prompt_tokens: 1_000, completion_tokens: 10 };
      return { id: "c", object: "chat.completion", created: 1, model, choices, usage };
    }
    case "responses": {
      const content = [{ type: "output_text", text: "hi", annotations: [] }];
      const output = [{ type: "message", id: "msg_1", role: "assistant", status: "completed", content }];
      const usage = { input_tokens: 1_000, output_tokens: 10 };
      return { id: "r", object: "response", created_at: 1, model, status: "completed", output, usage };
    }
    case "messages": {
      const usage = { input_tokens: 1_000, output_tokens: 10 };
      const stop = { stop_reason: "end_turn", stop_sequence: null };
      return {
        id: "m",
        type: "message",
        role: "assistant",
        model,
        content: [{ type: "text", text: "hi" }],
        ...stop,
        usage,
      };
    }
    case "content": {
      const candidates = [{ content: { role: "model", parts: [{ text: "hi" }] }, finishReason: "STOP", index: 0 }];
      const usageMetadata = { promptTokenCount: 1_000, candidatesTokenCount: 10 };
      return { candidates, modelVersion: model, usageMetadata };
    }
  }
}

/** The same as a stream. */
function streamBy(name: CallerProtocol["name"], model: unknown): string {
  const reply = replyBy(name, model);
  const frames: Json[] = {
    chat: () => {
      const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model };
      return [
        { ...chunk, choices: [{ index: 0, delta: { role: "assistant", content: "hi" }, finish_reason: null }] },
        { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
        { ...chunk, choices: [], usage: reply.usage },
      ];
    },
    responses: () => [
      { type: "response.created", response: { ...reply, output: [], usage: null, status: "in_progress" } },
      { type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "msg_1", delta: "hi" },
      { type: "response.completed", response: reply },
    ],
    messages: () => [
      { type: "message_start", message: { ...reply, content: [], stop_reason: null } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hi" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: reply.usage },
      { type: "message_stop" },
    ],
    content: () => [reply],
  }[name]();
  const lines = frames.map((frame) =>
    `${frame.type ? `event: ${frame.type}\n` : ""}data: ${JSON.stringify(frame)}\n\n`
  );
  return STREAM_HEAD + lines.join("") + (name === "chat" ? "data: [DONE]\n\n" : "");
}

interface Stage {
  readonly gateway: TestGateway;
  readonly seen: readonly WireRequest[];
  /** Sets the model that replies name. */
  answerAs(model: unknown): void;
}

interface StageOptions {
  readonly isolates?: number;
  readonly names?: readonly [asked: string, other: string];
  readonly asked?: Readonly<Record<string, unknown>>;
  /** The provider's name. Default: one that has no built-in models. */
  readonly provider?: string;
  readonly models?: readonly Readonly<Record<string, unknown>>[];
}

const OTHER_PRICING = { prompt: "0.000003", completion: "0.000006" };

/** A vendor of one format with two models, of which the second costs three times as much. */
async function withVendor(
  vendor: CallerProtocol,
  { isolates = 1, names: [asked, other] = ["asked-1", "other-1"], provider: at = "vendor", ...options }: StageOptions,
  test: (stage: Stage) => Promise<void>,
): Promise<void> {
  let model: unknown = asked;
  const upstream = startScriptedUpstream(async (side) => {
    for (let request = await side.request(); request !== null; request = await side.request()) {
      const isStream = request.path.includes("streamGenerateContent") || /"stream":\s*true/.test(request.body);
      await side.say(
        isStream ? streamBy(vendor.name, model) : answer(200, JSON.stringify(replyBy(vendor.name, model))),
      );
      if (isStream) return;
    }
  });
  const speaks = KINDS[vendor.name] === "openai" ? { speaks: vendor.name } : {};
  const provider = {
    kind: KINDS[vendor.name],
    base_url: upstream.baseUrl,
    api_key: "vendor-key",
    quirks: [],
    ...speaks,
  };
  const served = (id: string, name: string) => ({
    ...textModel(id, [at]),
    serves: [{ provider: at, model: name }],
  });
  const gateway = await startTestGateway({
    isolates,
    config: {
      request_log: {},
      providers: { [at]: provider },
      models: [
        { ...served("vendor/asked", asked), ...options.asked },
        ...options.models ?? [{ ...served("vendor/other", other), pricing: OTHER_PRICING }],
      ],
    },
  });
  skipReplyChecks(gateway.address);
  try {
    await test({ gateway, seen: upstream.seen, answerAs: (next) => model = next });
  } finally {
    await gateway.stop();
    await upstream.stop();
  }
}

/** The cost of 1,000 and 10 tokens in units of 10^-10 USD. */
const OWN_COST = 10_200_000n;
const OTHER_COST = 30_600_000n;

async function costOf(gateway: TestGateway, face: CallerProtocol, stream: boolean, extra = {}): Promise<bigint> {
  const before = await accountMoney(gateway).balance();
  const { status, text } = await sendAs(face, gateway, { model: "vendor/asked", stream, extra });
  assertEquals(status, 200, text);
  return before - await accountMoney(gateway).balance();
}

const noted = ({ logLines }: TestGateway) => logLines.filter((line) => line.includes('"other_model_answered"'));

async function adminModel(gateway: TestGateway): Promise<Json> {
  const headers = { authorization: `Bearer ${gateway.adminKey}` };
  const { data } = await (await fetch(`${gateway.address}/admin/v1/models`, { headers })).json();
  return data.find(({ id }: Json) => id === "vendor/asked");
}

for (const isolates of [1, 2]) {
  for (const vendor of [CHAT, RESPONSES, MESSAGES, CONTENT]) {
    Deno.test(`the model that a reply of a ${vendor.name} vendor names decides on the price, isolates ${isolates}`, async () => {
      await withVendor(vendor, { isolates }, async ({ gateway, answerAs }) => {
        for (const face of CALLER_PROTOCOLS) {
          for (const stream of [false, true]) {
            const what = `${face.name} ${stream ? "stream" : "whole"}`;
            answerAs("asked-1-2026-11-03");
            assertEquals(await costOf(gateway, face, stream), OWN_COST, what);
            answerAs("other-1-20261103");
            assertEquals(await costOf(gateway, face, stream), OTHER_COST, what);
            answerAs("stranger");
            assertEquals(await costOf(gateway, face, stream), OWN_COST, what);
          }
        }
        const lines = await eventually(() => noted(gateway).length === 2 && noted(gateway));
        assertStringIncludes(lines.join(), '"ref":"other-1-20261103"');
        assertStringIncludes(lines.join(), '"ref":"stranger"');
      });
    });

    Deno.test(`what is no name of a model has no effect at a ${vendor.name} vendor, isolates ${isolates}`, async () => {
      await withVendor(vendor, { isolates }, async ({ gateway, answerAs }) => {
        for (const odd of [null, 7, "", { a: 1 }, ["other-1"], "other-1 ".repeat(100_000), "other-1\n"]) {
          answerAs(odd);
          for (const stream of [false, true]) {
            assertEquals(await costOf(gateway, vendor, stream), OWN_COST, JSON.stringify(odd)?.slice(0, 40));
          }
        }
        assertEquals(noted(gateway), []);
      });
    });
  }

  Deno.test(`facts of the model that answers apply to later requests and are shown, isolates ${isolates}`, async () => {
    const names = ["gemini-2.5-flash", "gemini-3.8-flash"] as const;
    await withVendor(CONTENT, { isolates, names }, async ({ gateway, seen, answerAs }) => {
      const thinking = async () => {
        await costOf(gateway, CHAT, false, { reasoning_effort: "low" });
        return JSON.parse(seen.at(-1)?.body ?? "").generationConfig.thinkingConfig;
      };
      answerAs("gemini-2.5-flash-preview-09-2025");
      assert("thinkingBudget" in await thinking());
      answerAs("gemini-3.8-flash");
      assert("thinkingBudget" in await thinking());
      await eventually(async () => (await thinking()).thinkingLevel === "LOW");
      const { providers: [shown] } = await adminModel(gateway);
      assertEquals(shown.answered_by, "gemini-3.8-flash");
      assert(shown.facts.every(({ facts }: Json) => facts.reasoning_control !== "budget"));
      // A vendor that takes the redirect back.
      answerAs("gemini-2.5-flash");
      await eventually(async () => "thinkingBudget" in await thinking());
      assertEquals(noted(gateway).length, 1);
    });
  });
}

Deno.test("a request that another model answered is explained with that model", async () => {
  await withVendor(CHAT, {}, async ({ gateway, answerAs }) => {
    answerAs("other-1");
    const { headers } = await sendAs(CHAT, gateway, { model: "vendor/asked" });
    const authorization = `Bearer ${gateway.adminKey}`;
    const path = `/admin/v1/requests/${headers.get("x-service-request-id")}`;
    const logged = await eventually(async () => {
      const response = await fetch(gateway.address + path, { headers: { authorization } });
      return response.status === 200 ? await response.json() : (await response.body?.cancel(), null);
    });
    assertEquals([logged.served_model, logged.answered_by], ["vendor/asked", "other-1"]);
  });
});

Deno.test("the reservation covers the models that answered before, and the first charge is at most the reservation", async () => {
  await withVendor(CHAT, {}, async ({ gateway, answerAs }) => {
    answerAs("other-1");
    const extra = { max_tokens: 16 };
    const first = await costOf(gateway, CHAT, false, extra);
    assert(first >= OWN_COST && first < OTHER_COST, `${first}`);
    const before = await reservedFor(gateway, extra);
    assertEquals(await costOf(gateway, CHAT, false, extra), OTHER_COST);
    assert(before > 0n);
  });
});

/** The estimate of a dry run, in units of 10^-10 USD. */
async function reservedFor(gateway: TestGateway, extra: Readonly<Record<string, unknown>>): Promise<bigint> {
  const { json } = await sendAs(CHAT, gateway, {
    model: "vendor/asked",
    extra,
    headers: { "x-service-dry-run": "true" },
  });
  return BigInt(Math.round(json.estimate.cost * 1e10));
}

Deno.test("the reservation covers a redirect of the catalog before its date", async () => {
  const redirected_to = { model: "other-1", from: "2099-01-01" };
  const extra = { max_tokens: 1_000 };
  let plain = 0n;
  await withVendor(CHAT, {}, async ({ gateway }) => void (plain = await reservedFor(gateway, extra)));
  await withVendor(CHAT, { asked: { redirected_to } }, async ({ gateway, answerAs }) => {
    assert(await reservedFor(gateway, extra) > 2n * plain);
    answerAs("other-1");
    assertEquals(await costOf(gateway, CHAT, false, extra), OTHER_COST);
  });
});

Deno.test("a built-in model of the vendor has its price, and one of another vendor has none", async () => {
  const names = ["gemini-2.5-flash", "-"] as const;
  await withVendor(CONTENT, { names, models: [] }, async ({ gateway, answerAs }) => {
    // The provider is not at Google's address and has another name, so its models are not known to be Google's.
    answerAs("gemini-3.6-flash");
    assertEquals(await costOf(gateway, CONTENT, false), OWN_COST);
  });
  await withVendor(CONTENT, { names, models: [], provider: "google" }, async ({ gateway, answerAs }) => {
    answerAs("gpt-6-sol");
    assertEquals(await costOf(gateway, CONTENT, false), OWN_COST);
    answerAs("gemini-3.6-flash");
    const pricing = builtInModelAt("google", "gemini-3.6-flash", Date.now())?.pricing;
    const expected = 1_000 * Number(pricing?.prompt) + 10 * Number(pricing?.completion);
    assertEquals(await costOf(gateway, CONTENT, false), BigInt(Math.round(expected * 1e10)));
  });
});
