import { DescribedApi, type Exchange } from "./described_api.ts";

/**
 * Checks the replies of the gateways of tests against the description of the interface. Official clients and the tests
 * themselves read responses of `fetch`, so it is there that a reply which is not as described fails its reader.
 */

/** The faults of the gateways whose replies are checked, by origin. */
const CHECKED = new Map<string, string[]>();
let api: Promise<DescribedApi> | null = null;
let isInstalled = false;

/**
 * Checks all replies that are fetched from an address from now on. Streams that are read in pieces are not collected,
 * since that would change when they are read.
 *
 * @returns Ends that. It throws if a reply was not as described, in case its reader hid that.
 */
export function checkReplies(address: string): () => void {
  const { origin } = new URL(address);
  const faults: string[] = [];
  CHECKED.set(origin, faults);
  install();
  return () => {
    CHECKED.delete(origin);
    if (faults.length > 0) throw new Error(faults.join("\n"));
  };
}

/**
 * Ends the checks of a gateway whose vendor breaks its own format, since its replies pass as they are, or of a test
 * that the time to compile a schema would disturb.
 */
export function skipReplyChecks(address: string): void {
  CHECKED.delete(new URL(address).origin);
}

function install(): void {
  if (isInstalled) return;
  isInstalled = true;
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init);
    const url = new URL(input instanceof Request ? input.url : input);
    const faults = CHECKED.get(url.origin);
    if (faults !== undefined) watch(exchangeOf(input, init, { url, response }), faults, await describedApi());
    return response;
  };
}

/** The description, which is read once in a test file, before its first request. */
export async function describedApi(): Promise<DescribedApi> {
  return await (api ??= DescribedApi.read());
}

function exchangeOf(
  input: Request | URL | string,
  init: RequestInit | undefined,
  received: Pick<Exchange, "url" | "response">,
): Exchange {
  const request = input instanceof Request ? input : undefined;
  return {
    ...received,
    method: (init?.method ?? request?.method ?? "GET").toUpperCase(),
    headers: new Headers(init?.headers ?? request?.headers),
    requestText: typeof init?.body === "string" ? init.body : null,
  };
}

function watch(exchange: Exchange, faults: string[], described: DescribedApi): void {
  const { method, url, response } = exchange;
  const pointer = response.redirected ? null : described.operationAt(exchange);
  if (pointer === null) return;
  const report = (problems: readonly string[]) => {
    if (problems.length === 0) return;
    const place = `${method} ${url.pathname} ${response.status} is not as in docs/openapi.json`;
    const fault = `${place}:\n  ${problems.join("\n  ")}`;
    faults.push(fault);
    throw new Error(fault);
  };
  report(described.problemsOfHead(exchange, pointer));
  watchBody(response, (text) => report(described.problemsOfBody(response, text, pointer)));
}

/** Checks a body when it is read as a whole. */
function watchBody(response: Response, check: (text: string) => void): void {
  if (!/json|text\//.test(response.headers.get("content-type") ?? "")) return;
  const text = response.text.bind(response);
  const bytes = response.arrayBuffer.bind(response);
  const checked = async () => {
    const whole = await text();
    check(whole);
    return whole;
  };
  Object.defineProperties(response, {
    text: { value: checked },
    json: { value: async () => JSON.parse(await checked()) },
    arrayBuffer: {
      value: async () => {
        const buffer = await bytes();
        check(new TextDecoder().decode(buffer));
        return buffer;
      },
    },
  });
}
