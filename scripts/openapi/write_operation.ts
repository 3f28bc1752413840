import * as z from "zod";
import { ERRORS, STATUS_TEXTS } from "./errors.ts";
import type { Body, Operation, OtherContent, Parameter, Reply } from "./operation.ts";
import type { Components, JsonSchema } from "./schema.ts";
import { securityOf } from "./security.ts";

/** Writes operations in OpenAPI's form, with their schemas among the components. */
export class OperationWriter {
  readonly #parameters = new Map<string, JsonSchema>();

  constructor(readonly components: Components) {}

  /** The shared parameters. */
  parameters(): Record<string, JsonSchema> {
    return Object.fromEntries(this.#parameters);
  }

  /** Writes one operation. */
  write(operation: Operation): JsonSchema {
    const { id, tag, summary, description, parameters = [], body, replies } = operation;
    return {
      operationId: id,
      tags: [tag],
      summary,
      ...description !== undefined && { description },
      security: securityOf(operation),
      ...parameters.length > 0 && { parameters: parameters.map((each) => this.#parameter(each)) },
      ...body !== undefined && { requestBody: this.#body(body) },
      responses: {
        ...Object.fromEntries(Object.entries(replies).map(([status, reply]) => [status, this.#reply(reply)])),
        ...errorsOf(operation),
      },
    };
  }

  /** A header field is the same wherever it is taken, so it is a component. */
  #parameter(parameter: Parameter): JsonSchema {
    const { in: place, name, description, schema, isRequired } = parameter;
    const written = {
      name,
      in: place,
      description,
      ...isRequired && { required: true },
      schema: this.components.schemaOf(schema),
    };
    if (place !== "header" || name === "If-None-Match") return written;
    this.#parameters.set(name, written);
    return { $ref: `#/components/parameters/${name}` };
  }

  #body({ json, form, isAny, isRequired = true, examples }: Body): JsonSchema {
    const content: Record<string, JsonSchema> = {};
    if (json !== undefined) {
      content["application/json"] = {
        schema: json instanceof z.ZodType ? this.components.schemaOf(json) : json,
        ...examples && { examples: examplesOf(examples) },
      };
    }
    if (form !== undefined) content["multipart/form-data"] = { schema: this.components.schemaOf(form) };
    if (isAny) content["*/*"] = {};
    return { ...isRequired && { required: true }, content };
  }

  #reply({ description, json, example, other = [], headers = [] }: Reply): JsonSchema {
    const content: Record<string, JsonSchema> = {};
    if (json !== undefined) {
      content["application/json"] = {
        schema: this.components.schemaOf(json),
        ...example !== undefined && { example },
      };
    }
    for (const each of other) content[each.mediaType] = this.#otherContent(each);
    const names = ["X-Service-Request-Id", ...headers];
    return {
      description,
      headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
      ...Object.keys(content).length > 0 && { content },
    };
  }

  /** OpenAPI 3.1 has no schema for the events of a stream, so they are in an extension. */
  #otherContent({ mediaType, description, events }: OtherContent): JsonSchema {
    const isText = mediaType.startsWith("text/");
    return {
      schema: { ...isText && { type: "string" }, ...description !== undefined && { description } },
      ...events && {
        "x-events": events.map(({ name, description, data }) => ({
          ...name !== null && { event: name },
          description,
          ...data !== null && { data: this.components.schemaOf(data) },
        })),
      },
    };
  }
}

/** Errors of the operation, and any other as `default`. */
function errorsOf(operation: Operation): Record<string, JsonSchema> {
  const { face, auth, errors } = operation;
  const $ref = `#/components/responses/${ERRORS[face].name}`;
  const statuses = auth === "none" ? errors : [...errors, 401];
  const each = [...new Set(statuses)].sort((one, other) => one - other).map((status) => [
    String(status),
    { $ref, description: STATUS_TEXTS[status] },
  ]);
  return { ...Object.fromEntries(each), default: { $ref, description: "Any other error." } };
}

function examplesOf(examples: Readonly<Record<string, unknown>>): JsonSchema {
  return Object.fromEntries(
    Object.entries(examples).map(([summary, value], place) => [`example${place + 1}`, { summary, value }]),
  );
}
