import { AsyncLocalStorage } from "node:async_hooks";
import { assertEquals } from "@std/assert";
import { createRouter } from "../../src/entry/app/routing/router.ts";
import { HandedRequests } from "../../src/entry/app/threads/handed_requests.ts";
import { CALLER_ENDPOINTS } from "../../src/platform/endpoints/callers.ts";
import type { Handler } from "../../src/platform/http/request/inbound.ts";
import { UNLIMITED_MEMORY } from "../../src/platform/lib/process/memory_budget.ts";
import { renderDefaultError } from "../../src/protocols/default/error.ts";
import type { FromHandedThread } from "../../src/threads/serving/messages.ts";
import type { ReplyMessage } from "../../src/threads/state/handed_request.ts";
import { openPorts } from "../support/open_ports.ts";
import { stateOf } from "../support/patience.ts";

/** The thread that answers, and a request to it whose replies are collected. */
function stage(handler: Handler) {
  const said: FromHandedThread[] = [];
  const router = createRouter(
    [{ ...CALLER_ENDPOINTS.createChatCompletion, handler, renderError: renderDefaultError }],
    {
      sections: [],
      renderError: renderDefaultError,
    },
  );
  const requests = new HandedRequests({
    state: {
      scope: new AsyncLocalStorage(),
      ratesLeft: () => null,
      lease: (account) => UNLIMITED_MEMORY.lease(account),
    },
    endpoints: { router, changesApplied: Promise.resolve() },
    post: (message) => void said.push(message),
  });
  const { port1, port2 } = new MessageChannel();
  const replies: ReplyMessage[] = [];
  port1.onmessage = ({ data }: MessageEvent<ReplyMessage>) => void replies.push(data);
  requests.answer({
    type: "request",
    id: 1,
    request: {
      url: "http://gateway/v1/chat/completions",
      method: "POST",
      path: "/v1/chat/completions",
      query: "",
      headers: [],
      requestId: "request",
      receivedAt: 0,
      remote: "127.0.0.1",
      trace: null,
      credential: { accountId: "demo", keyId: "key", limits: null, capture: null },
      body: new ArrayBuffer(4),
      reply: port2,
      sentBytes: new SharedArrayBuffer(8),
    },
  });
  return { said, replies, close: () => port1.close() };
}

for (
  const [title, handler, kind] of [
    ["an answer", () => Promise.resolve(new Response("{}")), "response"],
    ["an error", () => Promise.reject(new Error("x")), "refused"],
  ] as const
) {
  Deno.test(`the thread that answers closes the port of a request after ${title}`, async () => {
    const before = openPorts();
    const { said, replies, close } = stage(handler);
    await stateOf("all replies are there", () => replies.length, (count) => count === 2);
    assertEquals(replies.map(({ type }) => type), [kind, "record"]);
    assertEquals(said, [{ type: "parsed", id: 1 }, { type: "ended", id: 1 }]);
    close();
    await stateOf("no port is left open", openPorts, (count) => count === before);
  });
}
