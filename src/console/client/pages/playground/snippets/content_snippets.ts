import { type JsonObject, objectIn } from "../json.ts";
import { pythonArguments, typescriptLiteral } from "./literals.ts";
import { KEY_VARIABLE, type Snippets } from "./snippet.ts";

/** Generate content as programs. */
export const contentSnippets: Snippets = {
  keyFields: [`x-goog-api-key: $${KEY_VARIABLE}`],
  python: ({ model, body }, baseUrl) =>
    `import os

from google import genai

client = genai.Client(api_key=os.environ[${JSON.stringify(KEY_VARIABLE)}], http_options={"base_url": ${
      JSON.stringify(`${baseUrl}/gencompat`)
    }})

stream = client.models.generate_content_stream${pythonArguments(googleArguments(model, body))}
for chunk in stream:
    print(chunk.text or "", end="", flush=True)
`,
  typescript: ({ model, body }, baseUrl) =>
    `import process from "node:process";
import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({
  apiKey: process.env.${KEY_VARIABLE},
  httpOptions: { baseUrl: ${JSON.stringify(`${baseUrl}/gencompat`)} },
});

const stream = await client.models.generateContentStream(${typescriptLiteral(googleArguments(model, body))});
for await (const chunk of stream) {
  process.stdout.write(chunk.text ?? "");
}
`,
};

/** Google's clients take everything besides the contents as one configuration. */
function googleArguments(model: string, body: JsonObject): JsonObject {
  const { contents, generationConfig, ...rest } = body;
  const config = { ...objectIn(generationConfig), ...rest };
  return { model, contents, ...Object.keys(config).length > 0 && { config } };
}
