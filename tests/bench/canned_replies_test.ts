import { assert, assertEquals } from "@std/assert";
import { type BenchFormat, CHUNKS } from "../../bench/load_request.ts";
import { cannedReply, USAGE } from "../../bench/canned_replies.ts";
import type { WireFormat } from "../../src/conversation/contract/format.ts";
import { chat } from "../../src/conversation/codecs/chat/mod.ts";
import { content } from "../../src/conversation/codecs/content/mod.ts";
import { messages } from "../../src/conversation/codecs/messages/mod.ts";
import { atLeast } from "../support/items.ts";

const CODECS: Readonly<Record<BenchFormat, WireFormat>> = { chat, messages, content };

for (const [wire, codec] of Object.entries(CODECS) as [BenchFormat, WireFormat][]) {
  Deno.test(`cannedReply("${wire}") is a complete reply of that format, with its usage`, () => {
    const text = cannedReply(wire, "json").map((piece) => new TextDecoder().decode(piece)).join("");
    const [head, body] = atLeast(text.split("\r\n\r\n"), 2);
    assert(head.includes(`content-length: ${body.length}`));
    assert(body.length > 700 && body.length < 1300, `about 1 KB, got ${body.length}`);
    const { usage, stop } = codec.upstream.readReply(JSON.parse(body));
    assertEquals(usage?.outputTokens, USAGE.completion);
    assertEquals(stop.reason, "end");
  });

  Deno.test(`cannedReply("${wire}") is a stream of that format: an event per chunk of text, then usage and the end`, () => {
    const pieces = cannedReply(wire, "paced");
    const text = new TextDecoder();
    assertEquals(pieces.length, CHUNKS.paced);
    pieces.forEach((piece, index) => assertEquals(text.decode(piece).match(/token\d+ /g), [`token${index} `]));
    assert(text.decode(pieces.at(-1)).endsWith("\r\n0\r\n\r\n"));
    const follower = codec.passThrough.watch({});
    for (const line of pieces.map((piece) => text.decode(piece)).join("").split(/\r?\n/)) {
      if (line.startsWith("data: ") && follower.isRelevant(line.slice(6))) follower.observe(line.slice(6));
    }
    assert(follower.isComplete());
    assertEquals(follower.usage()?.outputTokens, USAGE.completion);
  });

  Deno.test(`cannedReply("${wire}") has all chunks of a burst in one piece`, () => {
    const [piece, ...others] = cannedReply(wire, "burst").map((bytes) => new TextDecoder().decode(bytes));
    assertEquals(others, []);
    assertEquals(piece?.match(/token\d+ /g)?.length, CHUNKS.burst);
    assert(piece?.endsWith("\r\n0\r\n\r\n"));
  });
}
