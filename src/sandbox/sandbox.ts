import { type Clock, systemClock } from "../platform/lib/basics/clock.ts";
import type { RatesOf } from "./bills.ts";
import type { Call, VendorApi } from "./call.ts";
import { RequestedBreak } from "./chunk_stream.ts";
import { alibaba } from "./families/alibaba/alibaba.ts";
import { anthropic } from "./families/anthropic/anthropic.ts";
import { arkImages } from "./families/ark/ark_images.ts";
import { arkVideos } from "./families/ark/ark_videos.ts";
import { azure } from "./families/azure.ts";
import { bedrock } from "./families/bedrock/bedrock.ts";
import { bfl } from "./families/bfl.ts";
import { chatVendors } from "./families/chat_vendors.ts";
import { dreamMachine } from "./families/dream_machine.ts";
import { fal } from "./families/fal.ts";
import { google } from "./families/google/google.ts";
import { kling } from "./families/kling.ts";
import { luma } from "./families/luma.ts";
import { pika } from "./families/pika.ts";
import { vertexVideos } from "./families/vertex_videos.ts";
import { openai } from "./families/openai/openai.ts";
import { openrouter } from "./families/openrouter/openrouter.ts";
import { replicate } from "./families/replicate.ts";
import { runway } from "./families/runway.ts";
import { vidu } from "./families/vidu.ts";
import { xai } from "./families/xai.ts";
import { describeForm, readMultipartForm } from "./multipart_form.ts";
import { parsedOrNull } from "../conversation/neutral/wire_value.ts";
import { SimulatedError } from "./simulated_error.ts";
import { type LoggedRequest, RequestLog } from "./request_log.ts";
import { SimulatedVendors } from "./simulated_vendors.ts";

/** Options of the sandbox. */
export interface SandboxOptions {
  /** 0 selects a free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly hostname?: string;
  /** For dates, delays and stalls. Default: the system clock. */
  readonly clock?: Clock;
  /** What the vendors bill. Default: everything is free. */
  readonly ratesOf?: RatesOf;
  /** A folder that exists, which keeps the jobs of videos for the next sandbox. Default: they end with this one. */
  readonly jobsFolder?: string;
  /** Called for every request after its body has arrived. */
  readonly onRequest?: (seen: LoggedRequest) => void;
}

/** A running sandbox. */
export interface Sandbox {
  /** Base addresses as each vendor's own client takes them. */
  readonly baseUrls: {
    /** Ends in `/openai/v1`. */
    readonly openai: string;
    /** Ends in `/anthropic`. */
    readonly anthropic: string;
    /** Ends in `/google`. */
    readonly google: string;
    /** Ends in `/ark/api/v3`. */
    readonly ark: string;
    /** Ends in `/xai/v1`. */
    readonly xai: string;
    /** Ends in `/alibaba`. */
    readonly alibaba: string;
    /** Ends in `/bedrock`. */
    readonly bedrock: string;
    /** Ends in `/bfl/v1`. */
    readonly bfl: string;
    /** Ends in `/kling`. */
    readonly kling: string;
    /** Ends in `/vertex`. Videos only. */
    readonly vertex: string;
    /** Ends in `/openrouter/api/v1`. */
    readonly openrouter: string;
    /** Ends in `/runway`. */
    readonly runway: string;
    /** Ends in `/vidu`. */
    readonly vidu: string;
    /** Ends in `/luma/v1`. */
    readonly luma: string;
    /** Ends in `/dream-machine/v1`. */
    readonly dreamMachine: string;
    /** Ends in `/pika`. */
    readonly pika: string;
    /** Ends in `/fal`. */
    readonly fal: string;
    /** Ends in `/replicate/v1`. */
    readonly replicate: string;
    /** The address of a resource. Ends in `/azure`. */
    readonly azure: string;
    /** Ends in `/deepseek/v1`. */
    readonly deepseek: string;
    /** Ends in `/moonshot/v1`. */
    readonly moonshot: string;
    /** Ends in `/zai/v1`. */
    readonly zai: string;
    /** Ends in `/groq/v1`. */
    readonly groq: string;
    /** Ends in `/mistral/v1`. */
    readonly mistral: string;
    /** Ends in `/cohere/v1`. */
    readonly cohere: string;
  };
  /** The latest 1,000 requests, oldest first. */
  readonly requests: readonly LoggedRequest[];
  /** Breaks off running requests and stops listening. */
  stop(): Promise<void>;
}

