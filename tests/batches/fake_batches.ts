import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import type {
  BatchedCall,
  BatchOrder,
  BatchProgress,
  BatchUpstream,
  ResultContent,
} from "../../src/vendors/upstreams/contract/batch_upstream.ts";
import type { Clock } from "../../src/platform/lib/basics/clock.ts";

interface FakeBatch {
  readonly id: string;
  readonly mark: string;
  readonly ids: readonly string[];
  state: "open" | "ended";
}

/** A vendor of batches in memory. A test says how it behaves. */
export class FakeBatches implements BatchUpstream {
  limits: BatchUpstream["limits"] = { lines: 50_000, bytes: 1_000_000 };
  /** Each letter of a text is an input. */
  readonly inputsOf = ({ body }: BatchedCall): number => JSON.parse(new TextDecoder().decode(body)).text.length;
  readonly made: FakeBatch[] = [];
  readonly cancelled: string[] = [];
  /** What the next create does after the vendor has the batch. Default: it answers. */
  onCreated: (() => void) | null = null;
  /** What a create does before the vendor has the batch. Default: nothing. */
  onCreate: (() => void) | null = null;
  /** The lines of a batch that have a result. Default: all of them. */
  answered: (ids: readonly string[]) => readonly string[] = (ids) => ids;
  isListed = true;
  /** Whether a part of the results can be read. */
  hasParts = true;
  /** The first bytes that were asked for. */
  readonly reads: number[] = [];
  /** Called for each result that is read. */
  onResult: () => void = () => {};

  constructor(private readonly clock: Clock) {}

  writeLine(id: string, { body }: BatchedCall): Uint8Array<ArrayBuffer> {
    return new TextEncoder().encode(JSON.stringify({ id, body: new TextDecoder().decode(body) }));
  }

  async create({ mark, content }: BatchOrder): Promise<string> {
    this.onCreate?.();
    const batch: FakeBatch = { id: `v${this.made.length + 1}`, mark, ids: await idsIn(content), state: "open" };
    this.made.push(batch);
    const then = this.onCreated;
    this.onCreated = null;
    then?.();
    return batch.id;
  }

  find({ mark }: BatchOrder): ReturnType<BatchUpstream["find"]> {
    const found = this.isListed ? this.made.find((each) => each.mark === mark) : undefined;
    return Promise.resolve(found === undefined ? "absent" : { id: found.id });
  }

  read(id: string): Promise<BatchProgress> {
    const batch = this.made.find((each) => each.id === id);
    if (batch === undefined) return Promise.resolve({ state: "gone" });
    if (batch.state === "open") return Promise.resolve({ state: "open" });
    return Promise.resolve({ state: "ended", failure: null, results: [id] });
  }

  cancel(id: string): Promise<void> {
    this.cancelled.push(id);
    return Promise.resolve();
  }

  results(id: string, from: number): Promise<ResultContent> {
    this.reads.push(from);
    const { ids = [] } = this.made.find((each) => each.id === id) ?? {};
    const text = this.answered(ids).map((line) => `${JSON.stringify({ id: line })}\n`).join("");
    const start = this.hasParts ? from : 0;
    return Promise.resolve({ from: start, chunks: this.#chunks(text.slice(start).match(/.*\n/g) ?? []) });
  }

  async *#chunks(lines: readonly string[]): AsyncGenerator<Uint8Array> {
    for (const line of lines) {
      this.onResult();
      yield await Promise.resolve(new TextEncoder().encode(line));
    }
  }

  readResult(line: Uint8Array<ArrayBuffer>): ReturnType<BatchUpstream["readResult"]> {
    const { id } = JSON.parse(new TextDecoder().decode(line));
    return Promise.resolve({ id, status: 200, body: new TextEncoder().encode('{"reply":"vendor"}') });
  }

  remove(): Promise<void> {
    return Promise.resolve();
  }

  /** Ends all batches. */
  end(): void {
    for (const batch of this.made) batch.state = "ended";
  }

  /** The failure of a call. */
  failure(accepted: "no" | "unknown"): UpstreamFailure {
    return new UpstreamFailure("vendor", "unavailable", `failed at ${this.clock.now()}`, { status: 503, accepted });
  }
}

async function idsIn({ open }: BatchOrder["content"]): Promise<string[]> {
  const text = await new Response(ReadableStream.from(open())).text();
  return text.trimEnd().split("\n").map((line) => JSON.parse(line).id);
}
