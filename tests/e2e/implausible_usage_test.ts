import { assert, assertEquals } from "@std/assert";
import { startTestGateway, type TestGateway, textModel } from "../support/gateway.ts";
import { skipReplyChecks } from "../support/reply_checks.ts";
import { itemAt } from "../support/items.ts";
import { accountMoney } from "../support/account_money.ts";
import { answer, startScriptedUpstream, STREAM_HEAD } from "../support/scripted_upstream.ts";
import {
  CALLER_PROTOCOLS,
  type CallerProtocol,
  CHAT,
  CONTENT,
  MESSAGES,
  RESPONSES,
  sendAs,
} from "./caller_protocols.ts";

/** The counters that a vendor reports: of the prompt and of the reply. */
type Counters = readonly [prompt: unknown, output: unknown];

const KINDS: Readonly<Record<CallerProtocol["name"], string>> = {
  chat: "openai",
  responses: "openai",
  messages: "anthropic",
  content: "google",
};

const TEXT = "one two three four five";

/** A whole reply with these counters. */
function whole(face: CallerProtocol, [prompt, output]: Counters): string {
  return JSON.stringify(wholeBody(face, prompt, output));
}

function wholeBody(face: CallerProtocol, prompt: unknown, output: unknown): Record<string, unknown> {
  switch (face.name) {
    case "chat": {
      const message = { role: "assistant", content: TEXT };
      const choices = [{ index: 0, message, finish_reason: "stop" }];
      const usage = { prompt_tokens: prompt, completion_tokens: output };
      return { id: "c", object: "chat.completion", created: 1, model: "m", choices, usage };
    }
    case "responses": {
      const content = [{ type: "output_text", text: TEXT, annotations: [] }];
      const message = { type: "message", id: "msg_1", role: "assistant", status: "completed", content };
      const usage = { input_tokens: prompt, output_tokens: output };
      return { id: "r", object: "response", created_at: 1, model: "m", status: "completed", output: [message], usage };
    }
    case "messages": {
      const content = [{ type: "text", text: TEXT }];
      const usage = { input_tokens: prompt, output_tokens: output };
      const stop = { stop_reason: "end_turn", stop_sequence: null };
      return { id: "msg_1", type: "message", role: "assistant", model: "m", content, ...stop, usage };
    }
    case "content": {
      const candidates = [{ content: { role: "model", parts: [{ text: TEXT }] }, finishReason: "STOP", index: 0 }];
      return { candidates, usageMetadata: { promptTokenCount: prompt, candidatesTokenCount: output } };
    }
  }
}

/** A streamed reply with these counters in its reports, in their order. */
function streamed(face: CallerProtocol, reports: readonly Counters[]): string {
  const frames = streamFrames(face, reports);
  return STREAM_HEAD + frames.map((frame) => {
    const event = typeof frame === "object" && "type" in frame ? `event: ${frame.type}\n` : "";
    return `${event}data: ${typeof frame === "string" ? frame : JSON.stringify(frame)}\n\n`;
  }).join("");
}

function streamFrames(face: CallerProtocol, reports: readonly Counters[]): (string | Record<string, unknown>)[] {
  const last = itemAt(reports, reports.length - 1);
  switch (face.name) {
    case "chat": {
      const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
      const said = (delta: unknown, finish_reason: string | null) => [{ index: 0, delta, finish_reason }];
      return [
        { ...chunk, choices: said({ role: "assistant", content: TEXT }, null) },
        { ...chunk, choices: said({}, "stop") },
        ...reports.map(([prompt_tokens, completion_tokens]) => ({
          ...chunk,
          choices: [],
          usage: { prompt_tokens, completion_tokens },
        })),
        "[DONE]",
      ];
    }
    case "responses": {
      const delta = {
        type: "response.output_text.delta",
        output_index: 0,
        content_index: 0,
        item_id: "msg_1",
        delta: TEXT,
      };
      return [delta, { type: "response.completed", response: wholeBody(face, ...last) }];
    }
    case "messages": {
      const usages = reports.map(([input_tokens, output_tokens]) => ({ input_tokens, output_tokens }));
      const message = { ...wholeBody(MESSAGES, 0, 0), content: [], stop_reason: null, usage: usages[0] };
      return [
        { type: "message_start", message },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: TEXT } },
        { type: "content_block_stop", index: 0 },
        {
          type: "message_delta",
          delta: { stop_reason: "end_turn", stop_sequence: null },
          usage: usages[usages.length - 1],
        },
        { type: "message_stop" },
      ];
    }
    case "content":
      return reports.map(([promptTokenCount, candidatesTokenCount], index) => ({
        candidates: [{
          content: { role: "model", parts: [{ text: index === 0 ? TEXT : "" }] },
          ...index === reports.length - 1 && { finishReason: "STOP" },
          index: 0,
        }],
        usageMetadata: { promptTokenCount, candidatesTokenCount },
      }));
  }
}

/** A gateway in front of a vendor; `say` sets its next response. */
interface Stage {
  readonly gateway: TestGateway;
  say(bytes: string): void;
  stop(): Promise<void>;
}

