// Creates a video through Switchyard with `client.videos` of the official `openai` package, and saves it.
import { writeFile } from "node:fs/promises";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import OpenAI from "openai";

const address = process.env.SWITCHYARD_ADDRESS ?? "http://127.0.0.1:8787";
const model = process.env.SWITCHYARD_MODEL ?? "sandbox/video-1";
const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: process.env.SWITCHYARD_KEY });

let video = await client.videos.create({ model, prompt: "A lighthouse at dusk", seconds: "5" });
console.log(`Created: ${video.seconds} seconds`);
while (video.status === "queued" || video.status === "in_progress") {
  await setTimeout(1_000);
  video = await client.videos.retrieve(video.id);
}
console.log(`Ended: ${video.status}`);
if (video.status !== "completed") throw new Error(video.error?.message);

const content = await client.videos.downloadContent(video.id);
const bytes = new Uint8Array(await content.arrayBuffer());
await writeFile(process.argv[2] ?? "video.mp4", bytes);
console.log(`Saved: ${bytes.length} bytes`);
