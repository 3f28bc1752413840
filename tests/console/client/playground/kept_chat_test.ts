import { assert, assertEquals } from "@std/assert";
import { ApiError } from "../../../../src/console/client/api.ts";
import { ChatState } from "../../../../src/console/client/pages/playground/chat/chat_state.ts";
import { keptChatOf, restoreChat } from "../../../../src/console/client/pages/playground/chat/kept_chat.ts";
import type { ReplyTurn } from "../../../../src/console/client/pages/playground/chat/pane.ts";
import { newExchange } from "../../../../src/console/client/pages/playground/exchange.ts";
import { PROTOCOLS } from "../../../../src/console/client/pages/playground/protocols/all.ts";
import { forgetTab, keepInTab, keptInTab } from "../../../../src/console/client/tab_storage.ts";
import type { SignedIn } from "../../../../src/console/client/session_state.ts";
import { PLAIN, userText } from "./text_requests.ts";

const session = (token: string): SignedIn => ({
  kind: "caller",
  account: "demo",
  key: "key_1",
  token,
  expires_at: 0,
  base_url: "http://localhost",
});

/** A chat with an answer and one that is arriving. */
function chatWithAnswer(): ChatState {
  const chat = new ChatState();
  const { write, reader } = PROTOCOLS.chat;
  const answer = (id: number, state: ReplyTurn["state"]): ReplyTurn => {
    const own = reader();
    own.take({ choices: [{ delta: { content: `answer ${id}` }, finish_reason: "stop" }] });
    const exchange = { ...newExchange(), requestId: "req_1", events: [{ atMs: 1, name: "", data: "{}" }] };
    const request = write({ ...PLAIN, model: "sandbox/chat-1" }, [userText("hello")]);
    return { role: "reply", id, request, exchange, reader: own, state, error: null };
  };
  chat.system.value = "Be brief";
  chat.prompt.value = "And now";
  chat.addTool();
  chat.hasTwo.value = true;
  chat.panes[0].model.value = "sandbox/chat-1";
  chat.panes[0].turns.value = [userText("hello"), answer(0, "done"), userText("more"), answer(1, "running")];
  chat.panes[1].turns.value = [
    userText("hello"),
    { ...answer(0, "failed"), error: new ApiError("Too many", 429, "rate_limited", "req_2") },
  ];
  return chat;
}

/** A chat after a reload of the page. */
function reloaded(chat: ChatState, hasEvents = true): ChatState {
  const restored = new ChatState();
  restoreChat(restored, JSON.parse(JSON.stringify(keptChatOf(chat, hasEvents))));
  return restored;
}

Deno.test("playground: a chat is the same after a reload, and an answer that was arriving is stopped", () => {
  const chat = chatWithAnswer();
  const restored = reloaded(chat);
  const [first, second] = restored.panes;
  assertEquals([restored.settings(), restored.prompt.value, restored.hasTwo.value], [chat.settings(), "And now", true]);
  const replies = first.turns.value.filter((turn) => turn.role === "reply");
  assertEquals(replies.map(({ id, state }) => [id, state]), [[0, "done"], [1, "stopped"]]);
  assertEquals(replies[0]?.reader.own(), { role: "assistant", content: "answer 0" });
  assertEquals(replies[0]?.exchange.events.length, 1);
  const failed = second.turns.value.at(-1);
  assert(failed?.role === "reply" && failed.error instanceof ApiError);
  assertEquals([failed.error.message, failed.error.status, failed.error.requestId], ["Too many", 429, "req_2"]);
  assertEquals(keptChatOf(reloaded(restored), true), keptChatOf(restored, true));
});

Deno.test("playground: a chat can be kept without its raw events, which are counted", () => {
  const [reply] = reloaded(chatWithAnswer(), false).panes[0].turns.value.filter((turn) => turn.role === "reply");
  assertEquals([reply?.exchange.events, reply?.exchange.furtherEvents], [[], 1]);
});

Deno.test("playground: what another version has kept is left out", () => {
  for (const value of [null, {}, "text", { ...keptChatOf(chatWithAnswer(), true), version: 0 }]) {
    const chat = new ChatState();
    restoreChat(chat, value);
    assertEquals(chat.panes[0].turns.value, []);
  }
});

Deno.test("tab: what a session keeps is there for that session only, and the first value that has room", () => {
  const [own, other] = [session("a".repeat(43)), session("b".repeat(43))];
  const tooLarge = "x".repeat(20_000_000);
  assertEquals(keepInTab(own, [tooLarge, "small"]), true);
  assertEquals(keptInTab(own), "small");
  assertEquals(keptInTab(other), null);
  assertEquals(keptInTab(own), null, "another session has removed it");
  assertEquals(keepInTab(own, [tooLarge]), false);
  keepInTab(own, ["again"]);
  assert(!JSON.stringify({ ...sessionStorage }).includes(own.token));
  forgetTab();
  assertEquals([keptInTab(own), sessionStorage.length], [null, 0]);
});
