import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { accountMoney, eventually } from "../support/account_money.ts";
import { startTestGateway, type TestGateway, textModel } from "../support/gateway.ts";
import { skipReplyChecks } from "../support/reply_checks.ts";
import { answer, type ScriptedUpstream, startScriptedUpstream, STREAM_HEAD } from "../support/scripted_upstream.ts";
import {
  CALLER_PROTOCOLS,
  type CallerProtocol,
  CHAT,
  CONTENT,
  type Json,
  RESPONSES,
  sendAs,
} from "./caller_protocols.ts";

/** Gateways by their number of threads, which tests share. */
const shared = new Map<number, Promise<TestGateway>>();

/** Runs a test with a gateway in front of the simulated Google, with a model that goes on in further requests. */
async function withLongModel(
  test: (gateway: TestGateway) => Promise<void>,
  { isolates = 1, balance }: { readonly isolates?: number; readonly balance?: string } = {},
): Promise<void> {
  if (balance === undefined) {
    const started = shared.get(isolates) ?? startLongModel({ isolates });
    shared.set(isolates, started);
    return await test(await started);
  }
  const gateway = await startLongModel({ isolates, balance });
  try {
    await test(gateway);
  } finally {
    await gateway.stop();
  }
}

async function startLongModel(options: { readonly isolates: number; readonly balance?: string }): Promise<TestGateway> {
  return await startTestGateway({
    ...options,
    config: {
      models: [{
        ...textModel("sandbox/long-1", ["sandbox-google"]),
        serves: [{ provider: "sandbox-google", model: "gemini-4-argon" }],
      }],
    },
  });
}

const MODEL = "sandbox/long-1";
const WORDS = Array.from({ length: 25 }, (_, index) => `word${index + 1}`).join(" ");

/** The text of a reply of any format: the words that it has, whole or in pieces. */
function wordsIn(text: string, stream: boolean): string {
  const data = stream
    ? text.split("\n").filter((line) => /^data: ?\{/.test(line)).map((line) => line.slice(5))
    : [text];
  return data.map((json) => textsIn(JSON.parse(json), stream).join("")).join("").trim();
}

/** Texts of parts; of a stream only of deltas, since ends repeat them. */
function textsIn(value: Json, isDelta: boolean): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => textsIn(each, isDelta));
  if (value === null || typeof value !== "object") return [];
  if (value.type === "response.output_text.delta") return [value.delta];
  if (typeof value.type === "string" && value.type.startsWith("response.")) return [];
  const own = [value.text, value.content].filter((each) => typeof each === "string" && each.includes("word"));
  return [...own, ...Object.values(value).flatMap((each) => textsIn(each, isDelta))];
}

/** The usage of the charge of a request. */
async function usageOf(gateway: TestGateway, { headers }: { readonly headers: Headers }) {
  const id = headers.get("x-service-request-id");
  const charge = await eventually(async () => {
    const latest = await accountMoney(gateway).latestCharge();
    return latest?.request_id === id && latest;
  });
  const sum = (...names: string[]) => names.reduce((all, name) => all + Number(charge.usage[name] ?? 0), 0);
  return { prompt: sum("fresh_tokens", "cache_read_tokens", "cache_write5m_tokens"), output: sum("output_tokens") };
}

function stopIn({ text, json }: { text: string; json: Json }, face: CallerProtocol, stream: boolean): string {
  const reasons: Readonly<Record<string, RegExp>> = {
    chat: /"finish_reason":"(\w+)"/g,
    messages: /"stop_reason":"(\w+)"/g,
    content: /"finishReason":"(\w+)"/g,
  };
  const source = stream ? text : JSON.stringify(json);
  if (face === RESPONSES) return source.includes('"reason":"max_output_tokens"') ? "incomplete" : "completed";
  return [...source.matchAll(reasons[face.name] ?? /never/g)].at(-1)?.[1] ?? "none";
}

const ENDS = { chat: "stop", responses: "completed", messages: "end_turn", content: "STOP" };
const CUTS = { chat: "length", responses: "incomplete", messages: "max_tokens", content: "MAX_TOKENS" };

const LIMITS: Readonly<Record<CallerProtocol["name"], (tokens: number) => Record<string, unknown>>> = {
  chat: (max_tokens) => ({ max_tokens }),
  responses: (max_output_tokens) => ({ max_output_tokens }),
  messages: (max_tokens) => ({ max_tokens }),
  content: (maxOutputTokens) => ({ generationConfig: { maxOutputTokens } }),
};

