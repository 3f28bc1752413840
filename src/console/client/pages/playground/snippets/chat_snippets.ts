import { pythonArguments, typescriptLiteral } from "./literals.ts";
import { openaiInPython, openaiInTypescript } from "./openai_client.ts";
import { KEY_VARIABLE, type Snippets } from "./snippet.ts";

/** Chat completions as programs. */
export const chatSnippets: Snippets = {
  keyFields: [`Authorization: Bearer $${KEY_VARIABLE}`],
  python: ({ body }, baseUrl) =>
    `${openaiInPython(baseUrl)}
stream = client.chat.completions.create${pythonArguments(body)}
for chunk in stream:
    for choice in chunk.choices:
        print(choice.delta.content or "", end="", flush=True)
`,
  typescript: ({ body }, baseUrl) =>
    `${openaiInTypescript(baseUrl)}
const stream = await client.chat.completions.create(${typescriptLiteral(body)});
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? "");
}
`,
};
