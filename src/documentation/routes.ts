import type { ErrorRenderer, Route } from "../http/inbound.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import { renderPage } from "./page.ts";
import { STYLE } from "./style.ts";
import { type PageTexts, readPageTexts } from "./texts.ts";

/** The page that `/docs` shows. */
const FIRST_PAGE = "api/README";

/**
 * `GET /docs`, and every page of the documentation below it. They are public: they contain nothing of this gateway's
 * configuration.
 */
export function documentationRoutes(renderError: ErrorRenderer): Route[] {
  let texts: Promise<PageTexts> | null = null;
  const rendered = new Map<string, string>();
  const page = async (name: string): Promise<Response> => {
    texts ??= readPageTexts();
    const all = await texts.catch((error) => {
      texts = null;
      throw error;
    });
    if (!all.has(name)) throw new GatewayError("not_found", "Cannot find this page: /docs lists all of them");
    const html = rendered.get(name) ?? renderPage(name, all);
    rendered.set(name, html);
    return respond(html, "text/html; charset=utf-8");
  };
  return [
    { method: "GET", path: "/docs", renderError, handler: () => page(FIRST_PAGE) },
    {
      method: "GET",
      path: "/docs/:path*",
      renderError,
      handler: ({ params: { path = "" } }) =>
        path === "style.css" ? respond(STYLE, "text/css; charset=utf-8") : page(path),
    },
  ];
}

function respond(body: string, mediaType: string): Response {
  return new Response(body, { headers: { "content-type": mediaType, "cache-control": "no-cache" } });
}