for (const isolates of [1, 2]) {
  for (const face of CALLER_PROTOCOLS) {
    for (const stream of [false, true]) {
      const kind = `${face.name} ${stream ? "stream" : "whole"}, isolates ${isolates}`;

      Deno.test(`a reply above the vendor's limit for one request goes on, at the usage of all requests: ${kind}`, () =>
        withLongModel(async (gateway) => {
          skipReplyChecks(gateway.address);
          const short = await sendAs(face, gateway, { model: MODEL, text: "[[hop 99]] [[words 25]]", stream });
          const { prompt } = await usageOf(gateway, short);
          const reply = await sendAs(face, gateway, { model: MODEL, text: "[[hop 10]] [[words 25]]", stream });
          assertEquals(reply.status, 200, reply.text);
          assertEquals(wordsIn(reply.text, stream), WORDS);
          assertEquals(stopIn(reply, face, stream), ENDS[face.name]);
          // The model thinks with five of its words.
          assertEquals(await usageOf(gateway, reply), { prompt: 3 * prompt + 30, output: 30 });
          const hops = gateway.sandbox.requests.slice(-3).map(({ body }) =>
            (body as Json).continuationToken !== undefined
          );
          assertEquals(hops, [false, true, true]);
        }, { isolates }));

      Deno.test(`the caller's limit applies to all requests of a reply: ${kind}`, () =>
        withLongModel(async (gateway) => {
          skipReplyChecks(gateway.address);
          const extra = LIMITS[face.name](17);
          const reply = await sendAs(face, gateway, { model: MODEL, text: "[[hop 10]] [[words 25]]", stream, extra });
          assertEquals(wordsIn(reply.text, stream).split(" ").length, 12);
          assertEquals(stopIn(reply, face, stream), CUTS[face.name]);
          assertEquals((await usageOf(gateway, reply)).output, 17);
        }, { isolates }));
    }
  }
}

Deno.test("a call after the vendor's limit for one request reaches callers of all formats", () =>
  withLongModel(async (gateway) => {
    const tools = {
      chat: [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }],
      responses: [{ type: "function", name: "look", parameters: { type: "object", properties: {} } }],
      messages: [{ name: "look", input_schema: { type: "object", properties: {} } }],
      content: [{ functionDeclarations: [{ name: "look", parametersJsonSchema: { type: "object" } }] }],
    };
    for (const face of CALLER_PROTOCOLS) {
      for (const stream of [false, true]) {
        const { text } = await sendAs(face, gateway, {
          model: MODEL,
          text: '[[hop 4]] [[words 4]] [[tool look {"at":"sea"}]]',
          stream,
          extra: { tools: tools[face.name] },
        });
        const what = `${face.name} ${stream}`;
        for (const part of ["word4", "look", "sea"]) assertStringIncludes(text, part, what);
        assert((gateway.sandbox.requests.at(-1)?.body as Json).continuationToken, what);
      }
    }
  }));

Deno.test("a reply does not go on beyond what the reservation covers", () =>
  withLongModel(async (gateway) => {
    skipReplyChecks(gateway.address);
    const before = await accountMoney(gateway).balance();
    const sentBefore = gateway.sandbox.requests.length;
    const reply = await sendAs(CHAT, gateway, {
      model: MODEL,
      text: "[[hop 1]] [[words 400]]",
      extra: { max_tokens: 500 },
    });
    assertEquals(reply.json.choices[0].finish_reason, "length");
    const hops = gateway.sandbox.requests.slice(sentBefore).filter(({ body }) => (body as Json)?.contents).length;
    assert(hops > 1 && hops <= 64, `${hops} requests`);
    assert(await accountMoney(gateway).balance() < before);
  }));

Deno.test("a caller that goes on by itself gets the end and the token of each request", () =>
  withLongModel(async (gateway) => {
    const first = await sendAs(CONTENT, gateway, {
      model: MODEL,
      text: "[[hop 10]] [[words 25]]",
      extra: { continuationToken: btoa('{"start":10}') },
    });
    assertEquals(first.json.candidates[0].finishReason, "CONTINUATION");
    assertEquals(atob(first.json.candidates[0].continuationToken), '{"start":20}');
  }));

interface Scripted {
  readonly gateway: TestGateway;
  readonly vendor: ScriptedUpstream;
}

/** A gateway in front of a vendor that gives these answers in turn, whole or as streams. */
async function withAnswers(answers: readonly string[], test: (stage: Scripted) => Promise<void>): Promise<void> {
  let next = 0;
  const vendor = startScriptedUpstream(async (side) => {
    while (await side.request() !== null) {
      const bytes = answers[Math.min(next++, answers.length - 1)] ?? "";
      await side.say(bytes);
      if (bytes.startsWith(STREAM_HEAD)) return;
    }
  });
  const gateway = await startTestGateway({
    config: {
      providers: {
        vendor: { kind: "google", base_url: vendor.baseUrl, api_key: "vendor-key" },
        other: { kind: "google", base_url: vendor.baseUrl, api_key: "vendor-key" },
      },
      models: [{
        ...textModel("vendor/long", []),
        serves: [{ provider: "vendor", model: "gemini-4-argon" }, {
          provider: "other",
          model: "gemini-4-argon",
          weight: 0,
        }],
      }],
    },
  });
  skipReplyChecks(gateway.address);
  try {
    await test({ gateway, vendor });
  } finally {
    await gateway.stop();
    await vendor.stop();
  }
}

