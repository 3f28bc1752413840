import { assert, assertEquals } from "@std/assert";
import { atLeast, itemAt } from "../support/items.ts";
import { imageFile, type ImageGateway, imageModel, startImageGateway } from "./image_gateway.ts";
import { startStubVendor } from "./stub_vendor.ts";
import { untilSo } from "../support/patience.ts";

const REQUEST = { model: "sandbox/painter-1", prompt: "a fox", quality: "low", stream: true };

async function withGateway(test: (gateway: ImageGateway) => Promise<void>): Promise<void> {
  const gateway = await startImageGateway();
  try {
    await test(gateway);
  } finally {
    await gateway.stop();
  }
}

const ask = (gateway: ImageGateway, change: Record<string, unknown>) =>
  gateway.post("/v1/images/generations", { ...REQUEST, ...change });

/** The events of a stream: name and data. */
function eventsIn(text: string): [name: string, data: Record<string, unknown>][] {
  return text.split("\n\n").filter((frame) => frame !== "").map((frame) => {
    const [, name, data] = atLeast(/^event: (.*)\ndata: ([^\n]*)$/.exec(frame)!, 3);
    return [name, JSON.parse(data)];
  });
}

Deno.test("the events of a stream have the default protocol's fields, with the usage on the last", async () => {
  await withGateway(async (gateway) => {
    const answer = await ask(gateway, { n: 2, partial_images: 1, output_format: "jpeg", size: "1024x1024" });
    assertEquals(answer.headers.get("content-type"), "text/event-stream");
    const events = eventsIn(await answer.text());
    const prefix = "image_generation";
    assertEquals(events.map(([name]) => name), [
      `${prefix}.partial_image`,
      `${prefix}.completed`,
      `${prefix}.completed`,
    ]);
    for (const [name, data] of events) assertEquals(data.type, name);
    const [partial, first, last] = atLeast(events.map(([, data]) => data), 3);
    assertEquals([partial.partial_image_index, partial.size, partial.output_format], [0, "1024x1024", "jpeg"]);
    assertEquals([first.index, "usage" in first, last.index, "usage" in last], [0, false, 1, true]);
    const spent = 25 - Number(await gateway.balance());
    assertEquals((last.usage as { cost: number }).cost.toFixed(10), spent.toFixed(10));
    assertEquals([last.model, last.background, last.output_format], ["sandbox/painter-1", "auto", "jpeg"]);
  });
});

Deno.test("a failure before the first event has a status, one after it is an event, and neither costs anything", async () => {
  await withGateway(async (gateway) => {
    const early = await ask(gateway, { prompt: "[[fail 500]] fox" });
    assertEquals(early.status, 502);
    await early.body?.cancel();
    for (const order of ["error 1", "cut 1", "close 1"]) {
      const late = await ask(gateway, { prompt: `[[${order}]] fox`, partial_images: 2 });
      assertEquals(late.status, 200);
      const events = eventsIn(await late.text());
      assertEquals(events.map(([name]) => name), ["image_generation.partial_image", "error"], order);
      const error = itemAt(events, 1)[1].error as Record<string, unknown>;
      assertEquals(error.type, "upstream_error");
    }
    assertEquals(await gateway.balance(), "25.0000000000");
  });
});

Deno.test("a caller who disconnects from a stream pays for what the vendor finishes", async () => {
  await withGateway(async (gateway) => {
    const answer = await ask(gateway, { prompt: "[[pause 30]] fox", partial_images: 1 });
    const reader = answer.body!.getReader();
    await reader.read();
    await reader.cancel();
    await untilSo(() => gateway.logLines.some((line) => line.includes('"cost"')));
    const line = JSON.parse(gateway.logLines.find((line) => line.includes('"cost"'))!);
    // The image's 272 tokens and 100 for the partial one.
    assertEquals([line.outputTokens, line.count], [372, 1]);
    assertEquals(await gateway.balance(), (25 - 0.00372 - line.inputTokens / 1e6).toFixed(10));
  });
});

for (const stream of [false, true]) {
  const kind = stream ? "streamed" : "whole";
  Deno.test(`a caller who disconnects before a ${kind} response starts pays for what the vendor makes`, async () => {
    const b64_json = (await imageFile()).toBase64();
    const left = Promise.withResolvers<void>();
    const came = Promise.withResolvers<void>();
    let stopped = false;
    await using vendor = startStubVendor(async (request) => {
      request.signal.addEventListener("abort", () => stopped = true);
      came.resolve();
      await left.promise;
      if (!stream) return Response.json({ data: [{ b64_json }] });
      const event = JSON.stringify({ type: "image_generation.completed", b64_json });
      return new Response(`data: ${event}\n\n`, { headers: { "content-type": "text/event-stream" } });
    });
    const gateway = await startImageGateway({
      providers: { stub: { kind: "openai", base_url: `${vendor.address}/v1`, api_key: "stub-key" } },
      models: [imageModel("stub/painter-1", {}, ["stub"], { pricing: { per_image: "0.5" } })],
    });
    try {
      const leaving = new AbortController();
      const body = JSON.stringify({ ...REQUEST, model: "stub/painter-1", stream });
      const headers = { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" };
      const asked = fetch(`${gateway.address}/v1/images/generations`, {
        method: "POST",
        headers,
        body,
        signal: leaving.signal,
      });
      await came.promise;
      leaving.abort();
      await asked.catch(() => {});
      left.resolve();
      await untilSo(() => gateway.logLines.some((line) => line.includes('"cost"')));
      assertEquals([await gateway.balance(), stopped], ["24.5000000000", false]);
    } finally {
      await gateway.stop();
    }
  });
}

Deno.test("of more images than requested all are returned, and the requested number is charged", async () => {
  const b64_json = (await imageFile()).toBase64();
  await using vendor = startStubVendor(() =>
    Promise.resolve(Response.json({ data: Array.from({ length: 40 }, () => ({ b64_json })) }))
  );
  const gateway = await startImageGateway({
    providers: { stub: { kind: "openai", base_url: `${vendor.address}/v1`, api_key: "stub-key" } },
    models: [imageModel("stub/painter-1", {}, ["stub"], { pricing: { per_image: "0.5" } })],
  });
  try {
    const answer = await ask(gateway, { model: "stub/painter-1", stream: false, n: 2 });
    assertEquals((await answer.json()).data.length, 40);
    assertEquals(await gateway.balance(), "24.0000000000");
  } finally {
    await gateway.stop();
  }
});

Deno.test("a shutdown ends a stream with an error event", async () => {
  await withGateway(async (gateway) => {
    const answer = await ask(gateway, { prompt: "[[pause 60000]] fox", partial_images: 1 });
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const readUntil = async (word: string) => {
      while (!text.includes(word)) {
        const { done, value } = await reader.read();
        if (done) break;
        text += value;
      }
    };
    await readUntil("partial_image_index");
    gateway.app.abortStreams();
    await readUntil("shutting down");
    assert(text.includes("event: error\n"));
    await reader.cancel();
  });
});