const stages = new Map<CallerProtocol, Promise<Stage>>();

/** The stage of a vendor, which its tests share. */
function stageOf(face: CallerProtocol): Promise<Stage> {
  const stage = stages.get(face) ?? openStage(face);
  stages.set(face, stage);
  return stage;
}

/** The model has a context of 100,000 tokens and 10,000 of output. */
async function openStage(face: CallerProtocol): Promise<Stage> {
  let bytes = "";
  const vendor = startScriptedUpstream(async (side) => {
    while (await side.request() !== null) {
      await side.say(bytes);
      if (bytes.startsWith(STREAM_HEAD)) return;
    }
  });
  const provider = { kind: KINDS[face.name], base_url: vendor.baseUrl, api_key: "vendor-key" };
  const speaks = face.name === "chat" || face.name === "responses" ? { speaks: face.name } : {};
  const model = { ...textModel("vendor/m", ["vendor"]), context_length: 100_000 };
  const gateway = await startTestGateway({
    balance: "1000.00",
    config: {
      providers: { vendor: { ...provider, ...speaks } },
      models: [{ ...model, top_provider: { max_completion_tokens: 10_000 } }],
    },
  });
  skipReplyChecks(gateway.address);
  return {
    gateway,
    say: (next) => void (bytes = next),
    async stop() {
      await gateway.stop();
      await vendor.stop();
    },
  };
}

/** Sends a request and returns its charge. */
async function chargeOf(gateway: TestGateway, face: CallerProtocol, stream: boolean): Promise<bigint> {
  const before = await accountMoney(gateway).balance();
  const { status, text } = await sendAs(face, gateway, { model: "vendor/m", stream });
  assertEquals(status, 200, text);
  return before - await accountMoney(gateway).balance();
}

const loggedIn = ({ logLines }: TestGateway) => logLines.filter((line) => line.includes('"usage_implausible"')).length;

/** Impossible counters, with the least and the most that may be charged for them. */
const WRONG: readonly (readonly [name: string, counters: Counters, least: bigint, most: bigint])[] = [
  ["a prompt of 1e10", [1e10, 5], 1_000_000_000n, 1_000_100_000n],
  ["a prompt of 1e18", [1e18, 5], 1_000_000_000n, 1_000_100_000n],
  ["a prompt of 1e308", [1e308, 5], 1_000_000_000n, 1_000_100_000n],
  ["an output of 1e308", [5, 1e308], 200_000_000n, 200_050_000n],
  ["a negative prompt", [-5, 5], 50_000n, 2_000_000n],
  ["a negative output", [5, -5], 50_000n, 2_000_000n],
  ["a fractional output", [5, 0.5], 50_000n, 2_000_000n],
  ["an output of zero", [5, 0], 100_000n, 2_000_000n],
  ["a prompt of 1e18 without output", [1e18, 0], 1_000_000_000n, 1_001_000_000n],
  ["an output of 1e18 without a prompt", [0, 1e18], 200_000_000n, 202_000_000n],
  ["nothing at all", [0, 0], 100_000n, 2_000_000n],
];

for (const vendor of [CHAT, RESPONSES, MESSAGES, CONTENT]) {
  for (const face of CALLER_PROTOCOLS) {
    for (const stream of [false, true]) {
      Deno.test(`an impossible usage of a ${vendor.name} vendor is not charged: ${face.name} ${stream ? "stream" : "whole"}`, async () => {
        const { gateway, say } = await stageOf(vendor);
        for (const [name, counters, least, most] of WRONG) {
          const logged = loggedIn(gateway);
          say(stream ? streamed(vendor, [counters]) : answer(200, whole(vendor, counters)));
          const charged = await chargeOf(gateway, face, stream);
          assert(charged >= least && charged <= most, `${name}: ${charged}`);
          assertEquals(loggedIn(gateway), logged + 1, name);
        }
      });
    }
  }
}

for (const vendor of [CHAT, MESSAGES, CONTENT]) {
  Deno.test(`a last report of zero does not replace an earlier one of a ${vendor.name} stream`, async () => {
    const { gateway, say } = await stageOf(vendor);
    say(streamed(vendor, [[1_000, 500], [0, 0]]));
    for (const face of CALLER_PROTOCOLS) {
      assertEquals(await chargeOf(gateway, face, true), 1_000n * 10_000n + 500n * 20_000n, face.name);
    }
  });
}

Deno.test("a plausible usage is charged unchanged, and nothing is logged", async () => {
  for (const face of CALLER_PROTOCOLS) {
    const { gateway, say } = await stageOf(face);
    const logged = loggedIn(gateway);
    say(answer(200, whole(face, [99_000, 9_000])));
    assertEquals(await chargeOf(gateway, face, false), 99_000n * 10_000n + 9_000n * 20_000n, face.name);
    assertEquals(loggedIn(gateway), logged);
  }
});

Deno.test("the gateways of these tests stop", async () => {
  for (const stage of stages.values()) await (await stage).stop();
});
