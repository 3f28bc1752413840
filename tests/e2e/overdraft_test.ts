import { assert, assertEquals } from "@std/assert";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { startTestGateway, type TestGateway, textModel } from "../support/gateway.ts";
import { itemAt } from "../support/items.ts";
import { accountMoney, eventually } from "../support/account_money.ts";
import {
  answer,
  type ScriptedUpstream,
  startScriptedUpstream,
  STREAM_HEAD,
  type WireRequest,
} from "../support/scripted_upstream.ts";
import {
  CALLER_PROTOCOLS,
  type CallerProtocol,
  CHAT,
  CONTENT,
  MESSAGES,
  type ProtocolResponse,
  RESPONSES,
  sendAs,
} from "./caller_protocols.ts";

/** Providers and models in addition to those under test. */
interface OtherParts {
  readonly providers: Record<string, unknown>;
  readonly models: readonly unknown[];
}

/** A gateway in front of a vendor of one wire format whose replies the test sets. */
async function gatewayBefore(
  vendor: { readonly baseUrl: string },
  options: {
    readonly kind: string;
    readonly balance: string;
    readonly model?: Record<string, unknown> | undefined;
    readonly provider?: Record<string, unknown> | undefined;
    readonly others?: OtherParts | undefined;
  },
): Promise<TestGateway> {
  const { kind, balance, model, provider, others } = options;
  const providers = {
    vendor: {
      kind,
      base_url: vendor.baseUrl,
      api_key: "vendor-key",
      ...kind === "openai" && { speaks: "both" },
      ...provider,
    },
  };
  // A mid-priced model: three dollars per million input tokens, fifteen per million output tokens.
  const pricing = { prompt: "0.000003", completion: "0.000015" };
  const midPriced = {
    ...textModel("vendor/m", ["vendor"]),
    context_length: 200_000,
    pricing,
    top_provider: { max_completion_tokens: 64_000 },
  };
  const models = [{ ...midPriced, ...model }, ...others?.models ?? []];
  return await startTestGateway({ balance, config: { providers: { ...providers, ...others?.providers }, models } });
}

const KINDS: Readonly<Record<CallerProtocol["name"], string>> = {
  chat: "openai",
  responses: "openai",
  messages: "anthropic",
  content: "google",
};

const READY = (
  side: { say(text: string): Promise<boolean>; request(): Promise<WireRequest | null> },
  body: (seen: WireRequest) => string,
) =>
  (async () => {
    for (let seen = await side.request(); seen !== null; seen = await side.request()) {
      await side.say(
        answer(200, body(seen)),
      );
    }
  })();

/** The reply of a vendor that uses everything it was allowed. */
function fullReply(
  face: CallerProtocol,
  { prompt, output }: { readonly prompt: number; readonly output: number },
): string {
  switch (face.name) {
    case "chat":
      return JSON.stringify({
        id: "c",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
        usage: { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output },
      });
    case "responses":
      return JSON.stringify({
        id: "resp_1",
        object: "response",
        created_at: 1,
        model: "m",
        status: "completed",
        output: [{
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "ok", annotations: [] }],
        }],
        usage: { input_tokens: prompt, output_tokens: output, total_tokens: prompt + output },
      });
    case "messages":
      return JSON.stringify({
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [{ type: "text", text: "ok" }],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage: { input_tokens: prompt, output_tokens: output },
      });
    case "content":
      return JSON.stringify({
        candidates: [{ content: { role: "model", parts: [{ text: "ok" }] }, finishReason: "STOP", index: 0 }],
        usageMetadata: { promptTokenCount: prompt, candidatesTokenCount: output, totalTokenCount: prompt + output },
      });
  }
}

/** The limit of output tokens that a request on the wire sets; null for none. */
function limitIn({ body }: WireRequest): number | null {
  const sent = JSON.parse(body);
  return sent.max_completion_tokens ?? sent.max_tokens ?? sent.max_output_tokens ??
    sent.generationConfig?.maxOutputTokens ??
    null;
}

/** A vendor that counts `prompt` tokens and uses the full limit of every choice. */
function obeyingVendor(face: CallerProtocol, prompt: number): ScriptedUpstream {
  return startScriptedUpstream((side) =>
    READY(side, (seen) => {
      const { n = 1, generationConfig } = JSON.parse(seen.body);
      const choices = generationConfig?.candidateCount ?? n;
      // A provider of kind openai is called in either of its author's formats.
      return fullReply(seen.path.endsWith("/responses") ? RESPONSES : face, {
        prompt,
        output: (limitIn(seen) ?? 64_000) * choices,
      });
    })
  );
}

