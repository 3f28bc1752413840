import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import type {
  ImageCall,
  ImageOrder,
  ImageSource,
  ImageUpstream,
} from "../../src/vendors/upstreams/contract/image_upstream.ts";
import type { Provider } from "../../src/vendors/upstreams/contract/provider.ts";
import { readProviderConfig } from "../../src/vendors/upstreams/settings/provider_config.ts";
import { openProviders } from "../../src/vendors/upstreams/opening/providers.ts";
import { itemAt } from "../support/items.ts";
import { RECORDINGS } from "../support/recordings.ts";

/** The key for the vendor. */
export const VENDOR_KEY = "key-of-vendor-0123456789";

/** A request that a vendor received. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The body as JSON. */
  // deno-lint-ignore no-explicit-any
  readonly json: any;
}

/** A vendor's response. A body that is not text is sent as JSON. */
export interface VendorAnswer {
  readonly status?: number;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Opens a provider of that kind whose vendor sends these responses in turn, and repeats the last one. */
export async function withVendor(
  kind: string,
  answers: readonly VendorAnswer[],
  test: (provider: Provider, seen: readonly Seen[]) => Promise<void>,
): Promise<void> {
  const seen: Seen[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    seen.push(await seenIn(request));
    const { status = 200, contentType = "application/json", headers, body } = itemAt(
      answers,
      Math.min(seen.length, answers.length) - 1,
    );
    return new Response(typeof body === "string" ? body : JSON.stringify(body), {
      status,
      headers: { "content-type": contentType, ...headers },
    });
  });
  const config = readProviderConfig({
    kind,
    base_url: `http://127.0.0.1:${server.addr.port}/base`,
    api_key: VENDOR_KEY,
    ...(kind === "bedrock" && { region: "us-east-1" }),
    ...(kind === "vertex" && { project: "acme" }),
  });
  const providers = await openProviders({ vendor: config }, { clock: systemClock, caCerts: [] });
  try {
    await test(providers.byName.get("vendor")!, seen);
  } finally {
    providers.close();
    await server.shutdown();
  }
}

async function seenIn(request: Request): Promise<Seen> {
  const { pathname, search } = new URL(request.url);
  const bytes = new Uint8Array(await request.arrayBuffer());
  return {
    method: request.method,
    path: pathname + search,
    headers: request.headers,
    bytes,
    get json() {
      return JSON.parse(new TextDecoder().decode(bytes));
    },
  };
}

/** Like {@linkcode withVendor}, for its image capability. */
export function withImageVendor(
  kind: string,
  answer: VendorAnswer | readonly VendorAnswer[],
  test: (images: ImageUpstream, seen: readonly Seen[]) => Promise<void>,
): Promise<void> {
  const answers = "body" in answer ? [answer] : answer;
  return withVendor(kind, answers, ({ capabilities: { images } }, seen) => test(images!, seen));
}

/** A call without cancellation. */
export const CALL: ImageCall = { callerSignal: () => new AbortController().signal };

/** A request with defaults for the fields that a test does not set. */
export function orderOf(fields: Partial<ImageOrder> = {}): ImageOrder {
  return {
    model: "model-1",
    prompt: "A fox",
    quality: "auto",
    count: 1,
    size: null,
    images: [],
    mask: null,
    outputFormat: null,
    background: null,
    inputFidelity: null,
    partialImages: 0,
    extras: {},
    svg: null,
    ...fields,
  };
}

/** An image with these bytes, read in chunks of different lengths. */
export function imageOf(bytes: readonly number[] | Uint8Array, mediaType = "image/png"): ImageSource {
  const content = Uint8Array.from(bytes);
  return {
    mediaType,
    lengthBytes: content.length,
    width: 8,
    height: 8,
    async *open() {
      for (let at = 0, length = 1; at < content.length; at += length, length = length * 2 + 1) {
        yield content.slice(at, at + length);
      }
    },
  };
}

/** Whether the recordings are available. A test that needs them is skipped otherwise. */
export const RECORDED = RECORDINGS !== null;

/** Reads a recorded or documented response by its name in the media recordings. */
export function recordedAnswer(name: string): VendorAnswer {
  const { response } = JSON.parse(Deno.readTextFileSync(`${RECORDINGS}/media/${name}.json`));
  return { status: response.status, contentType: response.content_type, body: response.body };
}

/** Concatenates the chunks of a body. */
export async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: BlobPart[] = [];
  for await (const piece of pieces) parts.push(Uint8Array.from(piece));
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
