import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { unobservedRecord } from "../support/unobserved_record.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { TICK_MS } from "../../src/platform/net/deadline.ts";
import { readProviderConfig } from "../../src/vendors/upstreams/settings/provider_config.ts";
import { openProviders } from "../../src/vendors/upstreams/opening/providers.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock, until } from "../support/manual_clock.ts";
import { answer, startScriptedUpstream, STREAM_HEAD, type VendorConnection } from "../support/scripted_upstream.ts";
import { errorOf, type TextGateway, textGatewayOf } from "./text_gateway.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import { bodyOf, REPLY, requestOf, wireOf, withoutCost } from "./support.ts";

const KINDS: Readonly<Record<CallerFormatName, Record<string, string>>> = {
  chat: { kind: "openai" },
  responses: { kind: "openai", speaks: "responses" },
  messages: { kind: "anthropic" },
  content: { kind: "google" },
};

interface Play extends TextGateway {
  readonly vendor: ReturnType<typeof startScriptedUpstream>;
  readonly vendorClock: ManualClock;
}

/** Runs a gateway's text part against a vendor on a real socket that follows a script. */
async function play(
  form: CallerFormatName,
  script: (side: VendorConnection) => Promise<void>,
  act: (play: Play) => Promise<void>,
) {
  const vendor = startScriptedUpstream(script);
  const vendorClock = new ManualClock();
  const config = readProviderConfig({ ...KINDS[form], base_url: vendor.baseUrl, api_key: "the-key-of-ours" });
  const providers = await openProviders({ one: config }, { clock: vendorClock, caCerts: [] });
  try {
    await act({ ...textGatewayOf({ opened: providers.byName }), vendor, vendorClock });
  } finally {
    providers.close();
    await vendor.stop();
  }
}

function streamingRequest(form: CallerFormatName) {
  const fields = form === "content"
    ? {}
    : form === "chat"
    ? { stream: true, stream_options: { include_usage: true } }
    : { stream: true };
  return requestOf(form, { body: bodyOf(form, fields), stream: true });
}

const chunked = (text: string) => `${new TextEncoder().encode(text).length.toString(16)}\r\n${text}\r\n`;
const CHUNKED_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const wire = wireOf("messages", REPLY);

Deno.test("a stream passes over real sockets unchanged, also in single bytes", async () => {
  await play("messages", async (side) => {
    while (await side.request()) {
      await side.say(CHUNKED_HEAD);
      for (let at = 0; at < wire.length; at += 60) await side.say(chunked(wire.slice(at, at + 60)));
      await side.say("0\r\n\r\n");
    }
  }, async ({ service, recorder, vendor }) => {
    for (let nth = 0; nth < 3; nth++) {
      const response = await service.handle(streamingRequest("messages"));
      assertEquals(withoutCost(await response.text()), wire);
    }
    assertEquals(recorder.charges.length, 3);
    assertEquals(vendor.connections, 1, "the connection is used again");
    assertEquals(vendor.seen[0]?.headers.get("x-api-key"), "the-key-of-ours");
  });
});

