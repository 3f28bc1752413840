/** A vendor whose responses a test provides. */
export interface StubVendor extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly address: string;
  /** The requested paths in order. */
  readonly requestedPaths: readonly string[];
}

/** Starts the vendor. @param answer Gets the request and the number of requests before it. */
export function startStubVendor(answer: (request: Request, nth: number) => Response | Promise<Response>): StubVendor {
  const asked: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    asked.push(new URL(request.url).pathname);
    const nth = asked.length - 1;
    const response = await answer(request, nth);
    if (!request.bodyUsed) await request.body?.cancel();
    return response;
  });
  return {
    address: `http://127.0.0.1:${server.addr.port}`,
    requestedPaths: asked,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
