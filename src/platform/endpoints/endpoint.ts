import type { EndpointName } from "./limit_name.ts";

/** The format of an error: that of a protocol, or of video endpoints, whose clients expect another one. */
export type ErrorStyle = "default" | "video" | "message" | "content" | "admin";

/** The wire format of a request for text. */
export type TextFormatName = "chat" | "responses" | "messages" | "content";

/**
 * One endpoint: what the parts of the gateway ask about an address. Routes, permissions of keys, handling of large
 * bodies, repeats, resumed streams, rates of callers, the console and the description of the interface use these rows.
 */
export interface Endpoint {
  /** The HTTP method. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /**
   * Segments from the root: `/v1/models/:provider/:model`. `:name` matches one segment. `:name*` matches the rest
   * including slashes. A last segment `:name*:verb` or `:name::verb` matches a parameter that ends in `:verb`.
   */
  readonly path: string;
  /** Further paths of the same endpoint, which the description of the interface explains in words. Default: none. */
  readonly otherPaths?: readonly string[];
  /** The format of its errors. Default: that of the default protocol. */
  readonly errors?: ErrorStyle;
  /**
   * What an API key must permit: the name of the endpoint in its `endpoints`, or `open` for what every valid key may
   * read. Absent for endpoints that no API key opens.
   */
  readonly permission?: EndpointName | "open";
  /** The format of its body, if that is a text request, which can be large. */
  readonly format?: TextFormatName;
  /** Whether its reply can be a JSON list that is sent in parts, without a media type of streams. Default: false. */
  readonly streamsJsonList?: boolean;
  /** Whether its requests are charged, so that they can be tried with `X-Service-Dry-Run`. Default: false. */
  readonly isPaid?: boolean;
  /** Whether `Idempotency-Key` repeats its reply. Videos have such keys of their own. Default: false. */
  readonly isRepeatable?: boolean;
  /** Whether its streams can be resumed, as `X-Service-Resume` asks for. Default: false. */
  readonly isResumable?: boolean;
  /** Whether it counts in the rate of reads of a key. Default: false. */
  readonly isRead?: boolean;
  /** Whether the console sends requests to it as an account. Default: false. */
  readonly isInConsole?: boolean;
  /** Whether monitoring calls it again and again, so that its requests are not recorded. Default: false. */
  readonly isProbe?: boolean;
}

/** All paths of an endpoint, the described one first. */
export function pathsOf({ path, otherPaths = [] }: Pick<Endpoint, "path" | "otherPaths">): readonly string[] {
  return [path, ...otherPaths];
}

/**
 * The path of a request to an endpoint.
 *
 * @param params The parameters by name, not yet encoded.
 * @throws {Error} If a parameter is missing, which is a programming error.
 */
export function addressOf({ path }: Pick<Endpoint, "path">, params: Readonly<Record<string, string>> = {}): string {
  return path.replaceAll(/(?<=\/):([a-z_]\w*)\*?/gi, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`The path ${path} needs the parameter "${name}"`);
    return encodeURIComponent(value);
  });
}
