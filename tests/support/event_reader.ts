import type { WireFormat } from "../../src/conversation/contract/format.ts";
import type { ReplyEvent } from "../../src/conversation/neutral/events.ts";
import type { EventReader } from "../../src/conversation/contract/upstream_format.ts";
import { encodeFrames } from "../../src/platform/lib/streams/sse.ts";

/** Adapts a format's stream reader to whole frames. */
export function eventReaderOf({ upstream }: Pick<WireFormat, "upstream">): EventReader {
  const reader = upstream.streamReader();
  return {
    read: (frame) => given((onEvent) => reader.push(encodeFrames([frame]), onEvent)),
    end: () => given((onEvent) => reader.end(onEvent)),
  };
}

/** The events of a whole stream that arrives in these pieces. */
export function eventsOf({ upstream }: Pick<WireFormat, "upstream">, ...pieces: readonly Uint8Array[]): ReplyEvent[] {
  const reader = upstream.streamReader();
  return given((onEvent) => {
    for (const piece of pieces) reader.push(piece, onEvent);
    reader.end(onEvent);
  });
}

function given(read: (onEvent: (event: ReplyEvent) => void) => void): ReplyEvent[] {
  const events: ReplyEvent[] = [];
  read((event) => events.push(event));
  return events;
}
