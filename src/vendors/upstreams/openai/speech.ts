import { chat } from "../../../conversation/codecs/chat/mod.ts";
import { relayedBody } from "../call/byte_relay.ts";
import type { EndpointPaths } from "../shared/endpoint_paths.ts";
import type { Outbound } from "../call/outbound_call.ts";
import type { SpeechOrder, SpeechUpstream } from "../contract/speech_upstream.ts";

const ENCODER = new TextEncoder();

/** Speech of OpenAI and compatible vendors. Source: OpenAI API reference, "Create speech". */
export function openaiSpeech(outbound: Outbound, pathOf: EndpointPaths): SpeechUpstream {
  return {
    unsupported: () => null,
    dropped: () => [],
    async speak(order, { onResponse }) {
      const response = await outbound.send({
        method: "POST",
        path: pathOf("/audio/speech", order.model),
        headers: {},
        body: ENCODER.encode(JSON.stringify(bodyOf(order))),
        firstByteMs: outbound.firstByteMs,
        callerSignal: null,
        readError: chat.upstream.readError,
      });
      onResponse(response);
      const { mediaType } = response;
      const isAudio = order.asEvents
        ? mediaType === "text/event-stream"
        : mediaType.startsWith("audio/") || mediaType === "application/octet-stream";
      const first = isAudio ? await response.read() : null;
      if (first !== null) return { mediaType, body: relayedBody(response, first), report: null };
      response.cancel();
      throw outbound.failure("broken", "", { accepted: "unknown" });
    },
  };
}

function bodyOf({ model, input, voice, format, asEvents, extras }: SpeechOrder) {
  return {
    ...extras,
    model,
    input,
    voice,
    ...format !== null && { response_format: format },
    ...asEvents && { stream_format: "sse" },
  };
}
