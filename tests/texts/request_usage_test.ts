import { CODECS } from "../support/formats.ts";
import { assert, assertEquals } from "@std/assert";
import { NO_USAGE } from "../../src/conversation/neutral/usage.ts";
import { promptTokensOfRequest, usageSoFar } from "../../src/services/texts/charge/request_usage.ts";
import { bodyOf, requestOf } from "./support.ts";

Deno.test("usageSoFar() keeps the vendor's prompt count, and the larger output count", async () => {
  const said = { ...NO_USAGE, freshTokens: 7, cacheReadTokens: 3, outputTokens: 5 };
  assertEquals(await usageSoFar(requestOf("chat"), said, 9), { ...said, outputTokens: 9, estimated: true });
  assertEquals(await usageSoFar(requestOf("chat"), said, 2), { ...said, estimated: true });
});

Deno.test("usageSoFar() counts the prompt if the vendor reports none or an empty one", async () => {
  for (const said of [null, { ...NO_USAGE, outputTokens: 5 }]) {
    const usage = await usageSoFar(requestOf("messages"), said, 4);
    assert(usage.freshTokens > 5 && usage.estimated);
    assertEquals(usage.outputTokens, said === null ? 4 : 5);
  }
});

Deno.test("promptTokensOfRequest() estimates a request that cannot be parsed by its bytes", async () => {
  const request = requestOf("chat", { body: bodyOf("chat", { n: 2 }) });
  assertEquals(await promptTokensOfRequest(request), Math.ceil(request.bytes.length / 4));
});

Deno.test("CallerFormat.wantsUsage() is true only for a caller that requested usage explicitly", () => {
  const asks = [{ include_usage: true }, { include_usage: "true" }, { include_usage: false }, null, 7, [], undefined];
  const wanted = asks.map((stream_options) => CODECS.chat.caller.wantsUsage(bodyOf("chat", { stream_options })));
  assertEquals(wanted, [true, false, false, false, false, false, false]);
});
