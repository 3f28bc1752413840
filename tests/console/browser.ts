/** The requests of a browser that has the console open. */
export class ConsoleBrowser {
  /** The cookie of the session: a name and a value; empty without one. */
  cookie = "";
  /** What the page repeats in a header field; empty without a session. */
  token = "";

  /** @param address Of the gateway. */
  constructor(readonly address: string) {}

  /** Sends a request as the page does. Fields that are null are left out. */
  async send(
    method: string,
    path: string,
    { body, headers = {} }: { readonly body?: unknown; readonly headers?: Record<string, string | null> } = {},
  ): Promise<ConsoleAnswer> {
    const sent: Record<string, string | null> = {
      "sec-fetch-site": "same-origin",
      cookie: this.cookie || null,
      ...method !== "GET" && { origin: this.address, "x-console-token": this.token || null },
      ...body !== undefined && { "content-type": "application/json" },
      ...headers,
    };
    const given = Object.entries(sent).filter((field): field is [string, string] => field[1] !== null);
    const response = await fetch(this.address + path, {
      method,
      headers: given,
      redirect: "manual",
      body: body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await response.text();
    const cookie = response.headers.get("set-cookie");
    if (cookie !== null) this.cookie = cookie.includes("Max-Age=0") ? "" : cookie.split(";", 1).join();
    return { status: response.status, headers: response.headers, text, json: jsonIn(text) };
  }

  /** Signs in with a key, or with another body. */
  async signIn(key: string | Record<string, unknown>): Promise<ConsoleAnswer> {
    const answer = await this.send("POST", "/console/session", { body: typeof key === "string" ? { key } : key });
    const session = answer.json?.session as { token?: string } | undefined;
    this.token = session?.token ?? this.token;
    return answer;
  }
}

/** A response. */
export interface ConsoleAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // deno-lint-ignore no-explicit-any -- a test looks wherever it likes
  readonly json: any;
}

function jsonIn(text: string): unknown {
  return text.startsWith("{") ? JSON.parse(text) : null;
}
