import { REWRITE_RULES } from "../../src/entry/app/routing/rewrite_rules.ts";
import { createRouter } from "../../src/entry/app/routing/router.ts";
import type { Route } from "../../src/platform/http/request/inbound.ts";
import { renderDefaultError } from "../../src/protocols/default/error.ts";
import {
  type ApiContent,
  type ApiDescription,
  type ApiOperation,
  type ApiResponse,
  readDescription,
} from "../../src/protocols/documentation/api_description.ts";
import { routesOf } from "./described_routes.ts";
import { schemaProblems, valueAt } from "./schema_check.ts";

/** A request and what came back. */
export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  /** Null unless it was sent as a text. */
  readonly requestText: string | null;
  readonly response: Response;
}

/** The description of the interface, ready to check exchanges. */
export class DescribedApi {
  readonly #router: ReturnType<typeof createRouter>;
  readonly #operations = new Map<Route["handler"], string>();

  constructor(readonly description: ApiDescription) {
    const routes = routesOf(description).map(({ method, path, pointer }): Route => {
      const handler = () => new Response();
      this.#operations.set(handler, pointer);
      return { method, path, handler, renderError: renderDefaultError };
    });
    this.#router = createRouter(routes, {
      sections: [],
      renderError: renderDefaultError,
      rewriteRules: REWRITE_RULES,
    });
  }

  /** Reads the description of this repository. */
  static async read(): Promise<DescribedApi> {
    return new DescribedApi(await readDescription());
  }

  /** The place of an operation in the document; null for an address that is not described. */
  operationAt({ method, url, headers }: Pick<Exchange, "method" | "url" | "headers">): string | null {
    const match = this.#router.match(method, url.pathname, headers);
    return match.route === null ? null : this.#operations.get(match.route.handler) ?? null;
  }

  /** What is wrong with the status, type and header fields of a response, and with the request that it accepts. */
  problemsOfHead(exchange: Exchange, pointer: string): string[] {
    const { response } = exchange;
    const reply = this.replyOf(pointer, response.status);
    if (reply === null) return [`the status ${response.status} is not described`];
    const { name, response: described } = reply;
    const mediaType = mediaTypeOf(response);
    const problems: string[] = [];
    const hasBody = exchange.method !== "HEAD" && ![204, 304].includes(response.status);
    if (hasBody && mediaType !== null && contentOf(described, mediaType) === null) {
      problems.push(`the type ${mediaType} of ${name} is not described`);
    }
    if (response.status >= 400) return problems;
    const headers = new Set(Object.keys(described.headers ?? {}).map((each) => each.toLowerCase()));
    for (const [header] of response.headers) {
      const isOurs = /^(x-service-|idempotent-|location$|etag$|ratelimit(-policy)?$)/.test(header);
      if (isOurs && !headers.has(header)) problems.push(`the header field ${header} of ${name} is not described`);
    }
    return [...problems, ...this.#problemsOfRequest(exchange, pointer)];
  }

  #problemsOfRequest({ requestText, headers }: Exchange, pointer: string): string[] {
    const { content } = this.#operation(pointer).requestBody ?? {};
    if (requestText === null || requestText === "" || content === undefined) return [];
    if (content["application/json"] === undefined || headers.get("content-type")?.includes("form")) return [];
    const value = parsed(requestText);
    if (value === undefined) return [];
    return this.problemsOf(value, `${pointer}/requestBody/content/application~1json/schema`)
      .filter((problem) => !IGNORED_FIELDS.test(problem)).map((problem) => `request: ${problem}`);
  }

  /** What is wrong with the whole body of a response. */
  problemsOfBody(response: Response, text: string, pointer: string): string[] {
    const reply = this.replyOf(pointer, response.status);
    const mediaType = mediaTypeOf(response);
    if (reply === null || mediaType === null) return [];
    const content = contentOf(reply.response, mediaType);
    if (content?.content.schema === undefined) return [];
    const place = `${reply.pointer}/content/${escaped(content.name)}`;
    if (mediaType === "text/event-stream") return this.#problemsOfEvents(text, content.content, place);
    if (mediaType !== "application/json") return [];
    const value = parsed(text);
    if (value === undefined) return text === "" ? [] : ["the body is no JSON"];
    const problems = this.problemsOf(value, `${place}/schema`);
    return response.status === 404 && this.#isAnyError(value) ? [] : problems;
  }

  /** A gateway without the endpoint answers as for an unknown path, by the client's protocol. */
  #isAnyError(value: unknown): boolean {
    return Object.keys(this.description.components.responses).some((name) =>
      this.problemsOf(value, `/components/schemas/${name}`).length === 0
    );
  }

  #problemsOfEvents(text: string, { "x-events": events }: ApiContent, place: string): string[] {
    if (events === undefined) return [];
    return text.split(/\r?\n\r?\n/).flatMap((frame) => this.#problemsOfFrame(frame, events, place));
  }

  #problemsOfFrame(frame: string, events: NonNullable<ApiContent["x-events"]>, place: string): string[] {
    const name = /^event: ?(.*)$/m.exec(frame)?.[1];
    const data = [...frame.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line).join("\n");
    const value = parsed(data);
    if (value === undefined || data === "[DONE]") return [];
    const isError = typeof value === "object" && value !== null && "error" in value && !("id" in value);
    if (isError && (name === undefined || name === "error")) return [];
    const index = events.findIndex((each) => each.data !== undefined && matches(each.event, name));
    if (index < 0) return [`the event ${name ?? "without a name"} is not described`];
    return this.problemsOf(value, `${place}/x-events/${index}/data`).map((problem) => `event ${name}: ${problem}`);
  }

  /** What is wrong with a value, by the schema at a place of the document. */
  problemsOf(value: unknown, pointer: string): string[] {
    return schemaProblems(value, this.description, pointer).slice(0, 12);
  }

  /** The description of a status; errors that are not listed are all alike. Null for a success that is not listed. */
  replyOf(pointer: string, status: number): { name: string; response: ApiResponse; pointer: string } | null {
    const { responses } = this.#operation(pointer);
    const name = String(status) in responses ? String(status) : status >= 400 ? "default" : null;
    const found = name === null ? undefined : responses[name];
    if (name === null || found === undefined) return null;
    if (found.$ref === undefined) return { name, response: found, pointer: `${pointer}/responses/${name}` };
    const target = found.$ref.slice(1);
    return { name, response: valueAt(this.description, target) as ApiResponse, pointer: target };
  }

  #operation(pointer: string): ApiOperation {
    return valueAt(this.description, pointer) as ApiOperation;
  }
}

/** Fields that some models ignore, whatever they hold. Source: docs/api/images.md#generations. */
const IGNORED_FIELDS = /^\/input_images\b/;

function matches(described: string | undefined, name: string | undefined): boolean {
  if (described?.endsWith("…")) return name?.startsWith(described.slice(0, -1)) ?? false;
  return described === name;
}

/** The media type of a body; null for no body. */
function mediaTypeOf(response: Response): string | null {
  return response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? null;
}

function contentOf({ content = {} }: ApiResponse, mediaType: string): { name: string; content: ApiContent } | null {
  const [type] = mediaType.split("/");
  for (const name of [mediaType, `${type}/*`, "*/*"]) {
    const found = content[name];
    if (found !== undefined) return { name, content: found };
  }
  return null;
}

function escaped(part: string): string {
  return part.replaceAll("~", "~0").replaceAll("/", "~1");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