async function withVendor(
  face: CallerProtocol,
  options: {
    readonly balance: string;
    readonly prompt?: number;
    readonly vendor?: ScriptedUpstream;
    readonly model?: Record<string, unknown>;
    readonly provider?: Record<string, unknown>;
    readonly others?: OtherParts;
  },
  test: (gateway: TestGateway, vendor: ScriptedUpstream) => Promise<void>,
): Promise<void> {
  const vendor = options.vendor ?? obeyingVendor(face, options.prompt ?? 100);
  const { balance, model, provider, others } = options;
  const gateway = await gatewayBefore(vendor, { kind: KINDS[face.name], balance, model, provider, others });
  try {
    await test(gateway, vendor);
  } finally {
    await gateway.stop();
    await vendor.stop();
  }
}

const ask = (
  gateway: TestGateway,
  face: CallerProtocol,
  question: Parameters<typeof sendAs>[2] = {},
): Promise<ProtocolResponse> => sendAs(face, gateway, { model: "vendor/m", ...question });

const atOnce = (count: number, call: () => Promise<ProtocolResponse>): Promise<ProtocolResponse[]> =>
  Promise.all(Array.from({ length: count }, call));

const served = (answers: readonly ProtocolResponse[]): number => answers.filter(({ status }) => status === 200).length;

/** Cases in which a request consumes more than its bytes suggest. */
const COSTLY:
  readonly (readonly [what: string, face: CallerProtocol, count: number, extra: Record<string, unknown>])[] = [
    ["a file of 190,000 tokens by its address", CONTENT, 60, {
      contents: [{
        role: "user",
        parts: [{ fileData: { fileUri: "https://files.example/long.txt", mimeType: "text/plain" } }],
      }],
    }],
    ["an earlier response", RESPONSES, 60, { previous_response_id: "resp_0" }],
    ["a document by its address", MESSAGES, 60, {
      messages: [{
        role: "user",
        content: [{ type: "document", source: { type: "url", url: "https://a.example/x.pdf" } }],
      }],
    }],
    ["128 choices", CHAT, 10, { n: 128, max_completion_tokens: 20_000 }],
    ["8 candidates", CONTENT, 10, { generationConfig: { candidateCount: 8, maxOutputTokens: 20_000 } }],
  ];

for (const [what, face, count, extra] of COSTLY) {
  Deno.test(`an account with a cent that names ${what} in ${count} concurrent ${face.name} calls spends no more than its balance`, async () => {
    await withVendor(face, { balance: "0.01", prompt: 190_000 }, async (gateway, vendor) => {
      const answers = await atOnce(count, () => ask(gateway, face, { extra }));
      const refused = answers.filter(({ status }) => status === 402 || status === 404 || status === 400).length;
      assertEquals([refused, vendor.seen.length], [count, 0]);
      assertEquals(await accountMoney(gateway).balance(), 100_000_000n);
    });
  });
}

for (const face of [CHAT, RESPONSES, CONTENT]) {
  Deno.test(`a dollar pays for ten concurrent default ${face.name} calls of a mid-priced model, each with a reported limit`, async () => {
    await withVendor(face, { balance: "1" }, async (gateway, vendor) => {
      const answers = await atOnce(10, () => ask(gateway, face));
      assertEquals(served(answers), 10);
      const told = answers.map(({ headers }) => Number(headers.get("x-service-output-limit")));
      const sent = vendor.seen.map((seen) => limitIn(seen) ?? 0);
      assertEquals(told.toSorted((a, b) => a - b), sent.toSorted((a, b) => a - b));
      assert(told.every((limit) => limit >= 1_024 && limit <= 6_666), told.join());
      assert(await accountMoney(gateway).balance() >= 0n);
    });
  });

  Deno.test(`a rich account's ${face.name} calls get no limit from the gateway`, async () => {
    await withVendor(face, { balance: "25" }, async (gateway, vendor) => {
      const { status, headers } = await ask(gateway, face);
      assertEquals([status, headers.get("x-service-output-limit"), limitIn(itemAt(vendor.seen, 0))], [200, null, null]);
    });
  });
}

for (const vendorFace of [CHAT, MESSAGES, CONTENT]) {
  for (const face of CALLER_PROTOCOLS.filter(({ name }) => name !== vendorFace.name && name !== "messages")) {
    Deno.test(`a ${face.name} caller's limit is translated for a ${vendorFace.name} vendor`, async () => {
      await withVendor(vendorFace, { balance: "1" }, async (gateway, vendor) => {
        const { status, headers } = await ask(gateway, face);
        assertEquals(status, 200);
        // A provider of kind openai supports both of its author's formats.
        const isPassed = vendorFace === CHAT && face === RESPONSES;
        if (!isPassed) assertEquals(headers.get("x-service-output-limit"), String(limitIn(itemAt(vendor.seen, 0))));
      });
    });
  }
}

