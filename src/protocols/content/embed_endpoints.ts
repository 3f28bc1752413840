/** The verbs of the endpoints for embeddings. */
export type EmbedVerb = "embedContent" | "batchEmbedContents";

/** The endpoints for embeddings, as those of `generateContent`. */
export const EMBED_ENDPOINTS: readonly { readonly method: "POST"; readonly path: string; readonly verb: EmbedVerb }[] =
  [
    "/gencompat/v1beta",
    "/gencompat/v1",
  ].flatMap((base) =>
    (["embedContent", "batchEmbedContents"] as const).flatMap((verb) => [
      { method: "POST" as const, path: `${base}/models/:model*:${verb}`, verb },
      { method: "POST" as const, path: `${base}/:model*:${verb}`, verb },
    ])
  );
