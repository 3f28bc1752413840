import {
  chatReply,
  type ScriptedUpstream,
  startScriptedUpstream,
  STREAM_HEAD,
} from "../../support/scripted_upstream.ts";

/** A vendor of the chat format whose streams stop after their first text until the test lets them go on. */
export interface HeldVendor {
  readonly upstream: ScriptedUpstream;
  /** Lets all streams end. */
  release(): void;
}

/** The tokens of every reply. */
const USAGE = { prompt: 10, completion: 5 };
/** What a reply costs with the prices of `textModel`, in USD. */
export const REPLY_COST = 20 / 1e6;

/** Starts the vendor. Replies that are no streams come at once. */
export function startHeldVendor(): HeldVendor {
  const released = Promise.withResolvers<void>();
  const upstream = startScriptedUpstream(async (side) => {
    for (let request = await side.request(); request !== null; request = await side.request()) {
      if (!/"stream": ?true/.test(request.body)) {
        await side.say(chatReply("hello", USAGE));
        continue;
      }
      await side.say(STREAM_HEAD + event({ delta: { role: "assistant", content: "hel" } }));
      await released.promise;
      await side.say(event({ delta: { content: "lo" } }) + event({ delta: {}, finish_reason: "stop" }) + END);
      return;
    }
  });
  return { upstream, release: () => released.resolve() };
}

/** An open stream of a gateway. */
export interface OpenStream {
  readonly requestId: string;
  /** Everything that it sends until its end. */
  readonly text: Promise<string>;
}

/** Starts a stream of the model `acme/m`. Resolves with its first text. */
export async function openStream(address: string, key: string): Promise<OpenStream> {
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/m", stream: true, messages: [{ role: "user", content: "hi" }] }),
  });
  if (response.status !== 200 || response.body === null) throw new Error(await response.text());
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("hel")) text += (await reader.read()).value ?? "";
  const rest = (async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
    return text;
  })();
  rest.catch(() => {}); // read by the test later
  return { requestId: response.headers.get("x-request-id") ?? "", text: rest };
}

function event(choice: Readonly<Record<string, unknown>>): string {
  return `data: ${JSON.stringify(chunkOf([{ index: 0, ...choice }]))}\n\n`;
}

const { prompt, completion } = USAGE;
const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
const END = `data: ${JSON.stringify({ ...chunkOf([]), usage })}\n\ndata: [DONE]\n\n`;

function chunkOf(choices: readonly unknown[]) {
  return { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices };
}
