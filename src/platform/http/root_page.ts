import { CONSOLE_ROOT, DOCUMENTATION_ENDPOINTS, DOCUMENTATION_ROOT } from "../endpoints/service.ts";

/** The pages of a gateway that people look for at its base address, with what they are. */
const PAGES: readonly (readonly [path: string, name: string, text: string])[] = [
  [CONSOLE_ROOT, "Console", "usage, requests, accounts, keys and a playground"],
  [DOCUMENTATION_ROOT, "Documentation", "how to connect clients, and how to run the gateway"],
  [DOCUMENTATION_ENDPOINTS.readDescription.path, "OpenAPI", "the description of all endpoints"],
];

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
  "x-content-type-options": "nosniff",
};

/**
 * The response to a request for the base address: a page for a browser, JSON for programs.
 *
 * @param accept The field `Accept` of the request; null without one.
 * @param isServed Whether the gateway serves a path. The page has no link to others.
 */
export function rootResponse(accept: string | null, isServed: (path: string) => boolean): Response {
  const fields = { vary: "accept" };
  if (!prefersHtml(accept)) return Response.json({ service: "switchyard", status: "ok" }, { headers: fields });
  const links = PAGES.filter(([path]) => isServed(path)).map(([path, name, text]) =>
    `<li><a href="${path}">${name}</a>: ${text}</li>`
  );
  return new Response(pageWith(links), { headers: { ...HEADERS, ...fields } });
}

/** Browsers name the type; programs accept anything, or JSON. */
function prefersHtml(accept: string | null): boolean {
  return accept !== null && /(?:^|,)\s*text\/html\s*(?:;|,|$)/i.test(accept);
}

function pageWith(links: readonly string[]): string {
  const list = links.length === 0 ? "" : `<ul>\n${links.join("\n")}\n</ul>\n`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Switchyard</title>
<style>
:root { color-scheme: light dark; }
body { font: 1rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem; }
</style>
</head>
<body>
<main>
<h1>Switchyard</h1>
<p>This gateway runs. Clients send requests to this address, with <code>/v1</code> for most of them.</p>
${list}</main>
</body>
</html>
`;
}