Deno.test("fields beside the limit stay as they were sent", async () => {
  await withVendor(CONTENT, { balance: "1" }, async (gateway, vendor) => {
    const extra = { generation_config: { temperature: 0.5, max_output_tokens: null } };
    assertEquals((await ask(gateway, CONTENT, { extra })).status, 200);
    const { generation_config: sent, ...rest } = JSON.parse(itemAt(vendor.seen, 0).body);
    assertEquals([sent.temperature, typeof sent.maxOutputTokens, rest.generationConfig], [0.5, "number", undefined]);
  });
});

Deno.test("a caller's limit above the balance is rejected with one that the balance covers", async () => {
  const fields: Readonly<
    Record<CallerProtocol["name"], readonly [string, (tokens: number) => Record<string, unknown>]>
  > = {
    chat: ["max_tokens", (max_tokens) => ({ max_tokens })],
    responses: ["max_output_tokens", (max_output_tokens) => ({ max_output_tokens })],
    messages: ["max_tokens", (max_tokens) => ({ max_tokens })],
    content: ["generationConfig.maxOutputTokens", (maxOutputTokens) => ({ generationConfig: { maxOutputTokens } })],
  };
  for (const face of CALLER_PROTOCOLS) {
    await withVendor(face, { balance: "0.1", prompt: 20 }, async (gateway, vendor) => {
      const [field, limit] = fields[face.name];
      const refused = await ask(gateway, face, { extra: limit(50_000) });
      assertEquals([refused.status, vendor.seen.length], [402, 0]);
      const fitting = Number(/expected at most (\d+)/.exec(refused.json.error.message)?.[1]);
      assert(refused.json.error.message.includes(`"${field}" 50000`), refused.json.error.message);
      assert(fitting > 6_000 && fitting < 6_700, refused.json.error.message);
      // The other number has one digit fewer, so its body is a byte shorter.
      assertEquals((await ask(gateway, face, { extra: limit(fitting) })).status, 200);
      assert(await accountMoney(gateway).balance() >= 0n);
    });
  }
});

Deno.test("a single small call is accepted when the balance covers its prompt and 1,024 tokens", async () => {
  await withVendor(CHAT, { balance: "0.016" }, async (gateway, vendor) => {
    assertEquals((await ask(gateway, CHAT)).headers.get("x-service-output-limit"), "1024");
    assertEquals(limitIn(itemAt(vendor.seen, 0)), 1_024);
  });
  await withVendor(CHAT, { balance: "0.015" }, async (gateway, vendor) => {
    assertEquals([(await ask(gateway, CHAT)).status, vendor.seen.length], [402, 0]);
  });
});

/** The first frames of a stream that sends "one" and then waits. */
const BEGINNINGS: Readonly<Record<CallerProtocol["name"], readonly Record<string, unknown>[]>> = {
  chat: [{
    ...{ id: "c", object: "chat.completion.chunk", created: 1, model: "m" },
    choices: [{ index: 0, delta: { role: "assistant", content: "one" }, finish_reason: null }],
  }],
  responses: [{
    type: "response.output_text.delta",
    output_index: 0,
    content_index: 0,
    item_id: "msg_1",
    delta: "one",
  }],
  messages: [
    { type: "message_start", message: { ...JSON.parse(fullReply(MESSAGES, { prompt: 20, output: 1 })), content: [] } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "one" } },
  ],
  content: [{ candidates: [{ content: { role: "model", parts: [{ text: "one" }] }, index: 0 }] }],
};

