/** Members of OpenAI's Images API that are sent as they are. Source: OpenAI API reference, "Images". */
export const IMAGE_EXTRAS = [
  "output_compression",
  "moderation",
  "user",
  "safety_identifier",
  "frame_count",
  "frame_duration_ms",
] as const;

/** The name of one. */
export type ImageExtra = typeof IMAGE_EXTRAS[number];

/** The values of those that the caller set; zero is a value. */
export type ImageExtras = Readonly<Partial<Record<ImageExtra, string | number>>>;

/** An optional field of a request that not every vendor has. */
export type ImageOptionName =
  | ImageExtra
  | "background"
  | "output_format"
  | "input_fidelity"
  | "partial_images"
  | "svg";
