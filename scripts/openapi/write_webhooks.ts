import { TERMINAL_STATUSES } from "../../src/calls/ended_task.ts";
import { VideoEvent } from "./replies/videos.ts";
import type { Components, JsonSchema } from "./schema.ts";

const HEADERS = [
  ["X-Service-Idempotency-Key", "The task and its status; the same on every attempt. Process each key once."],
  ["X-Service-Signature", "HMAC-SHA256 of the raw body by the account's webhook secret, in base64url without padding."],
  ["webhook-id", "The idempotency key."],
  ["webhook-timestamp", "Unix seconds of this attempt."],
  [
    "webhook-signature",
    "One or two signatures of Standard Webhooks: `v1,` and the base64 of HMAC-SHA256 over id, timestamp and body.",
  ],
] as const;

const MEANINGS: Readonly<Record<typeof TERMINAL_STATUSES[number], string>> = {
  completed: "The task succeeded",
  failed: "The task failed",
  cancelled: "The task was cancelled",
  expired: "The task expired",
};

/** The events that are sent to the `callback_url` of a task. Source: docs/api/webhooks.md. */
export function writeWebhooks(components: Components): Record<string, JsonSchema> {
  const schema = components.schemaOf(VideoEvent);
  return Object.fromEntries(TERMINAL_STATUSES.map((status) => {
    const event = `video.generation.${status}`;
    return [event, {
      post: {
        operationId: `onVideo${status[0]?.toUpperCase()}${status.slice(1)}`,
        tags: ["Webhooks"],
        summary: MEANINGS[status],
        description: "Sent once for each task, with up to ten retries. Compare one of the signatures in constant time.",
        security: [],
        parameters: HEADERS.map(([name, description]) => ({
          name,
          in: "header",
          description,
          required: true,
          schema: { type: "string" },
        })),
        requestBody: {
          required: true,
          content: {
            "application/json": {
              schema: { allOf: [schema, { type: "object", properties: { event: { const: event } } }] },
            },
          },
        },
        responses: {
          "2XX": { description: "Acknowledges the event" },
          default: { description: "A failure, which is tried again" },
        },
      },
    }];
  }));
}
