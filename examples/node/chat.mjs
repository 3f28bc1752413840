// A chat completion through Switchyard with the official `openai` package: first whole, then streamed.
import OpenAI from "openai";
import process from "node:process";

const address = process.env.SWITCHYARD_ADDRESS ?? "http://127.0.0.1:8787";
const model = process.env.SWITCHYARD_MODEL ?? "sandbox/chat-1";
const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: process.env.SWITCHYARD_KEY });
const messages = [{ role: "user", content: "Say hello" }];

const reply = await client.chat.completions.create({ model, messages });
console.log(`Whole: ${reply.choices[0].message.content}`);

// With `include_usage`, the last chunk has no choice but the number of tokens.
const stream = await client.chat.completions.create({
  model,
  messages,
  stream: true,
  stream_options: { include_usage: true },
});
let text = "";
let usage;
for await (const chunk of stream) {
  text += chunk.choices[0]?.delta.content ?? "";
  usage = chunk.usage ?? usage;
}
console.log(`Streamed: ${text}`);
console.log(`Tokens: ${usage.total_tokens}`);
