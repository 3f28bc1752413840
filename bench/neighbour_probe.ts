import { argument } from "./argument.ts";

/**
 * Sends small requests at a steady rate, whatever happens to earlier ones. As a program it gets its
 * {@linkcode ProbeOptions} as a JSON argument and prints a {@linkcode ProbeResult} as JSON.
 */

/** The requests and their duration. */
export interface ProbeOptions {
  readonly port: number;
  readonly key: string;
  readonly model: string;
  readonly seconds: number;
  readonly perSecond: number;
  /** The address of a request without a body. Default: a chat request to the model. */
  readonly readPath?: string;
}

/** The results. */
export interface ProbeResult {
  /** Milliseconds from each request's due time to its complete response, in the order of sending. */
  readonly spansMs: readonly number[];
  readonly failures: number;
}

/** Sends the requests. */
export async function probe({ port, key, model, seconds, perSecond, readPath }: ProbeOptions): Promise<ProbeResult> {
  const body = readPath === undefined
    ? JSON.stringify({ model, messages: [{ role: "user", content: "Say hello" }] })
    : null;
  const method = body === null ? "GET" : "POST";
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const spansMs: number[] = [];
  let failures = 0;
  const send = async (dueAt: number, nth: number) => {
    try {
      const response = await fetch(`http://127.0.0.1:${port}${readPath ?? "/v1/chat/completions"}`, {
        method,
        headers,
        body,
      });
      await response.arrayBuffer();
      if (response.status !== 200) failures++;
    } catch {
      failures++;
    }
    spansMs[nth] = performance.now() - dueAt;
  };
  const pending: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let nth = 0; nth < seconds * perSecond; nth++) {
    const dueAt = startedAt + nth * 1000 / perSecond;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueAt - performance.now())));
    // The start time excludes delays of the generator itself.
    pending.push(send(performance.now(), nth));
  }
  await Promise.all(pending);
  return { spansMs, failures };
}

if (import.meta.main) console.log(JSON.stringify(await probe(JSON.parse(argument(0, "the order as JSON")))));
