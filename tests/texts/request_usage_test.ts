import { CODECS } from "../support/formats.ts";
import { assert, assertEquals } from "@std/assert";
import { NO_USAGE } from "../../src/conversation/usage.ts";
import { promptTokensOfRequest, usageSoFar } from "../../src/texts/request_usage.ts";
import { bodyOf, requestOf } from "./support.ts";

Deno.test("usageSoFar() keeps what the vendor told of the prompt, and the larger count of what was made", async () => {
  const said = { ...NO_USAGE, freshTokens: 7, cacheReadTokens: 3, outputTokens: 5 };
  assertEquals(await usageSoFar(requestOf("chat"), said, 9), { ...said, outputTokens: 9, estimated: true });
  assertEquals(await usageSoFar(requestOf("chat"), said, 2), { ...said, estimated: true });
});

Deno.test("usageSoFar() counts the prompt where the vendor told nothing of it, or a prompt of nothing", async () => {
  for (const said of [null, { ...NO_USAGE, outputTokens: 5 }]) {
    const usage = await usageSoFar(requestOf("messages"), said, 4);
    assert(usage.freshTokens > 5 && usage.estimated);
    assertEquals(usage.outputTokens, said === null ? 4 : 5);
  }
});

Deno.test("promptTokensOfTurn() goes by the bytes of a request that cannot be read", async () => {
  const turn = requestOf("chat", { body: bodyOf("chat", { n: 2 }) });
  assertEquals(await promptTokensOfRequest(turn), Math.ceil(turn.bytes.length / 4));
});

Deno.test("CallerFormat.wantsUsage() is so only for a caller who asked for it in plain words", () => {
  const asks = [{ include_usage: true }, { include_usage: "true" }, { include_usage: false }, null, 7, [], undefined];
  const wanted = asks.map((stream_options) => CODECS.chat.caller.wantsUsage(bodyOf("chat", { stream_options })));
  assertEquals(wanted, [true, false, false, false, false, false, false]);
});
