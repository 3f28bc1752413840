import type { SeededRandom } from "./random.ts";

/** The context of the vendor's models. */
export const CONTEXT_TOKENS = 20_000;

/** How a vendor behaves: an obeying one respects the limits of requests, a hostile one reports any usage. */
export type VendorBehaviour = "obeying" | "hostile";

/** A vendor of texts, images and cached contents. */
export interface WalkVendor {
  readonly baseUrl: string;
  stop(): Promise<void>;
}

/** Impossible counters. */
const ABSURD = [-5, 0, 0.5, 1e9, 1e18, 1e308, "12", null] as const;

/**
 * A vendor with random usage, cuts and failures. It supports the chat format, streamed and whole, the Images API, and
 * the content format with cached contents.
 */
export function startWalkVendor(random: SeededRandom, manner: VendorBehaviour): WalkVendor {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const text = await request.text();
    const body = text === "" ? {} : JSON.parse(text);
    if (random.chance(0.1)) {
      return Response.json({ error: { message: "busy" } }, { status: random.pick([429, 500, 503]) });
    }
    const usage = new Usage(random, manner, text.length, body);
    if (pathname.endsWith("/chat/completions")) {
      const tier = body.service_tier === undefined ? {} : { service_tier: body.service_tier };
      return body.stream ? chatStream(usage, random, tier) : chatReply(usage, tier);
    }
    if (pathname.endsWith("/images/generations")) return pictures(usage, body.n ?? 1);
    if (pathname.endsWith("/cachedContents")) return cache(usage, random);
    return contentReply(usage);
  });
  return { baseUrl: `http://127.0.0.1:${server.addr.port}`, stop: () => server.shutdown() };
}

/** Counters of one reply: random up to the limits of the request, or above them. */
class Usage {
  constructor(
    readonly random: SeededRandom,
    readonly manner: VendorBehaviour,
    readonly bytes: number,
    // deno-lint-ignore no-explicit-any -- whatever the gateway sent
    readonly body: any,
  ) {}

  get prompt(): unknown {
    const namesFile = JSON.stringify(this.body).includes("fileData") || this.body.cachedContent;
    const most = namesFile ? CONTEXT_TOKENS : Math.min(CONTEXT_TOKENS, Math.floor(this.bytes / 2));
    return this.#counter(Math.max(1, most));
  }

  get output(): unknown {
    const limit = this.body.max_completion_tokens ?? this.body.max_tokens ??
      this.body.generationConfig?.maxOutputTokens ?? 4_000;
    return this.#counter(limit * (this.body.n ?? this.body.generationConfig?.candidateCount ?? 1));
  }

  /** Tokens of images; the vendor's highest quality needs 6,240 of them. */
  pictures(count: number): unknown {
    return this.#counter(6_240 * count);
  }

  #counter(most: number): unknown {
    if (this.manner === "hostile" && this.random.chance(0.3)) return this.random.pick(ABSURD);
    const tokens = this.random.between(1, most);
    return this.manner === "hostile" && this.random.chance(0.3) ? tokens * 3 : tokens;
  }
}

const TEXT = "one two three";

/** The tier that served, which is the requested one. */
type Served = Readonly<Record<string, unknown>>;

function chatReply(usage: Usage, tier: Served): Response {
  const message = { role: "assistant", content: TEXT };
  const { prompt: prompt_tokens, output: completion_tokens } = usage;
  return Response.json({
    ...{ id: "c", object: "chat.completion", created: 1, model: "m", ...tier },
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: { prompt_tokens, completion_tokens },
  });
}

/** A stream that may end after any frame. */
function chatStream(usage: Usage, random: SeededRandom, tier: Served): Response {
  const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m", ...tier };
  const frames = [
    ...TEXT.split(" ").map((content) => ({
      ...chunk,
      choices: [{ index: 0, delta: { content }, finish_reason: null }],
    })),
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    { ...chunk, choices: [], usage: { prompt_tokens: usage.prompt, completion_tokens: usage.output } },
  ].map((frame) => JSON.stringify(frame));
  const all = [...frames, "[DONE]"].map((data) => `data: ${data}\n\n`);
  const sent = random.chance(0.3) ? all.slice(0, random.between(0, all.length - 1)) : all;
  return new Response(sent.join(""), { headers: { "content-type": "text/event-stream" } });
}

/** The smallest PNG: one pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

function pictures(usage: Usage, count: number): Response {
  const output_tokens = usage.pictures(count);
  return Response.json({
    created: 1,
    data: Array.from({ length: count }, () => ({ b64_json: PNG })),
    usage: { input_tokens: 5, input_tokens_details: { text_tokens: 5, image_tokens: 0 }, output_tokens },
  });
}

function cache(usage: Usage, random: SeededRandom): Response {
  const name = `cachedContents/c${random.between(0, 2 ** 31)}`;
  return Response.json({ name, usageMetadata: { totalTokenCount: usage.prompt } });
}

function contentReply(usage: Usage): Response {
  const candidates = [{ content: { role: "model", parts: [{ text: TEXT }] }, finishReason: "STOP", index: 0 }];
  const { prompt: promptTokenCount, output: candidatesTokenCount } = usage;
  return Response.json({ candidates, usageMetadata: { promptTokenCount, candidatesTokenCount } });
}
