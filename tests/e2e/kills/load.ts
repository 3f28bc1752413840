import { type Money, readMoney } from "../../../src/platform/lib/basics/money.ts";
import { withPatience } from "../../support/patience.ts";

/** Prices of the catalog under load. A text call costs the request and its output; the prompt is free. */
export const PRICES = {
  textRequest: "0.001",
  textToken: "0.00001",
  image: "0.04",
  cacheToken: "0.000001",
} as const;

const WORDS = 12;
/** Enough text for the minimum size of the vendor's caches. */
const CACHED_TEXT = "lighthouse ".repeat(1_200);

/** Kinds of calls that are charged individually. */
export type CallKind = "text" | "image" | "cache";

/** Complete responses received by callers, and their cost. */
export interface Acknowledged {
  readonly calls: Record<CallKind, number>;
  readonly cost: Record<CallKind, Money>;
}

/** Returns empty counters. */
export function nothingAcknowledged(): Acknowledged {
  return { calls: { text: 0, image: 0, cache: 0 }, cost: { text: 0n, image: 0n, cache: 0n } };
}

/** Address and credentials of the load. */
export interface LoadTarget {
  readonly address: string;
  readonly key: string;
  readonly adminKey: string;
  /** Callback address of the videos. */
  readonly callbackUrl: string;
  /** Whether the gateway may answer so now. Default: it may not. */
  readonly mayFail?: (status: number) => boolean;
}

/**
 * Calls for texts, images and caches during one run of the gateway. Calls interrupted by a kill are not acknowledged.
 */
export class Load {
  #stopped = false;

  constructor(readonly target: LoadTarget, readonly acknowledged: Acknowledged) {}

  /** Makes one call of each kind at a time until {@linkcode Load.stop}. */
  async run(): Promise<void> {
    await Promise.all([
      this.#repeat(() => this.#streamedText()),
      this.#repeat(() => this.#wholeText()),
      this.#repeat(() => this.#image()),
      this.#repeat(() => this.#cache()),
    ]);
  }

  /** Starts no more calls. */
  stop(): void {
    this.#stopped = true;
  }

  async #repeat(call: () => Promise<void>): Promise<void> {
    while (!this.#stopped) await this.#attempt(call);
  }

  /** A call interrupted by the kill fails here and is not counted. */
  async #attempt(call: () => Promise<void>): Promise<void> {
    try {
      await withPatience("a call for a text, an image or a cache", call());
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }

  async #streamedText(): Promise<void> {
    const prompt = `Say it [[words ${WORDS}]] [[gap 15]]`;
    const body = { model: "load/text", max_tokens: 64, stream: true, messages: [{ role: "user", content: prompt }] };
    const answer = await this.#post("/msgcompat/v1/messages", body);
    const text = await answer.text();
    if (answer.status === 200 && text.includes("event: message_stop")) this.#text(WORDS);
  }

  async #wholeText(): Promise<void> {
    const prompt = `Say it [[words ${WORDS}]] [[stall ${Math.floor(Math.random() * 200)}]]`;
    const body = { model: "load/text", max_tokens: 64, messages: [{ role: "user", content: prompt }] };
    const answer = await this.#post("/v1/chat/completions", body);
    const { usage } = await answer.json();
    if (answer.status === 200) this.#text(usage.completion_tokens);
  }

  async #image(): Promise<void> {
    const body = { model: "load/image", prompt: "A lighthouse [[stall 50]]", quality: "low" };
    const answer = await this.#post("/v1/images/generations", body);
    await answer.text();
    if (answer.status === 200) this.#add("image", readMoney(PRICES.image));
  }

  async #cache(): Promise<void> {
    const contents = [{ role: "user", parts: [{ text: CACHED_TEXT }] }];
    const answer = await this.#post("/gencompat/v1beta/cachedContents", { model: "load/cache", contents, ttl: "600s" });
    const { usageMetadata } = await answer.json();
    if (answer.status === 200) {
      this.#add("cache", BigInt(usageMetadata.totalTokenCount) * readMoney(PRICES.cacheToken));
    }
  }

  #text(outputTokens: number): void {
    this.#add("text", readMoney(PRICES.textRequest) + BigInt(outputTokens) * readMoney(PRICES.textToken));
  }

  #add(kind: CallKind, cost: Money): void {
    this.acknowledged.calls[kind]++;
    this.acknowledged.cost[kind] += cost;
  }

  #post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const { address, key } = this.target;
    return fetch(address + path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "msg-version": "2023-06-01",
        ...headers,
      },
      body: JSON.stringify(body),
    });
  }
}
