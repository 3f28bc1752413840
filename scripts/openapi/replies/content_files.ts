import * as z from "zod";
import { about } from "../schema.ts";

/** A file of the content protocol. */
export const ContentFile = z.object({
  name: about(z.string(), "`files/` and digits."),
  displayName: z.string(),
  mimeType: about(z.string(), "As it was sent."),
  sizeBytes: z.string(),
  createTime: about(z.string(), "RFC 3339."),
  updateTime: about(z.string(), "RFC 3339."),
  expirationTime: about(z.string(), "RFC 3339; absent if it is kept until it is deleted.").optional(),
  sha256Hash: about(z.string(), "Base64."),
  uri: z.string(),
  downloadUri: about(z.string(), "Only of results of batches.").optional(),
  state: z.literal("ACTIVE"),
  source: z.enum(["UPLOADED", "GENERATED"]),
}).meta({ id: "ContentFile" });

/** The end of an upload. */
export const UploadedContentFile = z.object({ file: ContentFile }).meta({ id: "UploadedContentFile" });

/** A page of files of the content protocol. */
export const ContentFileList = z.object({
  files: z.array(ContentFile),
  nextPageToken: z.string().optional(),
}).meta({ id: "ContentFileList" });
