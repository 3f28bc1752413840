import { CALLER_ENDPOINTS as ENDPOINTS } from "../../../platform/endpoints/callers.ts";
import type { Route } from "../../../platform/http/request/inbound.ts";
import { defaultTextRoutes } from "../../../protocols/default/texts.ts";
import { lazyRoutesAt } from "../../../protocols/route_at.ts";
import type { TextRouteParts } from "../../../protocols/text_route_parts.ts";
import { Late } from "../../../platform/lib/process/late.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { LargeRequests } from "../../../threads/serving/large_requests.ts";
import type { InlinedFilesParts } from "../../../services/texts/request/inlined_files.ts";
import type { RequestFiles } from "../../../services/texts/request/text_request.ts";
import { createReadableFiles } from "../opening/late_stored_files.ts";
import type { StoredFileServices } from "../opening/stored_files.ts";

const inlinedFilesModule = new Late(() => import("../../../services/texts/request/inlined_files.ts"));

/**
 * Builds the text endpoints of all protocols, on the main thread and in threads alike. Of the message and the content
 * protocol, the first request loads the code.
 */
export function createTextRoutes(parts: TextRouteParts): Route[] {
  return [
    ...defaultTextRoutes(parts),
    ...lazyRoutesAt([ENDPOINTS.createMessage, ENDPOINTS.countMessageTokens], async () => {
      return (await import("../../../protocols/message/messages.ts")).messageRoutes(parts);
    }),
    ...lazyRoutesAt([ENDPOINTS.generateContent, ENDPOINTS.streamGenerateContent, ENDPOINTS.countTokens], async () => {
      return (await import("../../../protocols/content/generate.ts")).contentRoutes(parts);
    }),
  ];
}

/** What {@linkcode createRequestFiles} needs of the services. */
export interface RequestFileServices extends StoredFileServices {
  readonly clock: Clock;
}

/**
 * Puts stored files into requests, on the main thread and in threads alike. The first request that names a file loads
 * the code.
 */
export function createRequestFiles(
  services: RequestFileServices,
  { elsewhere = null, maxBytes, onFiles }: Partial<Pick<InlinedFilesParts, "elsewhere" | "maxBytes" | "onFiles">> = {},
): RequestFiles {
  const files = new Late(async () => {
    const { InlinedFiles, MAX_INLINE_BYTES } = await inlinedFilesModule.load();
    return new InlinedFiles({
      stored: createReadableFiles(services),
      clock: services.clock,
      maxBytes: maxBytes ?? MAX_INLINE_BYTES,
      elsewhere,
      ...onFiles !== undefined && { onFiles },
    });
  });
  return { answer: async (request, answer) => await (await files.load()).answer(request, answer) };
}

/** Requests that are large with their files are answered in threads for large requests, as others are. */
export function answerInLargeThread(
  large: Pick<LargeRequests, "handle">,
  aboveBytes: number,
): InlinedFilesParts["elsewhere"] {
  return {
    aboveBytes,
    answer: ({ inbound, credential, json, format }) => {
      inbound.record.capture?.takeRequest(json.bytes);
      return large.handle(inbound, credential, json.bytes, format);
    },
  };
}
