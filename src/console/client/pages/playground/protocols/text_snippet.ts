import type { WrittenRequest } from "../conversation.ts";
import { PROTOCOLS } from "./all.ts";
import { type Language, shellWord, type Snippets } from "../snippets/snippet.ts";

/**
 * A request as a program that sends it and prints the answer.
 *
 * @param baseUrl The gateway's public address, without a final slash.
 */
export function textSnippet(language: Language, request: WrittenRequest, baseUrl: string): string {
  const { snippets } = PROTOCOLS[request.protocol];
  return language === "curl" ? curl(request, snippets, baseUrl) : snippets[language](request, baseUrl);
}

/** The body follows in a here-document, because arguments have a maximum length, and nothing in it is expanded. */
function curl({ path, body }: WrittenRequest, { keyFields }: Snippets, baseUrl: string): string {
  const fields = [...keyFields, "Content-Type: application/json"];
  return `curl --no-buffer ${shellWord(baseUrl + path)} \\
${fields.map((field) => `  --header "${field}" \\\n`).join("")}  --data-binary @- <<'JSON'
${JSON.stringify(body, null, 2)}
JSON
`;
}