function chunk(parts: readonly unknown[], end: Record<string, unknown>, counts: readonly [number, number]): Json {
  const [promptTokenCount, candidatesTokenCount] = counts;
  const totalTokenCount = promptTokenCount + candidatesTokenCount;
  return {
    candidates: [{ content: { role: "model", parts }, index: 0, ...end }],
    usageMetadata: { promptTokenCount, candidatesTokenCount, totalTokenCount },
    modelVersion: "gemini-4-argon",
  };
}

const streamOf = (chunks: readonly Json[]) =>
  STREAM_HEAD + chunks.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`).join("");
const wholeOf = (body: Json) => answer(200, JSON.stringify(body));
const PAUSE = { finishReason: "CONTINUATION", continuationToken: "dG9rZW4=" };
const REFUSED = answer(400, JSON.stringify({ error: { code: 400, message: "expired", status: "INVALID_ARGUMENT" } }));

for (const face of CALLER_PROTOCOLS) {
  for (const stream of [false, true]) {
    const kind = `${face.name} ${stream ? "stream" : "whole"}`;
    const first = chunk([{ text: "word1" }], PAUSE, [100, 10]);
    const paused = stream ? streamOf([first]) : wholeOf(first);

    Deno.test(`a failure of a further request charges what was made, and no other provider is tried: ${kind}`, () =>
      withAnswers([paused, REFUSED, wholeOf(chunk([{ text: "free" }], { finishReason: "STOP" }, [1, 1]))], async (
        { gateway, vendor },
      ) => {
        const reply = await sendAs(face, gateway, { model: "vendor/long", stream });
        assertEquals(reply.status, stream ? 200 : 502, reply.text);
        assertMatch(reply.text, /error/i);
        assert(!reply.text.includes("free"));
        assertEquals(vendor.seen.length, 2);
        assertEquals(await usageOf(gateway, reply), { prompt: 100, output: 10 });
      }));

    Deno.test(`a vendor that makes no progress ends the reply: ${kind}`, () =>
      withAnswers([paused], async ({ gateway, vendor }) => {
        const reply = await sendAs(face, gateway, { model: "vendor/long", stream });
        assertEquals(reply.status, 200, reply.text);
        assertEquals(vendor.seen.length, 2);
        assertEquals(stopIn(reply, face, stream), face === CONTENT ? "CONTINUATION" : CUTS[face.name]);
        assertEquals(await usageOf(gateway, reply), { prompt: 200, output: 20 });
      }));
  }
}

Deno.test("arguments of a call that are split between two requests are one call", async () => {
  const open = { functionCall: { name: "look", id: "c1", willContinue: true } };
  const piece = (text: string, willContinue: boolean) => ({
    functionCall: { partialArgs: [{ jsonPath: "$.at", stringValue: text, willContinue: true }], willContinue },
  });
  const answers = [
    streamOf([chunk([open, piece("the ", true)], PAUSE, [100, 10])]),
    streamOf([chunk([piece("sea", true), { functionCall: {} }], { finishReason: "STOP" }, [110, 5])]),
  ];
  const tools = [{
    type: "function",
    name: "look",
    parameters: { type: "object", properties: { at: { type: "string" } } },
  }];
  await withAnswers(answers, async ({ gateway }) => {
    const reply = await sendAs(RESPONSES, gateway, { model: "vendor/long", stream: true, extra: { tools } });
    assertStringIncludes(reply.text, String.raw`{\"at\":\"the sea\"}`);
    assertEquals(await usageOf(gateway, reply), { prompt: 210, output: 15 });
  });
});

Deno.test("a stream that pauses in pieces of bytes, with a token before its end, goes on", async () => {
  const { continuationToken, ...end } = PAUSE;
  const stream = streamOf([
    chunk([{ text: "word1 " }], { continuationToken }, [100, 1]),
    chunk([{ text: "word2 " }], end, [100, 2]),
    { usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 3, totalTokenCount: 103 } },
  ]);
  const last = streamOf([chunk([{ text: "word3" }], { finishReason: "STOP" }, [103, 4])]);
  let requests = 0;
  const vendor = startScriptedUpstream(async (side) => {
    if (await side.request() === null) return;
    const bytes = requests++ === 0 ? stream : last;
    for (let at = 0; at < bytes.length; at += 7) await side.say(bytes.slice(at, at + 7));
  });
  const gateway = await startTestGateway({
    config: {
      providers: { vendor: { kind: "google", base_url: vendor.baseUrl, api_key: "k" } },
      models: [{ ...textModel("vendor/long", []), serves: [{ provider: "vendor", model: "gemini-4-argon" }] }],
    },
  });
  skipReplyChecks(gateway.address);
  try {
    for (const face of [CHAT, CONTENT]) {
      requests = 0;
      const reply = await sendAs(face, gateway, { model: "vendor/long", stream: true });
      assertEquals(wordsIn(reply.text, true), "word1 word2 word3");
      assertEquals(stopIn(reply, face, true), ENDS[face.name]);
      assertEquals(await usageOf(gateway, reply), { prompt: 203, output: 7 });
    }
  } finally {
    await gateway.stop();
    await vendor.stop();
  }
});

Deno.test("the gateways of these tests stop", async () => {
  for (const gateway of shared.values()) await (await gateway).stop();
});