Deno.test("a translated stream's connection is reused, although its reader stops at the end marker", async () => {
  await play("messages", async (side) => {
    while (await side.request()) await side.say(`${CHUNKED_HEAD}${chunked(wire)}0\r\n\r\n`);
  }, async ({ service, vendor }) => {
    for (let nth = 0; nth < 3; nth++) {
      const response = await service.handle(streamingRequest("chat"));
      assertStringIncludes(await response.text(), "data: [DONE]");
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    assertEquals(vendor.connections, 1);
  });
});

Deno.test("a caller that disconnects during a stream stops the vendor at once, and pays for the output", async () => {
  let vendorSawEnd = false;
  for (const caller of ["messages", "chat"] as const) {
    vendorSawEnd = false;
    await play("messages", async (side) => {
      await side.request();
      await side.say(STREAM_HEAD + wireOf("messages", REPLY.slice(0, 7)));
      await side.gone();
      vendorSawEnd = true;
    }, async ({ service, recorder, openStreams }) => {
      const record = unobservedRecord();
      const response = await service.handle({ ...streamingRequest(caller), record });
      const reader = response.body!.getReader();
      await reader.read();
      const pending = reader.read();
      await reader.cancel();
      await pending;
      await until(() => vendorSawEnd && recorder.charges.length > 0);
      assertEquals([record.end, record.tokens?.isEstimated], ["left", true]);
      assertEquals([recorder.charges.length, recorder.releases, openStreams.count], [1, 0, 0]);
    });
  }
});

for (const stream of [true, false]) {
  const kind = stream ? "streamed" : "whole";
  Deno.test(`a caller that disconnects before the head of a ${kind} reply stops the vendor, and pays for the prompt`, async () => {
    const caller = new AbortController();
    let vendorSawEnd = false;
    await play("chat", async (side) => {
      await side.request();
      await side.gone();
      vendorSawEnd = true;
    }, async ({ service, recorder, vendor, vendorClock }) => {
      const request = { ...streamingRequest("chat"), stream, callerSignal: () => caller.signal };
      const failing = errorOf(service.handle(request));
      await until(() => vendor.seen.length === 1);
      vendorClock.advance(250 + TICK_MS);
      caller.abort();
      await failing;
      await until(() => vendorSawEnd);
      assertEquals(recorder.charges.length, 1);
      assert(itemAt(recorder.charges, 0).usage!.freshTokens! > 0, "the vendor has read the prompt");
      assertEquals([itemAt(recorder.charges, 0).usage!.outputTokens, itemAt(recorder.charges, 0).usage!.estimated], [
        0,
        true,
      ]);
    });
  });
}

Deno.test("a caller that disconnects before the vendor is connected pays nothing", async () => {
  const { service, recorder } = textGatewayOf({
    providers: {
      one: ["chat", () => new UpstreamFailure("one", "cancelled", "told to stop", { status: null, accepted: "no" })],
    },
  });
  await errorOf(service.handle(streamingRequest("chat")));
  assertEquals([recorder.charges.length, recorder.releases], [0, 1]);
});

const USAGE = { input_tokens: 90_000, output_tokens: 7, total_tokens: 90_007 };
const PDF = { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" };
const DOCUMENT = { input: [{ role: "user", content: [{ type: "input_file", ...PDF }] }] };
const replyOf = (status: string, usage: unknown) => ({
  ...{ id: "resp_1", object: "response", created_at: 1, model: "vm", status, output: [], usage },
});

Deno.test("a reply whose prompt only the vendor can count is read to its end after a disconnection, and charged as reported", async () => {
  const created = JSON.stringify({ type: "response.created", response: replyOf("in_progress", null) });
  const completed = JSON.stringify({ type: "response.completed", response: replyOf("completed", USAGE) });
  for (const caller of ["responses", "chat"] as const) {
    const leaves = Promise.withResolvers<void>();
    await play("responses", async (side) => {
      await side.request();
      await side.say(`${STREAM_HEAD}event: response.created\ndata: ${created}\n\n`);
      await leaves.promise;
      await side.say(`event: response.completed\ndata: ${completed}\n\n`);
    }, async ({ service, recorder, openStreams }) => {
      const body = caller === "responses"
        ? bodyOf("responses", { stream: true, ...DOCUMENT })
        : bodyOf("chat", { stream: true, messages: [{ role: "user", content: [{ type: "file", file: PDF }] }] });
      const response = await service.handle(requestOf(caller, { body, stream: true }));
      const reader = response.body!.getReader();
      const reading = reader.read();
      await reader.cancel();
      await reading;
      assertEquals([recorder.charges.length, openStreams.count], [0, 1]);
      leaves.resolve();
      await until(() => recorder.charges.length === 1 && openStreams.count === 0);
      assertEquals([itemAt(recorder.charges, 0).usage!.freshTokens, itemAt(recorder.charges, 0).usage!.outputTokens], [
        90_000,
        7,
      ]);
    });
  }
});

Deno.test("a whole reply whose prompt only the vendor can count is read to its end after a disconnection", async () => {
  const leaves = Promise.withResolvers<void>();
  const caller = new AbortController();
  await play("responses", async (side) => {
    await side.request();
    await leaves.promise;
    await side.say(answer(200, JSON.stringify(replyOf("completed", USAGE))));
  }, async ({ service, recorder, vendor, vendorClock }) => {
    const request = requestOf("responses", { body: bodyOf("responses", DOCUMENT), callerSignal: () => caller.signal });
    const running = service.handle(request);
    await until(() => vendor.seen.length === 1);
    vendorClock.advance(250 + TICK_MS);
    caller.abort();
    vendorClock.advance(250 + TICK_MS);
    leaves.resolve();
    await running;
    assertEquals([itemAt(recorder.charges, 0).usage!.freshTokens, itemAt(recorder.charges, 0).usage!.outputTokens], [
      90_000,
      7,
    ]);
  });
});

for (const [name, tail] of [["ends", ""], ["ends without its last chunk", "5\r\nda"]]) {
  Deno.test(`a vendor whose connection ${name} during a stream is reported to the caller as a failure`, async () => {
    for (const caller of ["messages", "responses"] as const) {
      await play("messages", async (side) => {
        await side.request();
        await side.say(CHUNKED_HEAD + chunked(wireOf("messages", REPLY.slice(0, 7))) + tail);
      }, async ({ service, recorder, openStreams }) => {
        const text = await (await service.handle(streamingRequest(caller))).text();
        assertStringIncludes(text, "世界");
        assertStringIncludes(text, 'Provider \\"one\\" closed the connection before the response was complete');
        assertEquals([recorder.charges.length, recorder.charges[0]?.usage?.estimated, openStreams.count], [1, true, 0]);
      });
    }
  });
}

Deno.test("a vendor that stalls during a stream is cancelled, and reported to the caller as a timeout", async () => {
  await play("messages", async (side) => {
    await side.request();
    await side.say(STREAM_HEAD + wireOf("messages", REPLY.slice(0, 7)));
    await side.gone();
  }, async ({ service, recorder, vendorClock }) => {
    const response = await service.handle(streamingRequest("messages"));
    const reader = response.body!.getReader();
    await reader.read();
    const last = reader.read();
    await new Promise((resolve) => setTimeout(resolve));
    vendorClock.advance(600_000 + TICK_MS);
    assertStringIncludes(new TextDecoder().decode((await last).value), "did not respond in time");
    assertEquals(recorder.charges.length, 1);
  });
});

Deno.test("a vendor that sends ten thousand events at once is read at the caller's speed", async () => {
  let sent = 0;
  await play("chat", async (side) => {
    await side.request();
    await side.say(STREAM_HEAD);
    const burst = `data: {"choices":[{"index":0,"delta":{"content":"${"x".repeat(1_000)}"}}]}\n\n`.repeat(1_000);
    while (sent < 200 && await side.say(burst)) sent++;
  }, async ({ service }) => {
    const response = await service.handle(streamingRequest("chat"));
    const reader = response.body!.getReader();
    await reader.read();
    let before = -1;
    // The kernel's buffers are filled ahead; then sending stops.
    while (before !== sent) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert(sent < 50, `${sent} MB were sent to a caller who does not read`);
    await reader.cancel();
  });
});

Deno.test("an incomplete whole response or an error page costs nothing", async () => {
  for (
    const bytes of [
      'HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{"id":',
      answer(200, "<html>", { "content-type": "text/html" }),
    ]
  ) {
    await play("chat", async (side) => {
      await side.request();
      await side.say(bytes);
    }, async ({ service, recorder }) => {
      const error = await errorOf(service.handle(requestOf("chat")));
      assertEquals([error.status, recorder.charges.length, recorder.releases], [502, 0, 1]);
    });
  }
});

for (
  const [name, head, body] of [
    ["a page", "content-type: text/html\r\n", "<p>Welcome</p>"],
    ["a page that is JSON", "content-type: text/html\r\n", "{}"],
    ["what is not JSON", "content-type: application/json\r\n", "Welcome"],
    ["no reply of its format", "content-type: application/json\r\n", "[]"],
    ["a reply with bytes after its end", "content-type: application/json\r\n", "{}trailing"],
  ] as const
) {
  for (const caller of ["chat", "messages"] as const) {
    for (const stream of [false, true]) {
      const kind = stream ? "stream" : "reply";
      Deno.test(`a connection with ${name} for a ${kind} is not used again, for a caller of ${caller}`, async () => {
        await play("chat", async (side) => {
          const length = name.startsWith("a reply with bytes") ? 2 : body.length;
          while (await side.request()) {
            await side.say(`HTTP/1.1 200 OK\r\n${head}content-length: ${length}\r\n\r\n${body}`);
          }
        }, async ({ service, vendor }) => {
          for (let nth = 1; nth <= 3; nth++) {
            const request = stream ? streamingRequest(caller) : requestOf(caller, { body: bodyOf(caller, {}) });
            await errorOf(service.handle(request));
            assertEquals(vendor.connections, nth);
          }
        });
      });
    }
  }
}
