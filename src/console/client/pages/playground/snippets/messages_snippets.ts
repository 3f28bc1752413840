import type { JsonObject } from "../../../json.ts";
import { pythonArguments, typescriptObject } from "./literals.ts";
import { KEY_VARIABLE, type Snippets } from "./snippet.ts";

/** Messages as programs. */
export const messagesSnippets: Snippets = {
  keyFields: [`x-api-key: $${KEY_VARIABLE}`, "anthropic-version: 2023-06-01"],
  python: ({ body }, baseUrl) =>
    `import os

from anthropic import Anthropic

client = Anthropic(base_url=${JSON.stringify(`${baseUrl}/msgcompat`)}, api_key=os.environ[${
      JSON.stringify(KEY_VARIABLE)
    }])

stream = client.messages.create${pythonArguments(pythonMembers(body))}
for event in stream:
    if event.type == "content_block_delta" and event.delta.type == "text_delta":
        print(event.delta.text, end="", flush=True)
`,
  typescript: ({ body }, baseUrl) =>
    `import process from "node:process";
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: ${
      JSON.stringify(`${baseUrl}/msgcompat`)
    }, apiKey: process.env.${KEY_VARIABLE} });

const stream = await client.messages.create(${typescriptOf(body)});
for await (const event of stream) {
  if (event.type === "content_block_delta" && event.delta.type === "text_delta") {
    process.stdout.write(event.delta.text);
  }
}
`,
};

/** The newest clients of Anthropic have no parameter for a temperature, which the API still takes. */
function pythonMembers({ temperature, ...known }: JsonObject): JsonObject {
  return { ...known, ...temperature !== undefined && { extra_body: { temperature } } };
}

function typescriptOf({ temperature, ...known }: JsonObject): string {
  return typescriptObject(known, { temperature });
}
