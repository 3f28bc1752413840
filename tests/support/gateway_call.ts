import { withPatience } from "./patience.ts";

/** A response, read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // deno-lint-ignore no-explicit-any -- a test looks wherever it likes
  readonly json: any;
}

/** Sends a request with the caller's own headers by default; a body that is no text is sent as JSON. */
export type GatewayCall = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

const JSON_TYPE = { "content-type": "application/json" };

/**
 * Calls a gateway. Redirects are not followed.
 *
 * @param own Headers of every request, such as the key.
 */
export function callerOf(address: string, own: Readonly<Record<string, string>>): GatewayCall {
  return async (method, path, body, headers = {}) => {
    const url = path.startsWith("http") ? path : address + path;
    const response = await withPatience(
      `${method} ${url}`,
      fetch(url, {
        method,
        redirect: "manual",
        headers: { ...own, ...(body === undefined ? {} : JSON_TYPE), ...headers },
        body: body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
      }),
    );
    const text = await withPatience(`the body of ${method} ${url}`, response.text());
    return { status: response.status, headers: response.headers, text, json: parsed(text) };
  };
}

function parsed(text: string): Answer["json"] {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