// The first entry whose prefix matches a path handles it.
const VENDOR_APIS: readonly VendorApi[] = [
  arkVideos,
  arkImages,
  openai,
  anthropic,
  google,
  xai,
  bedrock,
  bfl,
  kling,
  vertexVideos,
  alibaba,
  openrouter,
  runway,
  vidu,
  luma,
  dreamMachine,
  pika,
  fal,
  replicate,
  azure,
  ...chatVendors,
];

/**
 * Starts a sandbox. Its responses follow from the request and from earlier requests; see `docs/sandbox.md`.
 *
 * @throws {Deno.errors.AddrInUse} If another process has the port.
 */
export function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { port, hostname = "127.0.0.1", clock = systemClock, ratesOf, jobsFolder, onRequest: record } = options;
  const vendors = new SimulatedVendors(clock, { ratesOf, ...jobsFolder !== undefined && { jobsFolder } });
  const log = new RequestLog();
  const stopped = new AbortController();
  const handler = async (request: Request): Promise<Response> => {
    const form = await readMultipartForm(request);
    const text = form ? "" : await request.text();
    const entry = log.add(request, form ? describeForm(form) : text === "" ? null : parsedOrNull(text) ?? text);
    record?.(entry);
    return await handle(request, { text, form }, vendors, stopped.signal, () => entry.cancelled = true);
  };
  // Also receives errors of responses that broke while they were sent, which cuts do on purpose.
  const onError = (error: unknown) => {
    const message = error instanceof RequestedBreak ? null : `The sandbox failed: ${error}`;
    return new Response(message, { status: 500 });
  };
  const server = Deno.serve({ port, hostname, signal: stopped.signal, onListen() {}, onError }, handler);
  const origin = `http://${hostname}:${server.addr.port}`;
  return Promise.resolve({
    baseUrls: simulatedAddresses(origin),
    requests: log.entries,
    async stop() {
      stopped.abort();
      await server.finished;
    },
  });
}

/** The base addresses of the simulated vendors of a sandbox, from its own: `http://127.0.0.1:8788`. */
export function simulatedAddresses(origin: string): Sandbox["baseUrls"] {
  return {
    openai: `${origin}/openai/v1`,
    anthropic: `${origin}/anthropic`,
    google: `${origin}/google`,
    ark: `${origin}/ark/api/v3`,
    xai: `${origin}/xai/v1`,
    alibaba: `${origin}/alibaba`,
    bedrock: `${origin}/bedrock`,
    bfl: `${origin}/bfl/v1`,
    kling: `${origin}/kling`,
    vertex: `${origin}/vertex`,
    openrouter: `${origin}/openrouter/api/v1`,
    runway: `${origin}/runway`,
    vidu: `${origin}/vidu`,
    luma: `${origin}/luma/v1`,
    dreamMachine: `${origin}/dream-machine/v1`,
    pika: `${origin}/pika`,
    fal: `${origin}/fal`,
    replicate: `${origin}/replicate/v1`,
    azure: `${origin}/azure`,
    deepseek: `${origin}/deepseek/v1`,
    moonshot: `${origin}/moonshot/v1`,
    zai: `${origin}/zai/v1`,
    groq: `${origin}/groq/v1`,
    mistral: `${origin}/mistral/v1`,
    cohere: `${origin}/cohere/v1`,
  };
}

async function handle(
  request: Request,
  { text, form }: Pick<Call, "text" | "form">,
  vendors: SimulatedVendors,
  stopped: AbortSignal,
  onDisconnect: () => void,
): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const api = VENDOR_APIS.find(({ prefix }) => pathname === prefix || pathname.startsWith(`${prefix}/`));
  if (!api) {
    const known = new Set(VENDOR_APIS.map(({ prefix }) => `/${prefix.split("/")[1]}`));
    return new Response(`Not found: the sandbox has ${[...known].join(", ")}\n`, { status: 404 });
  }
  const call: Call = {
    method: request.method,
    prefix: api.prefix,
    path: pathname.slice(api.prefix.length),
    query: searchParams,
    headers: request.headers,
    text,
    form,
    requestId: `req_${vendors.nextId()}`,
    signal: AbortSignal.any([request.signal, stopped]),
    vendors,
    onDisconnect,
  };
  try {
    return await api.handle(call);
  } catch (error) {
    if (error instanceof SimulatedError) return api.writeError(error, call);
    throw error;
  }
}
