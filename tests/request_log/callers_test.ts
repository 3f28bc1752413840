import { assertEquals, assertRejects } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import type { FromLogThread, ToLogThread } from "../../src/observers/request_log/messages.ts";
import { MAX_CALLER_QUESTIONS, MAX_WAITING_OF_KEY } from "../../src/observers/request_log/caller_questions.ts";
import { MAX_QUESTIONS } from "../../src/observers/request_log/threaded_request_log.ts";
import type { WorkerThreadEvents } from "../../src/platform/workers/worker_thread.ts";
import { openTestLog } from "./support.ts";

type Question = ToLogThread & { readonly type: "question" };

/** A log whose thread answers when a test says so. */
function openScriptedLog() {
  const questions: Question[] = [];
  let answer: (message: FromLogThread) => void = () => {};
  const start = (events: WorkerThreadEvents) => {
    answer = (message) => events.onMessage(message);
    const post = (message: unknown) => {
      const sent = message as ToLogThread;
      if (sent.type === "question") questions.push(sent);
    };
    return { post, terminate() {}, setReferenced() {} };
  };
  const { log } = openTestLog({ start, path: "unused" });
  return {
    log,
    /** What the thread has not answered, by account. */
    open: () => questions.map(({ question }) => question.type === "list" ? question.query.account ?? null : null),
    async answerFirst() {
      const first = questions.shift();
      if (first === undefined) throw new Error("The thread has no question");
      answer({ type: "answer", id: first.id, answer: { rows: [], next: null } });
      await turns();
    },
  };
}

/** Lets everything run that waits for nothing outside. */
async function turns() {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

const asked = (account: string) => ({ account, order: "desc", limit: 20 } as const);
const caller = (accountId: string, keyId: string, signal = new AbortController().signal) => ({
  accountId,
  keyId,
  signal,
});

Deno.test("a key has one search of the request log at a time, and the next one waits", async () => {
  const { log, open, answerFirst } = openScriptedLog();
  const both = [1, 2].map(() => log.list(asked("a"), caller("a", "key_1")));
  await turns();
  assertEquals(open(), ["a"]);
  await answerFirst();
  assertEquals(open(), ["a"]);
  await answerFirst();
  assertEquals((await Promise.all(both)).length, 2);
});

Deno.test("a key with too many waiting searches is refused, and others are not", async () => {
  const { log, open, answerFirst } = openScriptedLog();
  const waiting = Array.from({ length: 1 + MAX_WAITING_OF_KEY }, () => log.list(asked("a"), caller("a", "key_1")));
  const refused = await assertRejects(() => log.list(asked("a"), caller("a", "key_1")), GatewayError);
  assertEquals([refused.code, refused.status, refused.details.retryAfterSeconds], ["rate_limited", 429, 1]);
  await assertRejects(() => log.get("req_1", caller("a", "key_1")), GatewayError);
  const other = log.list(asked("a"), caller("a", "key_2"));
  await turns();
  assertEquals(open(), ["a", "a"]);
  while (open().length > 0) await answerFirst();
  await Promise.all([...waiting, other]);
});

Deno.test("searches of callers leave room for operators, whatever their number", async () => {
  const { log, open, answerFirst } = openScriptedLog();
  const callers = Array.from({ length: 200 }, (_, index) => log.list(asked("a"), caller("a", `key_${index}`)));
  await turns();
  assertEquals(open().length, MAX_CALLER_QUESTIONS);
  const operators = Array.from(
    { length: MAX_QUESTIONS - MAX_CALLER_QUESTIONS },
    () => log.list({ order: "desc", limit: 20 }),
  );
  await turns();
  assertEquals(open().filter((account) => account === null).length, operators.length);
  while (open().length > 0) await answerFirst();
  assertEquals((await Promise.all([...callers, ...operators])).length, callers.length + operators.length);
});

Deno.test("accounts search in turn: one with many searches delays another by one", async () => {
  const { log, open, answerFirst } = openScriptedLog();
  const many = Array.from({ length: 50 }, (_, index) => log.list(asked("many"), caller("many", `key_${index}`)));
  const one = log.list(asked("one"), caller("one", "key_one"));
  await turns();
  await answerFirst();
  await answerFirst();
  assertEquals(open().includes("one"), true);
  while (open().length > 0) await answerFirst();
  await Promise.all([...many, one]);
});

Deno.test("a search whose caller has left is not run", async () => {
  const { log, open, answerFirst } = openScriptedLog();
  const first = log.list(asked("a"), caller("a", "key_1"));
  const left = new AbortController();
  const second = log.list(asked("a"), caller("a", "key_1", left.signal));
  left.abort();
  await turns();
  await answerFirst();
  await first;
  await assertRejects(() => second, GatewayError);
  assertEquals(open(), []);
});
