import type { WireFormat } from "../../src/conversation/format.ts";
import type { EventReader } from "../../src/conversation/upstream_format.ts";
import { encodeFrames } from "../../src/lib/sse.ts";

/** Adapts a format's stream reader to whole frames. */
export function eventReaderOf({ upstream }: Pick<WireFormat, "upstream">): EventReader {
  const reader = upstream.streamReader();
  return {
    read: (frame) => [...reader.push(encodeFrames([frame]))],
    end: () => [...reader.end()],
  };
}
