import type { WrittenRequest } from "../conversation.ts";
import { type JsonObject, objectIn } from "../../../json.ts";
import { pythonArguments, typescriptLiteral } from "./literals.ts";
import { KEY_VARIABLE, type Snippets } from "./snippet.ts";

/** Generate content as programs. */
export const contentSnippets: Snippets = {
  keyFields: [`x-goog-api-key: $${KEY_VARIABLE}`],
  python: (request, baseUrl) =>
    `${pythonClient(baseUrl)}${isStreamed(request) ? pythonStream(request) : pythonFiles(request)}`,
  typescript: (request, baseUrl) =>
    isStreamed(request) ? typescriptStream(request, baseUrl) : typescriptFiles(request, baseUrl),
};

function isStreamed({ path }: WrittenRequest): boolean {
  return path.includes(":stream");
}

function pythonClient(baseUrl: string): string {
  const [key, address] = [KEY_VARIABLE, `${baseUrl}/gencompat`].map((text) => JSON.stringify(text));
  return `import os

from google import genai

client = genai.Client(api_key=os.environ[${key}], http_options={"base_url": ${address}})
`;
}

function pythonStream({ model, body }: WrittenRequest): string {
  return `
stream = client.models.generate_content_stream${pythonArguments(googleArguments(model, body))}
for chunk in stream:
    print(chunk.text or "", end="", flush=True)
`;
}

function pythonFiles({ model, body }: WrittenRequest): string {
  return `
response = client.models.generate_content${pythonArguments(googleArguments(model, body))}
for place, part in enumerate(response.parts or []):
    if part.text:
        print(part.text)
    if part.inline_data and not part.thought:
        with open(f"result-{place + 1}", "wb") as file:
            file.write(part.inline_data.data)
`;
}

function typescriptClient(baseUrl: string): string {
  return `import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({
  apiKey: process.env.${KEY_VARIABLE} ?? "",
  httpOptions: { baseUrl: ${JSON.stringify(`${baseUrl}/gencompat`)} },
});
`;
}

function typescriptStream({ model, body }: WrittenRequest, baseUrl: string): string {
  return `import process from "node:process";
${typescriptClient(baseUrl)}
const stream = await client.models.generateContentStream(${typescriptLiteral(googleArguments(model, body))});
for await (const chunk of stream) {
  process.stdout.write(chunk.text ?? "");
}
`;
}

function typescriptFiles({ model, body }: WrittenRequest, baseUrl: string): string {
  return `import { Buffer } from "node:buffer";
import { writeFileSync } from "node:fs";
import process from "node:process";
${typescriptClient(baseUrl)}
const response = await client.models.generateContent(${typescriptLiteral(googleArguments(model, body))});
for (const [place, part] of (response.candidates?.[0]?.content?.parts ?? []).entries()) {
  if (part.text) console.log(part.text);
  if (part.inlineData?.data && !part.thought) {
    writeFileSync(\`result-\${place + 1}\`, Buffer.from(part.inlineData.data, "base64"));
  }
}
`;
}

/** Google's clients take everything besides the contents as one configuration. */
function googleArguments(model: string, body: JsonObject): JsonObject {
  const { contents, generationConfig, ...rest } = body;
  const config = { ...objectIn(generationConfig), ...rest };
  return { model, contents, ...Object.keys(config).length > 0 && { config } };
}
