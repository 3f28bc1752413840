import { TERMINAL_STATUSES } from "../../src/services/webhooks/ended_task.ts";
import { NOTIFICATION_EVENTS, type NotificationEvent } from "../../src/services/webhooks/envelope.ts";
import { BatchEvent } from "./replies/batches.ts";
import { notificationBody } from "./replies/notifications.ts";
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

const NOTIFIED: Readonly<Record<NotificationEvent, string>> = {
  "balance.low": "A balance has fallen below a threshold",
  "budget.reached": "A budget is half, four fifths or wholly spent",
  "key.expiring": "A key or an account expires within a week",
  "model.deprecated": "A vendor ends a model within thirty days",
  "price.changed": "Prices of the price source have changed or wait for a person, or it could not be read for long",
  "provider.failing": "A provider cannot be used",
};

const RETRIED = "with up to ten retries. Compare one of the signatures in constant time.";

/** The events of video tasks and batches, and the notifications. Source: docs/api/webhooks.md. */
export function writeWebhooks(components: Components): Record<string, JsonSchema> {
  const videoEvent = components.schemaOf(VideoEvent);
  const ofTasks = TERMINAL_STATUSES.map((status) => {
    const event = `video.generation.${status}`;
    return [event, {
      operationId: `onVideo${capitalized(status)}`,
      summary: MEANINGS[status],
      description: `Sent once for each task, ${RETRIED}`,
      schema: { allOf: [videoEvent, { type: "object", properties: { event: { const: event } } }] },
    }] as const;
  });
  const notifications = NOTIFICATION_EVENTS.map((event) =>
    [event, {
      operationId: `on${event.split(".").map(capitalized).join("")}`,
      summary: NOTIFIED[event],
      description: `Sent once for its cause to each receiver, ${RETRIED}`,
      schema: components.schemaOf(notificationBody(event)),
    }] as const
  );
  const batchEvent = components.schemaOf(BatchEvent);
  const ofBatches = TERMINAL_STATUSES.map((status) => {
    const event = `batch.${status}`;
    return [event, {
      operationId: `onBatch${capitalized(status)}`,
      summary: MEANINGS[status].replace("task", "batch"),
      description: `Sent once to each receiver of a batch, ${RETRIED}`,
      schema: { allOf: [batchEvent, { type: "object", properties: { event: { const: event } } }] },
    }] as const;
  });
  const all = [...ofTasks, ...ofBatches, ...notifications];
  return Object.fromEntries(all.map(([event, written]) => [event, { post: writeWebhook(written) }]));
}

function capitalized(word: string): string {
  return `${word[0]?.toUpperCase()}${word.slice(1)}`;
}

function writeWebhook({ schema, ...described }: {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly schema: JsonSchema;
}): JsonSchema {
  return {
    ...described,
    tags: ["Webhooks"],
    security: [],
    parameters: HEADERS.map(([name, description]) => ({
      name,
      in: "header",
      description,
      required: true,
      schema: { type: "string" },
    })),
    requestBody: { required: true, content: { "application/json": { schema } } },
    responses: {
      "2XX": { description: "Acknowledges the event" },
      default: { description: "A failure, which is tried again" },
    },
  };
}
