import { assert, assertEquals } from "@std/assert";
import { startTestGateway } from "../support/gateway.ts";
import { itemAt } from "../support/items.ts";
import { accountMoney, eventually } from "../support/account_money.ts";
import { assertErrorShape, CALLER_PROTOCOLS, sendAs } from "./caller_protocols.ts";

const WORDS: Readonly<Record<string, string>> = {
  chat: "insufficient_credits",
  responses: "insufficient_credits",
  messages: "billing_error",
  content: "FAILED_PRECONDITION",
};

Deno.test("an account without money is answered 402 in each protocol's error format, without a vendor request", async () => {
  const gateway = await startTestGateway({ balance: "0" });
  for (const face of CALLER_PROTOCOLS) {
    for (const stream of [false, true]) {
      const answer = await sendAs(face, gateway, { stream });
      assertEquals([answer.status, face.errorType(answer.json)], [402, WORDS[face.name]]);
      assertErrorShape(face, answer);
    }
  }
  assertEquals(gateway.sandbox.requests.length, 0);
  assertEquals(await accountMoney(gateway).balance(), 0n);
  await gateway.stop();
});

Deno.test("fifty concurrent calls with money for some never overdraw the account", async () => {
  const gateway = await startTestGateway({ balance: "0.01" });
  const account = accountMoney(gateway);
  const face = itemAt(CALLER_PROTOCOLS, 0);
  const extra = { max_completion_tokens: 500 };
  const text = "[[words 450]] [[stall 50]] go";
  const calls = Array.from({ length: 50 }, () => sendAs(face, gateway, { text, extra }));
  const answers = await Promise.all(calls);
  const served = answers.filter(({ status }) => status === 200).length;
  const others = answers.filter(({ status }) => status !== 200 && status !== 402).map(({ json }) => json);
  assertEquals(others, []);
  // Five words in, 450 out.
  const left = 100_000_000n - BigInt(served) * (5n * 10_000n + 450n * 20_000n);
  assert(served >= 8 && left >= 0n, `${served} were served, ${left} is left`);
  // Another gateway of the same database writes its charges when it has answered.
  await eventually(async () => await account.balance() === left);
  await gateway.stop();
});
