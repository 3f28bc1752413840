import { createParser } from "eventsource-parser";
import { withPatience } from "../../support/patience.ts";
import type { SeededRandom } from "../money_walk/random.ts";
import type { LoadTarget } from "./load.ts";
import type { ReportedTask, VideoFacts } from "./video_facts.ts";
import { orderOf, type VideoOrder } from "./video_orders.ts";

const CREATORS = 3;
const READERS = 4;
/** Interval between two calls of one caller. */
const PAUSE_MS = 15;

/** Returns unique order numbers. */
export type NextNumber = () => number;

/** Creates, polls, cancels, removes, streams events, reads results and recopies during one run of the gateway. */
export class VideoLoad {
  #isStopped = false;
  readonly #left = new AbortController();

  constructor(
    readonly target: LoadTarget,
    readonly facts: VideoFacts,
    readonly random: SeededRandom,
    /** Called with every complete response. */
    readonly onAnswer: () => void,
  ) {}

  /** Runs until {@linkcode VideoLoad.stop}. Creates without a response in an earlier run are repeated first. */
  async run(nextNumber: NextNumber): Promise<void> {
    await Promise.all([
      this.createAgain(),
      ...Array.from({ length: CREATORS }, () => this.#repeat(() => this.#create(this.#newOrder(nextNumber())))),
      ...Array.from({ length: READERS }, () => this.#repeat(() => this.#action())),
    ]);
  }

  /**
   * Repeats the creates with a key that got no response in an earlier run. Their first requests may be under way still,
   * at this gateway or at another one.
   */
  async createAgain(): Promise<void> {
    const again = this.facts.ordersWithoutResponse().filter(({ idempotencyKey }) => idempotencyKey !== null);
    await Promise.all(again.map((order) => this.#attempt(() => this.#create(order, { mayBeUnderWay: true }))));
  }

  /** Starts no more calls and closes streams. */
  stop(): void {
    this.#isStopped = true;
    this.#left.abort();
  }

  /** Creates a video; a repeat with its key returns the same task. */
  async #create(order: VideoOrder, { mayBeUnderWay = false } = {}): Promise<void> {
    this.facts.orders.set(order.number, order);
    const { idempotencyKey: key } = order;
    const answer = await this.#call("POST", "/v1/videos", order.body, key === null ? {} : { "idempotency-key": key });
    const { id } = await answer.json();
    if (answer.status === 409 && mayBeUnderWay) {
      await pause();
      return await this.#create(order, { mayBeUnderWay });
    }
    if (answer.status === 202) this.facts.recordCreated(order, id);
    else if (!this.#mayFail(answer.status)) {
      this.facts.contradictions.push(`create ${order.number} was answered ${answer.status}`);
    }
  }

  /** Polls a task. */
  async #poll(id: string): Promise<ReportedTask | null> {
    const known = this.facts.knownOf(id);
    const answer = await this.#call("GET", `/v1/videos/${id}`);
    const task = await answer.json();
    if (answer.status === 404) this.facts.recordMissing(id);
    else if (!this.#mayFail(answer.status)) this.facts.recordTask(task, known);
    return answer.status === 200 ? task : null;
  }

  #mayFail(status: number): boolean {
    return this.target.mayFail?.(status) ?? false;
  }

  #newOrder(number: number): VideoOrder {
    return orderOf(number, this.random, this.target.callbackUrl);
  }

  async #action(): Promise<void> {
    const { ids } = this.facts;
    if (ids.length === 0) return;
    // Mostly recent ones, which change.
    const id = this.random.pick(this.random.chance(0.7) ? ids.slice(-12) : ids);
    const action = this.random.next();
    if (action < 0.15) await this.#cancel(id);
    else if (action < 0.25) await this.#purge(id);
    else if (action < 0.40) await this.#readEvents(id);
    else if (action < 0.65) await this.#readResults(id);
    else if (action < 0.70) await this.#recopy(id);
    else await this.#poll(id);
  }

  async #cancel(id: string): Promise<void> {
    const known = this.facts.knownOf(id);
    const answer = await this.#call("DELETE", `/v1/videos/${id}`);
    const task = await answer.json();
    if (answer.status === 200) this.facts.recordTask(task, known);
    if (answer.status === 404) this.facts.recordMissing(id);
  }

  async #purge(id: string): Promise<void> {
    const { created, orders, ends } = this.facts;
    if (!ends.has(id)) return;
    this.facts.recordPurgeRequest(id);
    const answer = await this.#call("DELETE", `/v1/videos/${id}?purge=true`);
    await answer.text();
    if (answer.status !== 200) return;
    this.facts.recordPurged(id);
    const number = [...created].find(([, ids]) => ids.has(id))![0];
    const hasCallback = orders.get(number)!.body.includes("callback_url");
    const isTold = [...this.facts.taken].some((key) => key.startsWith(id));
    if (hasCallback && !isTold) this.facts.contradictions.push(`${id} was removed before its event was delivered`);
  }

  async #readEvents(id: string): Promise<void> {
    const known = this.facts.knownOf(id);
    const answer = await this.#call("GET", `/v1/videos/${id}/events`);
    if (answer.status !== 200) return await answer.body?.cancel();
    const parser = createParser({ onEvent: ({ data }) => this.facts.recordTask(JSON.parse(data), known) });
    for await (const text of answer.body!.pipeThrough(new TextDecoderStream())) parser.feed(text);
  }

  async #readResults(id: string): Promise<void> {
    const task = await this.#poll(id);
    for (const url of task?.mirror_urls ?? []) {
      const answer = await fetch(url, { signal: this.#left.signal });
      const bytes = await answer.bytes();
      const isGood = answer.status === 200 && bytes.length > 0;
      if (!isGood && !this.facts.purges.has(id) && !this.#mayFail(answer.status)) {
        this.facts.contradictions.push(`${url} is ${answer.status}`);
      }
    }
  }

  async #recopy(id: string): Promise<void> {
    const { address, adminKey } = this.target;
    const headers = { authorization: `Bearer ${adminKey}` };
    const path = `${address}/admin/v1/tasks/${id}/mirror`;
    const answer = await fetch(path, { method: "POST", headers, signal: this.#left.signal });
    await answer.text();
    const isTold = [202, 404, 409].includes(answer.status);
    if (!isTold && !this.#mayFail(answer.status)) {
      this.facts.contradictions.push(`a new copy of ${id} was answered ${answer.status}`);
    }
  }

  async #repeat(call: () => Promise<void>): Promise<void> {
    while (!this.#isStopped) {
      await this.#attempt(call);
      await pause();
    }
  }

  /** A call interrupted by the kill fails here and is not counted. */
  async #attempt(call: () => Promise<void>): Promise<void> {
    try {
      await withPatience("a call about videos", call());
      this.onAnswer();
    } catch (error) {
      const isLeft = error instanceof DOMException && error.name === "AbortError";
      if (!isLeft && !(error instanceof TypeError)) throw error;
    }
  }

  #call(method: string, path: string, body?: string, headers: Record<string, string> = {}): Promise<Response> {
    const { address, key } = this.target;
    return fetch(address + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      body: body ?? null,
      signal: this.#left.signal,
    });
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
