import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import type { Frame } from "../../../platform/lib/streams/frame.ts";
import type { FrameEncoder } from "../../chunk_stream.ts";

const TEXT_TYPE = 7;

/** Creates an encoder of Converse's events: each frame is a message whose type is the frame's event. */
export function encodeConverseEvents(): FrameEncoder {
  return encoderBy(({ event, data }) => [event ?? "", data]);
}

/** Creates an encoder of Anthropic's events: each frame is a chunk with the frame's data as base64. */
export function encodeChunks(): FrameEncoder {
  return encoderBy(({ event, data }) => {
    if (event === "error") return ["serviceUnavailableException", JSON.stringify({ message: messageIn(data) })];
    return ["chunk", JSON.stringify({ bytes: Buffer.from(data).toString("base64"), p: "abcdefghijkl" })];
  });
}

function messageIn(data: string): string {
  return JSON.parse(data).error.message;
}

/** A frame without an event is one that breaks off: of its message, only the beginning is written. */
function encoderBy(contentOf: (frame: Frame) => readonly [type: string, payload: string]): FrameEncoder {
  return {
    encode: (frames) =>
      Buffer.concat(frames.map((frame) => {
        const [type, payload] = contentOf(frame);
        const message = eventMessage(type, payload);
        return frame.event === null ? message.subarray(0, message.length / 2) : message;
      })),
    end: () => "",
  };
}

/**
 * One message of an event stream. Source: Smithy, "Amazon Event Stream specification".
 *
 * @param type Of an event, or of an exception, whose name ends so.
 * @param payload JSON text.
 */
export function eventMessage(type: string, payload: string): Uint8Array {
  const kind = type.endsWith("Exception") ? "exception" : "event";
  const headers = Buffer.concat([
    header(`:${kind}-type`, type),
    header(":content-type", "application/json"),
    header(":message-type", kind),
  ]);
  const body = Buffer.from(payload);
  const message = Buffer.alloc(16 + headers.length + body.length);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(headers.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  headers.copy(message, 12);
  body.copy(message, 12 + headers.length);
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4);
  return message;
}

function header(name: string, value: string): Uint8Array {
  const size = Buffer.alloc(3);
  size.writeUInt8(TEXT_TYPE, 0);
  size.writeUInt16BE(Buffer.byteLength(value), 1);
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), size, Buffer.from(value)]);
}
