import { CALLER_ENDPOINTS } from "../../src/platform/endpoints/callers.ts";
import type { Endpoint } from "../../src/platform/endpoints/endpoint.ts";
import { CONFIG_ENDPOINTS, OPERATOR_ENDPOINTS, REQUEST_ENDPOINTS } from "../../src/platform/endpoints/operators.ts";
import { DOCUMENTATION_ENDPOINTS, SERVICE_ENDPOINTS } from "../../src/platform/endpoints/service.ts";
import project from "../../deno.json" with { type: "json" };
import { ERRORS } from "./errors.ts";
import { HEADERS } from "./headers.ts";
import type { Operation } from "./operation.ts";
import { ACCOUNT_OPERATIONS } from "./paths/admin.ts";
import { BATCH_OPERATIONS } from "./paths/batches.ts";
import { CONTENT_BATCH_OPERATIONS } from "./paths/content_batches.ts";
import { MESSAGE_BATCH_OPERATIONS } from "./paths/message_batches.ts";
import { CONTENT_FILE_OPERATIONS } from "./paths/content_files.ts";
import { FILE_OPERATIONS } from "./paths/files.ts";
import { MESSAGE_FILE_OPERATIONS } from "./paths/message_files.ts";
import { MEDIA_OPERATIONS } from "./paths/media.ts";
import { MODEL_OPERATIONS } from "./paths/models.ts";
import { OVERVIEW_OPERATIONS } from "./paths/operations.ts";
import { OPERATOR_OPERATIONS } from "./paths/operators.ts";
import { CACHE_OPERATIONS, OWN_OPERATIONS } from "./paths/own.ts";
import { SERVICE_OPERATIONS } from "./paths/service.ts";
import { textOperations } from "./paths/texts.ts";
import { VIDEO_OPERATIONS } from "./paths/videos.ts";
import { WEBHOOK_OPERATIONS } from "./paths/webhooks.ts";
import { Components, type JsonSchema } from "./schema.ts";
import { SECURITY_SCHEMES } from "./security.ts";
import { TAG_GROUPS, TAGS } from "./tags.ts";
import { textRequests } from "./text_requests.ts";
import { OperationWriter } from "./write_operation.ts";
import { writeWebhooks } from "./write_webhooks.ts";

/** Where the description is in the repository. */
export const DESCRIPTION_FILE = "docs/openapi.json";

const INFO = {
  title: "Switchyard",
  version: project.version,
  summary: "A gateway to models for texts, pictures, videos, audio and vectors.",
  description:
    "One key for the models of many vendors, in the wire formats of OpenAI, Anthropic and Gemini. The paths " +
    "of the content protocol are also below `/gencompat/v1`. Common other paths are rewritten.",
  license: { name: "MIT", identifier: "MIT" },
};

/** The endpoints by the names of their operations. */
const ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map([
  ...Object.entries(CALLER_ENDPOINTS),
  ...Object.entries(OPERATOR_ENDPOINTS),
  ...Object.entries(REQUEST_ENDPOINTS),
  ...Object.entries(CONFIG_ENDPOINTS),
  ...Object.entries(SERVICE_ENDPOINTS),
  ...Object.entries(DOCUMENTATION_ENDPOINTS),
]);

function endpointOf({ id }: Operation): Endpoint {
  const endpoint = ENDPOINTS.get(id);
  if (endpoint === undefined) throw new Error(`No endpoint has the name of the operation "${id}"`);
  return endpoint;
}

/** The description of the interface as an OpenAPI document. */
export async function openapiDocument(): Promise<JsonSchema> {
  const components = new Components();
  const operations: readonly Operation[] = [
    ...textOperations(await textRequests(components)),
    ...MEDIA_OPERATIONS,
    ...VIDEO_OPERATIONS,
    ...BATCH_OPERATIONS,
    ...MESSAGE_BATCH_OPERATIONS,
    ...CONTENT_BATCH_OPERATIONS,
    ...FILE_OPERATIONS,
    ...MESSAGE_FILE_OPERATIONS,
    ...CONTENT_FILE_OPERATIONS,
    ...CACHE_OPERATIONS,
    ...MODEL_OPERATIONS,
    ...OWN_OPERATIONS,
    ...ACCOUNT_OPERATIONS,
    ...OVERVIEW_OPERATIONS,
    ...OPERATOR_OPERATIONS,
    ...WEBHOOK_OPERATIONS,
    ...SERVICE_OPERATIONS,
  ];
  const writer = new OperationWriter(components);
  const paths: Record<string, JsonSchema> = {};
  for (const operation of operations) {
    const { method, path } = endpointOf(operation);
    (paths[path.replaceAll(/(?<=\/):(\w+)\*?/g, "{$1}")] ??= {})[method.toLowerCase()] = writer.write(operation);
  }
  const webhooks = writeWebhooks(components);
  const errors = Object.values(ERRORS).map(({ name, schema }) => [name, {
    description: "An error",
    headers: Object.fromEntries((["X-Service-Request-Id", "Retry-After", "Link"] as const).map((each) => [each, {
      $ref: `#/components/headers/${each}`,
    }])),
    content: { "application/json": { schema: components.schemaOf(schema) } },
  }]);
  return {
    openapi: "3.1.1",
    info: INFO,
    servers: [{ url: "http://127.0.0.1:8787", description: "This gateway" }],
    tags: TAGS,
    "x-tagGroups": TAG_GROUPS,
    paths,
    webhooks,
    components: {
      schemas: components.all(),
      parameters: writer.parameters(),
      headers: HEADERS,
      responses: Object.fromEntries(errors),
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

/** The document as `deno fmt` leaves it. */
export async function formattedDocument(): Promise<string> {
  return `${JSON.stringify(await openapiDocument(), null, 2)}\n`;
}
