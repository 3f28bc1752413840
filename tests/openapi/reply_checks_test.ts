import { assertEquals, assertStringIncludes } from "@std/assert";
import { DescribedApi } from "../support/described_api.ts";
import { checkReplies } from "../support/reply_checks.ts";

const KEY = {
  object: "credits",
  account: "demo",
  balance: "25.0000000000",
  held: "0.0000000000",
  reserved: "0.0000000000",
  overdraft: "0.0000000000",
  unlimited: false,
};

/** A server whose reply to everything is set by the test. */
function startServer(reply: () => Response): { readonly address: string; stop(): Promise<void> } {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, reply);
  return { address: `http://127.0.0.1:${server.addr.port}`, stop: () => server.shutdown() };
}

const FAULTS: readonly (readonly [name: string, reply: () => Response, problem: string])[] = [
  ["lacks a field", () => Response.json({ ...KEY, held: undefined }), '"missingProperty":"held"'],
  ["has another type", () => Response.json({ ...KEY, balance: 25 }), "/balance must be string"],
  ["has a field that is not described", () => Response.json({ ...KEY, colour: "red" }), '"colour"'],
  ["has a status that is not described", () => Response.json(KEY, { status: 202 }), "the status 202"],
  [
    "has a type that is not described",
    () => new Response("<p>", { headers: { "content-type": "text/html" } }),
    "text/html",
  ],
  [
    "has a header field that is not described",
    () => Response.json(KEY, { headers: { "x-service-cost": "1" } }),
    "x-service-cost",
  ],
  [
    "has an error of another protocol",
    () => Response.json({ type: "error" }, { status: 400 }),
    '"missingProperty":"error"',
  ],
];

for (const [name, reply, problem] of FAULTS) {
  Deno.test(`a reply that ${name} fails its reader, and the end of the test`, async () => {
    const { address, stop } = startServer(reply);
    const end = checkReplies(address);
    try {
      const message = await fetch(`${address}/v1/credits`).then((response) => response.json()).then(
        () => "no failure",
        (error: Error) => error.message,
      );
      assertStringIncludes(message, problem);
      assertStringIncludes(messageOf(end), problem);
    } finally {
      await stop();
    }
  });
}

Deno.test("a reply as described is read as without the checks", async () => {
  const { address, stop } = startServer(() => Response.json(KEY));
  const end = checkReplies(address);
  try {
    assertEquals(await (await fetch(`${address}/v1/credits`)).json(), KEY);
    assertEquals(messageOf(end), "no failure");
  } finally {
    await stop();
  }
});

Deno.test("an event of a stream that is not as described fails the reader of the stream", async () => {
  const event = `event: video.generation.pending\ndata: ${JSON.stringify({ id: "1" })}\n\n`;
  const { address, stop } = startServer(() =>
    new Response(event, { headers: { "content-type": "text/event-stream" } })
  );
  const end = checkReplies(address);
  try {
    const message = await fetch(`${address}/v1/videos/1/events`).then((response) => response.text()).then(
      () => "no failure",
      (error: Error) => error.message,
    );
    assertStringIncludes(message, "event video.generation.pending");
    messageOf(end);
  } finally {
    await stop();
  }
});

Deno.test("rewritten addresses and the other paths of the content protocol lead to their operations", async () => {
  const api = await DescribedApi.read();
  const placeOf = (path: string) =>
    api.operationAt({ method: "POST", url: new URL(path, "http://gateway"), headers: new Headers() });
  const generate = "/paths/~1gencompat~1v1beta~1models~1{model}:generateContent/post";
  assertEquals(placeOf("/gencompat/v1/models/openai/gpt:generateContent"), generate);
  assertEquals(placeOf("/gencompat/v1beta/openai%2Fgpt:generateContent"), generate);
  assertEquals(placeOf("/openai/chat/completions"), "/paths/~1v1~1chat~1completions/post");
  assertEquals(placeOf("/console/api/v1/key"), null);
});

function messageOf(run: () => void): string {
  try {
    run();
    return "no failure";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
