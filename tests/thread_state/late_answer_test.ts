import { assertEquals, assertThrows } from "@std/assert";
import { MessageChannel } from "node:worker_threads";
import type { BlockingResult, FromStateThread } from "../../src/threads/state/messages.ts";
import { RemoteState } from "../../src/threads/state/remote_state.ts";
import { MIN_STORE_LIMITS } from "../../src/platform/store/store.ts";

Deno.test("the late result of a question that was given up is not the result of the next one", () => {
  const { port1, port2 } = new MessageChannel();
  const resultFlag = new SharedArrayBuffer(4);
  const flag = new Int32Array(resultFlag);
  const questions: (FromStateThread & { readonly type: "question" })[] = [];
  let isAnswering = false;
  const answer = (result: BlockingResult) => {
    port1.postMessage(result);
    Atomics.store(flag, 0, 1);
  };
  const link = {
    post: (message: FromStateThread) => void (message.type === "question" && questions.push(message)),
    flush() {
      if (!isAnswering) return;
      for (const { id, question } of questions.splice(0)) answer({ id, value: "keys" in question && question.keys });
    },
    onWaiting() {},
  };
  const data = { results: port2, resultFlag, storeLimits: MIN_STORE_LIMITS, storeTime: new SharedArrayBuffer(8) };
  const state = new RemoteState(link, data, 1);
  try {
    assertThrows(() => state.reasoning.find("of one account"), Error, "did not respond");
    isAnswering = true;
    assertEquals(state.reasoning.find("of another account"), "of another account");
  } finally {
    port1.close();
    port2.close();
  }
});
