import { DOCUMENTATION_ROOT } from "../../platform/endpoints/service.ts";

/**
 * A page of HTML in the frame that all pages share.
 *
 * @param title Plain text; the rest is HTML.
 */
export function framed(title: string, navigation: string, main: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Switchyard</title>
<link rel="stylesheet" href="${DOCUMENTATION_ROOT}/style.css">
</head>
<body>
<nav aria-label="Pages">${navigation}</nav>
<main>${main}</main>
</body>
</html>
`;
}

/** Text in HTML and in attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** A sentence with code in backticks, as HTML. */
export function sentence(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

/** A word or a value as code. */
export function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`;
}
