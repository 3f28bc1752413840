import { KEY_VARIABLE } from "./snippet.ts";

/** The client of OpenAI in Python, as the start of a program. */
export function openaiInPython(baseUrl: string): string {
  return `import os

from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(`${baseUrl}/v1`)}, api_key=os.environ[${JSON.stringify(KEY_VARIABLE)}])
`;
}

/** The client of OpenAI in TypeScript, as the start of a program. */
export function openaiInTypescript(baseUrl: string): string {
  return `import process from "node:process";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: ${JSON.stringify(`${baseUrl}/v1`)}, apiKey: process.env.${KEY_VARIABLE} });
`;
}
