import * as z from "zod";
import { UpstreamFailure } from "../call/failure.ts";
import type { ImageSource } from "../contract/image_upstream.ts";
import { dataUriOf, InlineFile } from "../contract/inline_file.ts";
import { type FormFile, multipartBody } from "../contract/multipart_body.ts";
import type { Outbound, OutboundCall } from "../call/outbound_call.ts";
import type { VideoMedia, VideoOrder } from "../contract/video_upstream.ts";
import { readReplicateError } from "./prediction.ts";

/**
 * Larger media are uploaded first, as in the vendor's own client, because each response about a prediction repeats its
 * inputs. The vendor deletes uploads after a day. Source: Replicate HTTP API reference, "Create a file".
 */
const MAX_INLINE_BYTES = 65_536;

const Upload = z.object({ urls: z.object({ get: z.string().min(1) }) });

/** Returns an image as the value of an input: inline if it is small, else the URL of an upload. */
export async function imageInput(
  outbound: Outbound,
  image: ImageSource,
  callerSignal: OutboundCall["callerSignal"],
): Promise<InlineFile | string> {
  return image.lengthBytes <= MAX_INLINE_BYTES ? dataUriOf(image) : await upload(outbound, image, callerSignal);
}

/** Returns the request with URLs of uploads in place of larger inline media. */
export async function withUploads(outbound: Outbound, order: VideoOrder): Promise<VideoOrder> {
  const withUpload = async (media: VideoMedia): Promise<VideoMedia> => {
    const { value } = media;
    if (!(value instanceof InlineFile) || value.source.lengthBytes <= MAX_INLINE_BYTES) return media;
    return { ...media, form: "url", value: await upload(outbound, value.source, null) };
  };
  const { firstFrame, lastFrame, references } = order;
  return {
    ...order,
    firstFrame: firstFrame && await withUpload(firstFrame),
    lastFrame: lastFrame && await withUpload(lastFrame),
    references: await Promise.all(references.map(withUpload)),
  };
}

/** No prediction exists yet, so a failure has `accepted: "no"`. */
async function upload(
  outbound: Outbound,
  file: FormFile,
  callerSignal: OutboundCall["callerSignal"],
): Promise<string> {
  const filename = `media.${file.mediaType.slice(file.mediaType.indexOf("/") + 1).replace(/[^\w]/g, "")}`;
  const body = multipartBody([{ name: "content", file, filename }]);
  try {
    return await outbound.json("POST", "/files", body, (response) => Upload.parse(response).urls.get, {
      callerSignal,
      readError: readReplicateError,
    });
  } catch (thrown) {
    if (!(thrown instanceof UpstreamFailure)) throw thrown;
    const { provider, kind, message, facts } = thrown;
    throw new UpstreamFailure(provider, kind, message, { ...facts, accepted: "no" });
  }
}
