// The same gateway with the official `@anthropic-ai/sdk` package. The model may belong to any vendor.
import Anthropic from "@anthropic-ai/sdk";
import process from "node:process";

const address = process.env.SWITCHYARD_ADDRESS ?? "http://127.0.0.1:8787";
const model = process.env.SWITCHYARD_MODEL ?? "sandbox/chat-1";
const client = new Anthropic({ baseURL: `${address}/msgcompat`, apiKey: process.env.SWITCHYARD_KEY });
const request = { model, max_tokens: 200, messages: [{ role: "user", content: "Say hello" }] };

const reply = await client.messages.create(request);
console.log(`Whole: ${reply.content[0].text}`);

const stream = client.messages.stream(request);
let text = "";
stream.on("text", (delta) => text += delta);
const { usage } = await stream.finalMessage();
console.log(`Streamed: ${text}`);
console.log(`Tokens: ${usage.input_tokens + usage.output_tokens}`);
