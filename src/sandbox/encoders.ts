import { createListWriter, writeFrame } from "../platform/lib/streams/sse.ts";
import type { FrameEncoder } from "./chunk_stream.ts";

/** Creates an encoder of server-sent events as most vendors write them. */
export function encodeSse(): FrameEncoder {
  return { encode: (frames) => frames.map(writeFrame).join(""), end: () => "" };
}

/** Creates an encoder of server-sent events with the line ends of the content format. */
export function encodeCrlfSse(): FrameEncoder {
  return { encode: (frames) => frames.map(({ data }) => `data: ${data}\r\n\r\n`).join(""), end: () => "" };
}

/** Creates an encoder of one growing JSON list: the content format without `alt=sse`. */
export function encodeList(): FrameEncoder {
  const list = createListWriter();
  return { encode: (frames) => list.write(frames.map(({ data }) => data)), end: list.end };
}