/** A vendor that streams one word and then nothing, and reports an excessive usage for whole replies. */
function disobeyingVendor(face: CallerProtocol): ScriptedUpstream {
  return startScriptedUpstream(async (side) => {
    for (let seen = await side.request(); seen !== null; seen = await side.request()) {
      const isStream = JSON.parse(seen.body).stream === true || seen.path.includes("streamGenerateContent");
      if (!isStream) {
        await side.say(answer(200, fullReply(face, { prompt: 1e10, output: 1e10 })));
        continue;
      }
      const frames = BEGINNINGS[face.name].map((frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`);
      await side.say(STREAM_HEAD + frames.join(""));
      return await side.gone();
    }
  });
}

for (const vendorFace of CALLER_PROTOCOLS) {
  for (const face of CALLER_PROTOCOLS) {
    Deno.test(`a ${face.name} stream of an account that a ${vendorFace.name} vendor overdraws ends with an error and a charge`, async () => {
      const kind = vendorFace === CHAT || vendorFace === RESPONSES ? { speaks: vendorFace.name } : {};
      await withVendor(
        vendorFace,
        { balance: "0.5", vendor: disobeyingVendor(vendorFace), provider: kind },
        async (gateway) => {
          const before = await accountMoney(gateway).balance();
          const streaming = await fetch(gateway.address + face.path("vendor/m", true), {
            method: "POST",
            headers: face.headers(gateway.key),
            body: JSON.stringify(face.body("vendor/m", "hello there", true)),
          });
          const reader = streaming.body!.pipeThrough(new TextDecoderStream()).getReader();
          let text = (await reader.read()).value ?? "";
          assertEquals((await ask(gateway, face)).status, 200);
          for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value;
          assert(text.includes("the balance is used up"), text);
          // Other threads log a little later.
          const charges = await eventually(() => {
            const lines = gateway.logLines.filter((line) => line.includes('"cost"'));
            return lines.length >= 2 && lines.map((line) => JSON.parse(line));
          });
          assertEquals(charges.map(({ state }) => state), ["completed", "cut, estimated"]);
          // The maximum of 200,000 and 64,000 tokens, and the delivered part of the stream.
          // Another gateway on the database sees the last charge when it is in the ledger.
          const charged = await eventually(async () => {
            const sum = before - await accountMoney(gateway).balance();
            return sum > 15_600_000_000n && sum;
          });
          assert(charged < 15_610_000_000n, String(charged));
          assertEquals((await ask(gateway, face)).status, 402);
        },
      );
    });
  }
}

Deno.test("a video's hold excludes what an open call has reserved", async () => {
  const sandbox = await startSandbox({ port: 0 });
  const video = { modes: ["text2video"], price_per_second: { default: "0.08" } };
  const config = { ark: { kind: "ark", base_url: sandbox.baseUrls.ark, api_key: "sandbox-key-ark" } };
  const model = { id: "vendor/video", video, serves: [{ provider: "ark", model: "seedance-sandbox" }] };
  const options = { balance: "0.5", vendor: disobeyingVendor(CHAT), others: { providers: config, models: [model] } };
  await withVendor(CHAT, options, async (gateway) => {
    const leaving = new AbortController();
    // Three dollars per million input tokens, fifteen per million output tokens: nearly half of the balance.
    const body = { ...CHAT.body("vendor/m", "hello", true), max_tokens: 16_000 };
    const headers = CHAT.headers(gateway.key);
    const streaming = await fetch(`${gateway.address}/v1/chat/completions`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal: leaving.signal,
    });
    const create = async () => {
      const prompt = "A lighthouse [[queue 0]] [[run 0]]";
      const order = JSON.stringify({ model: "vendor/video", prompt, duration: 5 });
      const response = await fetch(`${gateway.address}/v1/videos`, { method: "POST", headers, body: order });
      await response.body?.cancel();
      return response.status;
    };
    assertEquals(await create(), 402, "0.40 do not fit beside 0.24 of 0.50");
    leaving.abort();
    await streaming.body?.cancel().catch(() => {});
    assertEquals(await eventually(async () => await create() === 202), true);
  });
  await sandbox.stop();
});

Deno.test("an account with a cent creates no cache of a file of unknown size, however many concurrent calls it makes", async () => {
  await withVendor(CONTENT, { balance: "0.01" }, async (gateway, vendor) => {
    const parts = [{ fileData: { fileUri: "https://files.example/long.txt", mimeType: "text/plain" } }];
    const body = JSON.stringify({ model: "vendor/m", contents: [{ role: "user", parts }], ttl: "900s" });
    const create = async () => {
      const path = `${gateway.address}/gencompat/v1beta/cachedContents`;
      const response = await fetch(path, { method: "POST", headers: CONTENT.headers(gateway.key), body });
      await response.body?.cancel();
      return response.status;
    };
    const statuses = await Promise.all(Array.from({ length: 60 }, create));
    assertEquals([new Set(statuses), vendor.seen.length], [new Set([402]), 0]);
    assertEquals(await accountMoney(gateway).balance(), 100_000_000n);
  });
});

Deno.test("an account with a cent makes no images above its balance, however many concurrent calls it makes", async () => {
  const model = {
    text: false,
    image: { series: "default" },
    pricing: { prompt: "0.000005", image_output: "0.00004" },
  };
  await withVendor(CHAT, { balance: "0.01", model }, async (gateway, vendor) => {
    const body = JSON.stringify({ model: "vendor/m", prompt: "a fox", quality: "high", n: 10 });
    const make = async () => {
      const path = `${gateway.address}/v1/images/generations`;
      const response = await fetch(path, { method: "POST", headers: CHAT.headers(gateway.key), body });
      const { error } = await response.json();
      return [response.status, error.type].join(" ");
    };
    const answers = await Promise.all(Array.from({ length: 20 }, make));
    assertEquals([new Set(answers), vendor.seen.length], [new Set(["402 insufficient_credits"]), 0]);
  });
});
