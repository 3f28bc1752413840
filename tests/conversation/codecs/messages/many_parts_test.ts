import { assertEquals } from "@std/assert";
import { messages } from "../../../../src/conversation/codecs/messages/mod.ts";
import type { ReplyEvent } from "../../../../src/conversation/neutral/events.ts";
import { contextWith } from "./samples.ts";

Deno.test("eventWriter() writes a hundred thousand calls that are open at the same time, in the order of opening", () => {
  const many = Array.from({ length: 100_000 }, (_, nth) => nth);
  const writer = messages.caller.eventWriter(contextWith());
  const typesOf = (event: ReplyEvent) => writer.write(event).map(({ event: type }) => type);
  const opened = many.map((index): ReplyEvent => ({
    type: "part-start",
    index,
    part: { kind: "tool_call", callId: `c${index}`, tool: "look" },
  }));
  assertEquals(opened.flatMap(typesOf), ["content_block_start"]);
  const ended = many.toReversed().map((index): ReplyEvent => ({ type: "part-end", index }));
  const frames = ended.flatMap((event) => writer.write(event)).filter(({ event }) => event === "content_block_start");
  const ids = frames.map(({ data }) => JSON.parse(data).content_block.id);
  assertEquals(ids, many.slice(1).map((index) => `c${index}`));
});
