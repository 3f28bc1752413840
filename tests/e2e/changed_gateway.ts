import { textModel } from "../support/gateway.ts";
import { type LiveTestGateway, startLiveGateway } from "../support/live_gateway.ts";
import { answer, type ScriptedUpstream, startScriptedUpstream, STREAM_HEAD } from "../support/scripted_upstream.ts";

/** A vendor whose replies say which one it is. A streamed reply ends when the test says so. */
export function startVendor(name: string, streamEnds: Promise<void> = Promise.resolve()): ScriptedUpstream {
  return startScriptedUpstream(async (side) => {
    for (let request = await side.request(); request !== null; request = await side.request()) {
      if (!request.body.includes('"stream":true')) {
        const message = { role: "assistant", content: name };
        await side.say(
          answer(200, JSON.stringify({ ...REPLY, choices: [{ index: 0, message, finish_reason: "stop" }] })),
        );
        continue;
      }
      await side.say(STREAM_HEAD + chunk({ delta: { role: "assistant", content: name } }));
      await streamEnds;
      await side.say(
        chunk({ delta: {}, finish_reason: "stop" }) + `data: ${JSON.stringify(USAGE)}\n\ndata: [DONE]\n\n`,
      );
      return;
    }
  });
}

const REPLY = {
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const USAGE = { ...REPLY, object: "chat.completion.chunk", choices: [] };

function chunk(choice: Record<string, unknown>): string {
  const event = {
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, ...choice }],
  };
  return `data: ${JSON.stringify(event)}\n\n`;
}

/** A provider at a vendor of {@linkcode startVendor}. */
export function provider(vendor: ScriptedUpstream, key = "vendor-key-one"): Record<string, unknown> {
  return { kind: "openai", base_url: vendor.baseUrl, api_key: key, speaks: "chat" };
}

/** The text of a reply; undefined for an error. */
export function contentOf({ body }: { body: Record<string, unknown> }): string | undefined {
  return (body as { choices?: { message: { content: string } }[] }).choices?.[0]?.message.content;
}

/** Runs a test with two vendors and a gateway whose model `acme/one` is served by the first. */
export async function withGateway(
  test: (parts: { gateway: LiveTestGateway; one: ScriptedUpstream; two: ScriptedUpstream }) => Promise<void>,
  options: { readonly streamEnd?: PromiseWithResolvers<void>; readonly sections?: Record<string, unknown> } = {},
): Promise<void> {
  const [one, two] = [startVendor("one", options.streamEnd?.promise), startVendor("two")];
  const gateway = await startLiveGateway({
    sections: { providers: { first: provider(one) }, models: [textModel("acme/one", ["first"])], ...options.sections },
  });
  try {
    await test({ gateway, one, two });
  } finally {
    options.streamEnd?.resolve(); // after a failed test, too
    await gateway.stop();
    await one.stop();
    await two.stop();
  }
}

/** The path of a reload, below `/admin/v1`. */
export const RELOAD = "/config/reload";
