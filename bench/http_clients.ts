import http from "node:http";
import { Agent, request as undiciRequest } from "undici";
import { systemClock } from "../src/platform/lib/basics/clock.ts";
import { ownValue } from "../src/platform/lib/collections/own_value.ts";
import { createHttpClient } from "../src/platform/net/http1/client.ts";
import { headerLinesOf } from "../src/platform/net/http1/header_lines.ts";
import type { ClientUnderTest, TestRequest } from "../tests/contract/hostile_vendor.ts";

/** One request to an address on loopback. */
export type BenchRequest = Omit<TestRequest, "signal"> & {
  readonly headers: Readonly<Record<string, string>>;
  /** Null where the request is never cancelled: the client then has no cost of a signal. */
  readonly signal: AbortSignal | null;
};

/** An HTTP client of the comparison. */
export interface BenchClient {
  /**
   * Sends a request, passes each chunk of the body to `onBytes`, and resolves with the status at the end of the body.
   */
  exchange(request: BenchRequest, onBytes: (bytes: Uint8Array) => void): Promise<number>;
  close(): void | Promise<void>;
}

/** The version of undici in the comparison. */
export const UNDICI_VERSION = "8.12.4";

/** All clients, by their names in the report. */
export const HTTP_CLIENTS: Readonly<Record<string, () => BenchClient>> = {
  "net/http1": ownClient,
  undici: undiciClient,
  "node:http": nodeClient,
  fetch: fetchClient,
};

/** Opens a client by its name in {@linkcode HTTP_CLIENTS}; throws for another name. */
export function openClient(name: string): BenchClient {
  const open = ownValue(HTTP_CLIENTS, name);
  if (open === undefined) throw new Error(`No HTTP client is called "${name}"`);
  return open();
}

function ownClient(): BenchClient {
  const client = createHttpClient({ clock: systemClock });
  return {
    async exchange({ port, method, path, headers, body, signal }, onBytes) {
      let cancel = () => {};
      const stop = () => cancel();
      signal?.addEventListener("abort", stop);
      try {
        const origin = { tls: false, hostname: "127.0.0.1", port };
        const wire = { method, path, headerLines: headerLinesOf(headers), body };
        const response = await client.send(origin, wire, (onCancel) => void (cancel = onCancel));
        cancel = () => response.cancel();
        for (let bytes; (bytes = await response.read()) !== null;) onBytes(bytes);
        return response.status;
      } finally {
        signal?.removeEventListener("abort", stop);
      }
    },
    close: () => client.close(),
  };
}

function undiciClient(): BenchClient {
  const dispatcher = new Agent({ connections: 256, pipelining: 1 });
  return {
    async exchange({ port, method, path, headers, body, signal }, onBytes) {
      const { statusCode, body: answer } = await undiciRequest(`http://127.0.0.1:${port}${path}`, {
        dispatcher,
        method,
        headers,
        body,
        ...(signal === null ? {} : { signal }),
      });
      for await (const bytes of answer) onBytes(bytes);
      return statusCode;
    },
    close: () => dispatcher.destroy(),
  };
}

function nodeClient(): BenchClient {
  const agent = new http.Agent({ keepAlive: true, maxFreeSockets: 256 });
  return {
    exchange({ port, method, path, headers, body, signal }, onBytes) {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const length = body === null ? {} : { "content-length": body.length };
      const outgoing = http.request({
        host: "127.0.0.1",
        port,
        method,
        path,
        agent,
        headers: { ...headers, ...length },
        ...(signal === null ? {} : { signal }),
      }, (answer) => {
        answer.on("data", onBytes);
        answer.on("end", () => answer.complete ? resolve(answer.statusCode ?? 0) : reject(new Error("cut short")));
        answer.on("error", reject);
        answer.on("close", () => reject(new Error("cut short")));
      });
      outgoing.on("error", reject);
      outgoing.end(body ?? undefined);
      return promise;
    },
    close: () => agent.destroy(),
  };
}

function fetchClient(): BenchClient {
  const client = Deno.createHttpClient({ poolMaxIdlePerHost: 256, http2: false });
  return {
    async exchange({ port, method, path, headers, body, signal }, onBytes) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        client,
        method,
        headers,
        body,
        redirect: "manual",
        signal,
      });
      const reader = answer.body?.getReader();
      for (let read; reader && !(read = await reader.read()).done;) onBytes(read.value);
      return answer.status;
    },
    close: () => client.close(),
  };
}

/** Adapts a client for the contract with hostile vendors. */
export function asClientUnderTest(client: BenchClient): ClientUnderTest {
  return {
    async call(request) {
      let body = "";
      const decoder = new TextDecoder("latin1");
      const status = await client.exchange(
        { ...request, headers: {} },
        (bytes) => void (body += decoder.decode(bytes)),
      );
      return { status, body };
    },
    close: () => client.close(),
  };
}
