import { AwsV4Signer } from "aws4fetch";
import { type Clock, sleep } from "../../lib/basics/clock.ts";
import type { HttpClient } from "../../net/http1/client.ts";
import { ConnectionError } from "../../net/http1/connection_error.ts";
import { headerLinesOf } from "../../net/http1/header_lines.ts";
import { type HttpResponse, readAll } from "../../net/http1/response.ts";
import { type Origin, originOf } from "../../net/http1/wire_request.ts";
import type { BucketAddress } from "./bucket_address.ts";
import { BucketError } from "./bucket_error.ts";
import { textIn } from "./xml.ts";

/** The settings of a bucket. */
export interface BucketSettings extends BucketAddress {
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken: string | null;
  };
}

/** The dependencies of a {@linkcode BucketClient}. */
export interface BucketClientOptions {
  readonly settings: BucketSettings;
  readonly client: HttpClient;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** One request to a bucket. */
export interface BucketRequest {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** Without the prefix; null for the bucket itself. */
  readonly name: string | null;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
}

const MAX_ATTEMPTS = 4;
const FIRST_DELAY_MS = 200;
/** The longest time until the head of a response, and between two reads of its body. */
const ANSWER_MS = 60_000;
/** A list of a thousand objects takes about 500 kB. */
const MAX_DOCUMENT_BYTES = 8_000_000;
const EMPTY_HASH = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/**
 * Signs the requests to one bucket (AWS Signature Version 4), and repeats those that failed for a passing reason, at
 * most three times, after 0.2, 0.4 and 0.8 s with jitter.
 */
export class BucketClient {
  readonly settings: BucketSettings;
  readonly #options: BucketClientOptions;
  readonly #base: string;
  readonly #origin: Origin;

  constructor(options: BucketClientOptions) {
    this.#options = options;
    this.settings = options.settings;
    const { endpoint, addressing, bucket } = options.settings;
    const url = new URL(endpoint);
    if (addressing === "virtual") url.hostname = `${bucket}.${url.hostname}`;
    this.#base = addressing === "virtual" ? `${url.origin}/` : `${url.origin}/${bucket}/`;
    this.#origin = originOf(url);
  }

  /**
   * Sends a request.
   *
   * @returns A response with a status below 300, whose body must be read or cancelled.
   * @throws {BucketError}
   */
  async send(request: BucketRequest): Promise<HttpResponse> {
    for (let attempt = 1;; attempt++) {
      try {
        return await this.#sendOnce(request);
      } catch (error) {
        if (!(error instanceof BucketError) || !error.isTransient || attempt === MAX_ATTEMPTS) throw error;
      }
      const { clock, random } = this.#options;
      await sleep(clock, FIRST_DELAY_MS * 2 ** (attempt - 1) * (0.5 + random()));
    }
  }

  /**
   * Sends a request and reads the whole response.
   *
   * @throws {BucketError}
   */
  async document(request: BucketRequest): Promise<string> {
    const response = await this.send(request);
    try {
      return new TextDecoder().decode(await this.#within(response, readAll(response, MAX_DOCUMENT_BYTES)));
    } catch (error) {
      throw this.#failureOf(error);
    }
  }

  /**
   * The next bytes of a response; null at its end.
   *
   * @throws {BucketError}
   */
  async read(response: HttpResponse): Promise<Uint8Array<ArrayBuffer> | null> {
    try {
      return await this.#within(response, response.read());
    } catch (error) {
      throw this.#failureOf(error);
    }
  }

  /** An address with which anyone can read an object for some seconds. */
  async presign(name: string, seconds: number, query: Readonly<Record<string, string>> = {}): Promise<string> {
    const url = this.#urlOf(name, { ...query, "X-Amz-Expires": String(seconds) });
    const signed = await this.#signer({ method: "GET", url, signQuery: true }).sign();
    return signed.url.href;
  }

  async #sendOnce({ method, name, query = {}, headers = {}, body }: BucketRequest): Promise<HttpResponse> {
    const hash = body === undefined ? EMPTY_HASH : hex(await crypto.subtle.digest("SHA-256", body));
    const signed = await this.#signer({
      method,
      url: this.#urlOf(name, query),
      headers: { ...headers, "x-amz-content-sha256": hash },
    }).sign();
    const wire = {
      method,
      path: signed.url.pathname + signed.url.search,
      headerLines: headerLinesOf({ "user-agent": "switchyard", ...Object.fromEntries(signed.headers) }),
      body: body ?? (method === "PUT" || method === "POST" ? new Uint8Array() : null),
      isRepeatable: true,
    };
    const { client, clock } = this.#options;
    let cancel = () => {};
    const stop = clock.after(ANSWER_MS, () => cancel());
    let response: HttpResponse;
    try {
      response = await client.send(this.#origin, wire, (abort) => cancel = abort);
    } catch (error) {
      throw this.#failureOf(error);
    } finally {
      stop();
    }
    if (response.status < 300) return response;
    throw await this.#refusalOf(response);
  }

  #signer(
    request: { method: string; url: string; headers?: Record<string, string>; signQuery?: boolean },
  ): AwsV4Signer {
    const { credentials: { accessKeyId, secretAccessKey, sessionToken }, region } = this.settings;
    const token = sessionToken === null ? {} : { sessionToken };
    const datetime = new Date(this.#options.clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, "");
    return new AwsV4Signer({ ...request, service: "s3", region, accessKeyId, secretAccessKey, ...token, datetime });
  }

  #urlOf(name: string | null, query: Readonly<Record<string, string>>): string {
    const parameters = new URLSearchParams(query).toString().replace(/\+/g, "%20");
    const path = this.#base + (name === null ? "" : this.settings.prefix + name);
    return parameters === "" ? path : `${path}?${parameters}`;
  }

  async #within<T>(response: HttpResponse, reading: Promise<T>): Promise<T> {
    const stop = this.#options.clock.after(ANSWER_MS, () => response.cancel());
    try {
      return await reading;
    } finally {
      stop();
    }
  }

  async #refusalOf(response: HttpResponse): Promise<BucketError> {
    const { status } = response;
    const bytes = await this.#within(response, readAll(response, 65_536)).catch(() => new Uint8Array());
    const code = textIn(new TextDecoder().decode(bytes), "Code") ?? codeOf(status);
    return new BucketError(this.settings, /^[A-Za-z0-9.]{1,60}$/.test(code) ? code : codeOf(status), status);
  }

  #failureOf(error: unknown): unknown {
    return error instanceof ConnectionError ? new BucketError(this.settings, error.kind, null) : error;
  }
}

/** For responses without a body, such as those to HEAD. */
function codeOf(status: number): string {
  if (status === 403) return "AccessDenied";
  if (status === 301) return "PermanentRedirect";
  return status === 404 ? "NotFound" : "UnknownError";
}

function hex(bytes: ArrayBuffer): string {
  return new Uint8Array(bytes).toHex();
}
