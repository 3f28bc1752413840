import { pythonArguments, typescriptLiteral } from "./literals.ts";
import { openaiInPython, openaiInTypescript } from "./openai_client.ts";
import { KEY_VARIABLE, type Snippets } from "./snippet.ts";

/** Responses as programs. */
export const responsesSnippets: Snippets = {
  keyFields: [`Authorization: Bearer $${KEY_VARIABLE}`],
  python: ({ body }, baseUrl) =>
    `${openaiInPython(baseUrl)}
stream = client.responses.create${pythonArguments(body)}
for event in stream:
    if event.type == "response.output_text.delta":
        print(event.delta, end="", flush=True)
`,
  typescript: ({ body }, baseUrl) =>
    `${openaiInTypescript(baseUrl)}
const stream = await client.responses.create(${typescriptLiteral(body)});
for await (const event of stream) {
  if (event.type === "response.output_text.delta") process.stdout.write(event.delta);
}
`,
};
