import * as z from "zod";
import { RedeliveredRange } from "../../../src/protocols/admin/deliveries.ts";
import { NewTestEvent } from "../../../src/protocols/admin/events.ts";
import { NewReceiver, ReceiverTest } from "../../../src/protocols/admin/receivers.ts";
import { DELIVERY_STATES } from "../../../src/services/webhooks/delivery.ts";
import { inPath, inQuery, type Operation } from "../operation.ts";
import * as replies from "../replies/deliveries.ts";
import { pageOf } from "../replies/own.ts";
import { TIME_PAGE } from "./operations.ts";

const shared = { tag: "Deliveries", face: "admin" } as const;
const TASK = inPath("task", "The id of the task.", z.string());
const RECEIVER = inPath("id", "The id of the receiver.", z.string());
const receiver = { description: "The receiver", json: replies.WebhookReceiver };

/** The endpoints of deliveries, events and receivers of the admin API. */
export const WEBHOOK_OPERATIONS: readonly Operation[] = [
  {
    ...shared,
    id: "listDeliveries",
    summary: "List deliveries",
    parameters: [...TIME_PAGE, inQuery("state", "Only in this state.", z.enum(DELIVERY_STATES))],
    replies: { 200: { description: "A page, the newest first by default", json: pageOf(replies.AdminDelivery) } },
    errors: [400],
  },
  {
    ...shared,
    id: "redeliverRange",
    summary: "Deliver the events of a range again",
    body: { json: RedeliveredRange, examples: { "An hour": { from: 1_795_349_600, to: 1_795_353_200 } } },
    replies: { 202: { description: "How many, and where to continue", json: replies.Redelivered } },
    errors: [400, 403],
  },
  {
    ...shared,
    id: "readDelivery",
    summary: "Read a delivery with its attempts",
    parameters: [TASK],
    replies: { 200: { description: "The delivery", json: replies.AdminDeliveryWithAttempts } },
    errors: [404],
  },
  {
    ...shared,
    id: "readDeliveryRequest",
    summary: "Read a delivery's signed request",
    parameters: [TASK],
    replies: { 200: { description: "The request as it would be sent now", json: replies.DeliveryRequest } },
    errors: [404],
  },
  {
    ...shared,
    id: "redeliver",
    summary: "Deliver an event again",
    parameters: [TASK],
    replies: { 202: { description: "The delivery, pending again", json: replies.AdminDelivery } },
    errors: [403, 404, 409],
  },
  {
    ...shared,
    id: "readEvents",
    summary: "Read events as they happen",
    parameters: [inQuery("from", "The `next` of the page before; without it only the cursor is returned.", z.int())],
    replies: { 200: { description: "The events from the cursor on", json: replies.EventFeed } },
    errors: [400],
  },
  {
    ...shared,
    id: "createTestEvent",
    summary: "Make a test event",
    body: { json: NewTestEvent, examples: { "A success": { event: "completed", account: "demo" } } },
    replies: { 201: { description: "The signed event, which is not delivered", json: replies.TestEvent } },
    errors: [400, 403, 404],
  },
  {
    ...shared,
    id: "openReceiver",
    summary: "Open a receiver for tests",
    body: { json: NewReceiver, examples: { "Ten minutes": { account: "demo" } } },
    replies: { 201: receiver },
    errors: [400, 403, 404, 429],
  },
  {
    ...shared,
    id: "listReceivers",
    summary: "List the open receivers",
    replies: { 200: { description: "All of them", json: replies.WebhookReceivers } },
    errors: [],
  },
  {
    ...shared,
    id: "readReceiver",
    summary: "Read what a receiver received",
    parameters: [RECEIVER],
    replies: { 200: { description: "The receiver and its events", json: replies.ReceivedEvents } },
    errors: [404],
  },
  {
    ...shared,
    id: "closeReceiver",
    summary: "Close a receiver",
    parameters: [RECEIVER],
    replies: { 200: receiver },
    errors: [403, 404],
  },
  {
    ...shared,
    id: "testReceiver",
    summary: "Send a test event to a receiver",
    parameters: [RECEIVER],
    body: { json: ReceiverTest, isRequired: false, examples: { "A failure": { event: "failed" } } },
    replies: { 201: receiver },
    errors: [400, 403, 404],
  },
];
