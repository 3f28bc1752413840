/** One request of a program and the gateway's response. */
export interface Exchange {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  /** Headers by lower-case name, without credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly requestBody: string;
  readonly status: number;
  /** Headers of the gateway's response, by lower-case name. */
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** The bytes until the program disconnected. */
  responseBody: string;
}

/** A proxy on loopback that records all exchanges. */
export interface RecordingProxy {
  /** `http://127.0.0.1:<port>`. */
  readonly address: string;
  /** In the order in which the responses started. */
  readonly exchanges: readonly Exchange[];
  stop(): Promise<void>;
}

const CREDENTIALS = ["authorization", "x-api-key", "x-goog-api-key", "cookie"];

/** Starts a proxy in front of a gateway. Bodies pass unchanged, and streams chunk by chunk. */
export function startRecordingProxy(gateway: string): RecordingProxy {
  const exchanges: Exchange[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const requestBody = await request.text();
    const headers = new Headers(request.headers);
    headers.set("accept-encoding", "identity");
    for (const name of ["host", "connection", "content-length", "transfer-encoding"]) headers.delete(name);
    const answer = await fetch(gateway + pathname + search, {
      method: request.method,
      headers,
      body: requestBody === "" ? null : requestBody,
      signal: request.signal,
    });
    for (const name of CREDENTIALS) headers.delete(name);
    const exchange: Exchange = {
      method: request.method,
      path: pathname + search,
      headers: Object.fromEntries(headers),
      requestBody,
      status: answer.status,
      responseHeaders: Object.fromEntries(answer.headers),
      responseBody: "",
    };
    exchanges.push(exchange);
    return new Response(answer.body?.pipeThrough(recorder(exchange)) ?? null, {
      status: answer.status,
      headers: answer.headers,
    });
  });
  return {
    address: `http://127.0.0.1:${server.addr.port}`,
    exchanges,
    stop: () => server.shutdown(),
  };
}

function recorder(exchange: Exchange): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  const decoder = new TextDecoder();
  return new TransformStream({
    transform(chunk, controller) {
      exchange.responseBody += decoder.decode(chunk, { stream: true });
      controller.enqueue(chunk);
    },
  });
}
