import * as z from "zod";
import { inPath, inQuery, type Operation } from "../operation.ts";
import { IF_NONE_MATCH } from "../parameters.ts";
import { ContentModel, ContentModelList, MessageModel, MessageModelList, Model, ModelList } from "../replies/models.ts";

const NAME = inPath(
  "model",
  "A provider, for its models; or the id of a model, an alias or a bare name. A slash may be percent-encoded.",
  z.string(),
);

interface Style {
  readonly id: string;
  readonly face: Operation["face"];
  readonly style: string;
  readonly list: z.ZodType;
  readonly one: z.ZodType;
  readonly page: Operation["parameters"];
}

function catalog({ id, face, style, list, one, page = [] }: Style): Operation[] {
  const shared = { tag: "Models", face, auth: "optional" } as const;
  const unchanged = { 304: { description: "Unchanged", headers: ["ETag"] } } as const;
  return [
    {
      ...shared,
      id: `list${id}`,
      summary: `List the models in the ${style} style`,
      description: "A key with limits gets the models that it may use.",
      parameters: [...page, IF_NONE_MATCH],
      replies: { 200: { description: "The models", json: list, headers: ["ETag"] }, ...unchanged },
      errors: face === "content" ? [400] : [],
    },
    {
      ...shared,
      id: `read${id}`,
      summary: `Read a model, or the models of a provider, in the ${style} style`,
      parameters: [NAME, ...page, IF_NONE_MATCH],
      replies: {
        200: { description: "The model or the models", json: z.union([one, list]), headers: ["ETag"] },
        ...unchanged,
      },
      errors: [404],
    },
  ];
}

/** The three catalogs. */
export const MODEL_OPERATIONS: readonly Operation[] = [
  ...catalog({
    id: "Models",
    face: "default",
    style: "default",
    list: ModelList,
    one: Model,
    page: [],
  }),
  ...catalog({
    id: "MessageModels",
    face: "message",
    style: "message",
    list: MessageModelList,
    one: MessageModel,
    page: [
      inQuery("limit", "The most models of a page.", z.int().min(1).max(1_000)),
      inQuery("after_id", "Models after this one.", z.string()),
      inQuery("before_id", "Models before this one.", z.string()),
      inQuery("lifecycle", "Only models of this stage.", z.enum(["active", "deprecated"])),
    ],
  }),
  ...catalog({
    id: "ContentModels",
    face: "content",
    style: "content",
    list: ContentModelList,
    one: ContentModel,
    page: [
      inQuery("pageSize", "The most models of a page.", z.int().min(1).max(1_000)),
      inQuery("pageToken", "The `nextPageToken` of the page before.", z.string()),
    ],
  }),
];
