import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { rootCertificates } from "node:tls";

/** A request for the head of a response. */
export interface DirectHead {
  /** Further root certificates, in PEM. */
  readonly caCerts: readonly string[];
  readonly timeoutMs: number;
}

/**
 * Reads the head of an origin's response without a proxy. `fetch` takes the proxy of the environment also for this
 * machine, which the gateway always contacts directly.
 *
 * @throws {unknown} What prevents it, with the platform's message; a `TimeoutError` after the time limit.
 */
export function directHead(origin: string, { caCerts, timeoutMs }: DirectHead): Promise<Headers> {
  const { promise, resolve, reject } = Promise.withResolvers<Headers>();
  const signal = AbortSignal.timeout(timeoutMs);
  const options = { method: "HEAD", agent: false, signal } as const;
  const outgoing = origin.startsWith("https:")
    ? httpsRequest(origin, { ...options, ca: [...rootCertificates, ...caCerts] })
    : httpRequest(origin, options);
  outgoing.on("response", ({ headers: { date } }) => {
    outgoing.destroy();
    resolve(new Headers(date === undefined ? {} : { date }));
  });
  outgoing.on("error", (error) => reject(signal.aborted ? signal.reason : error));
  outgoing.end();
  return promise;
}
