import { type PreparedResponse, preparedResponse } from "../../vendors/catalog/listing.ts";
import type { Handler, Inbound } from "../../platform/http/request/inbound.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { type ApiDescription, readDescription } from "./api_description.ts";
import { navigationOf, renderPage } from "./page.ts";
import { REFERENCE_PATH, renderReference } from "./reference/page.ts";
import { STYLE } from "./style.ts";
import { type PageTexts, readPageTexts } from "./texts.ts";

/** The page that is shown first. */
const FIRST_PAGE = "api/README";

/** The handlers of the documentation. */
export interface DocumentationHandlers {
  /** The description of the interface. */
  readonly describe: Handler;
  readonly firstPage: Handler;
  /** The page that the parameter `path` names, or the style of all pages. */
  readonly page: Handler;
}

/**
 * Shows every page of the documentation with the API reference, and the description of the interface. They are public:
 * they contain nothing of this gateway's configuration but its address.
 *
 * @param baseUrl Gives the gateway's own address without a final slash.
 */
export function documentationHandlers(baseUrl: () => string): DocumentationHandlers {
  const page = pageReader(baseUrl);
  return {
    describe: descriptionReader(baseUrl),
    firstPage: () => page(FIRST_PAGE),
    page: ({ params: { path = "" } }) => path === "style.css" ? respond(STYLE, "text/css; charset=utf-8") : page(path),
  };
}

/** Reads pages by their names; each is rendered once for an address, as commands of the reference begin with it. */
function pageReader(baseUrl: () => string): (name: string) => Promise<Response> {
  let texts: Promise<PageTexts> | null = null;
  let rendered = { url: "", pages: new Map<string, string>() };
  const render = async (name: string, all: PageTexts): Promise<string | null> => {
    if (name !== REFERENCE_PATH && !name.startsWith(`${REFERENCE_PATH}/`)) {
      return all.has(name) ? renderPage(name, all) : null;
    }
    const tag = name.slice(REFERENCE_PATH.length + 1);
    return renderReference(tag, withAddress(await readDescription(), baseUrl()), navigationOf(name, all));
  };
  return async (name) => {
    texts ??= readPageTexts();
    const all = await texts.catch((error) => {
      texts = null;
      throw error;
    });
    const url = baseUrl();
    if (rendered.url !== url) rendered = { url, pages: new Map() };
    const { pages } = rendered;
    const html = pages.get(name) ?? await render(name, all);
    if (html === null) throw new GatewayError("not_found", "Cannot find this page: /docs lists all of them");
    pages.set(name, html);
    return respond(html, "text/html; charset=utf-8");
  };
}

/** The description with the address of this gateway, which can change while it runs. */
function descriptionReader(baseUrl: () => string): (inbound: Inbound) => Promise<Response> {
  let made: { readonly url: string; readonly answer: PreparedResponse } | null = null;
  return async (inbound) => {
    const url = baseUrl();
    if (made?.url !== url) {
      made = { url, answer: preparedResponse(withAddress(await readDescription(), url), "public, no-cache") };
    }
    return await made.answer(inbound);
  };
}

function withAddress(description: ApiDescription, url: string): ApiDescription {
  return { ...description, servers: [{ url }] };
}

function respond(body: string, mediaType: string): Response {
  return new Response(body, { headers: { "content-type": mediaType, "cache-control": "no-cache" } });
}
