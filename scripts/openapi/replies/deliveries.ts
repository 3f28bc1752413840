import * as z from "zod";
import type {
  Delivery as ConsoleDelivery,
  OpenReceiver,
  ReceivedEvent as ConsoleEvent,
} from "../../../src/console/client/shapes.ts";
import { DELIVERY_STATES } from "../../../src/services/webhooks/delivery.ts";
import { about, seconds, written } from "../schema.ts";

const instant = () => about(z.int().nullable(), "Unix seconds.");
const word = () => z.string().nullable();

/** What an event is about: a task of a video, a batch, or a notification. */
const EventSource = z.union([z.uuid(), z.string().regex(/^batch_[0-9a-f]{28}$/)]);

const delivery = {
  task: about(EventSource, "The task, the batch or the notification."),
  account: about(word(), "Null for notifications to the operator."),
  event: z.string(),
  idempotency_key: z.string(),
  url: about(z.string(), "Without its query."),
  state: z.enum(DELIVERY_STATES),
  created_at: seconds(),
  attempts: z.int(),
  next_attempt_at: instant(),
  settled_at: instant(),
  body_bytes: z.int(),
};

/** A delivery for operators. */
export const AdminDelivery = written<ConsoleDelivery>()(z.object(delivery)).meta({ id: "AdminDelivery" });

/** A delivery with its attempts. */
export const AdminDeliveryWithAttempts = z.object({
  ...delivery,
  attempt_log: z.array(z.object({
    number: z.int(),
    started_at: seconds(),
    duration_ms: z.number(),
    status: z.int().nullable(),
    failure: word(),
    reason: word(),
    answer_bytes: z.int().nullable(),
    answer_start: word(),
  })),
}).meta({ id: "AdminDeliveryWithAttempts" });

/** A signed request as it would be sent. */
export const DeliveryRequest = z.object({ headers: z.record(z.string(), z.string()), body: z.string() })
  .meta({ id: "DeliveryRequest" });

/** How many deliveries were started again. */
export const Redelivered = z.object({ redelivered: z.int(), next: word() }).meta({ id: "Redelivered" });

const event = {
  task: EventSource,
  account: z.string(),
  event: z.string(),
  idempotency_key: z.string(),
  url: word(),
  created_at: seconds(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
};

/** The events from a cursor on. */
export const EventFeed = z.object({
  data: z.array(z.object(event)),
  next: about(z.int(), "The `from` of the following request."),
}).meta({ id: "EventFeed" });

/** A test event. */
export const TestEvent = z.object({ ...event, heard: about(z.boolean(), "Whether there are listeners.") })
  .meta({ id: "TestEvent" });

const receiver = { id: z.string(), account: z.string(), url: z.url(), closes_at: seconds() };

/** A receiver of webhooks. */
export const WebhookReceiver = written<OpenReceiver>()(z.object(receiver)).meta({ id: "WebhookReceiver" });

/** All receivers. */
export const WebhookReceivers = z.object({ data: z.array(WebhookReceiver) }).meta({ id: "WebhookReceivers" });

const ReceivedEvent = written<ConsoleEvent>()(z.object({
  number: z.int(),
  received_at: seconds(),
  via: z.enum(["gateway", "network"]),
  verified: z.boolean(),
  problem: word(),
  idempotency_key: word(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
})).meta({ id: "ReceivedEvent" });

/** A receiver with what it received. */
export const ReceivedEvents = z.object({ ...receiver, data: z.array(ReceivedEvent) }).meta({ id: "ReceivedEvents" });
