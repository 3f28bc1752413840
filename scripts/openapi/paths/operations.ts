import * as z from "zod";
import { Calculation } from "../../../src/protocols/admin/price.ts";
import { AppliedPrices } from "../../../src/protocols/admin/prices.ts";
import { ReconciledBill } from "../../../src/protocols/admin/reconcile.ts";
import { NewProviderState, TestedCredential } from "../../../src/protocols/admin/providers.ts";
import { BATCH_STATUSES } from "../../../src/services/batches/records/batch.ts";
import { VIDEO_STATUSES } from "../../../src/services/videos/tasks/task.ts";
import { inPath, inQuery, type Operation, type Parameter } from "../operation.ts";
import * as replies from "../replies/operations.ts";
import { AuditEntry } from "../replies/operators.ts";
import { LoggedRequest, pageOf, RequestBodies } from "../replies/own.ts";
import { ORDER, PAGE } from "./admin.ts";
import { REQUEST_PARAMETERS, USAGE_PARAMETERS, USAGE_REPLY } from "./own.ts";
import { sse } from "./texts.ts";

const face = "admin" as const;
const text = (name: string, description: string) => inQuery(name, description, z.string());
const RECONCILE_REPLY = {
  200: {
    description: "Both sides",
    json: replies.Reconciliation,
    other: [{ mediaType: "text/csv", description: "With `format=csv`" }],
  },
} as const;
const ACCOUNT = text("account", "Only of this account.");

/** The parameters of a list by time. */
export const TIME_PAGE: readonly Parameter[] = [
  ...PAGE,
  ORDER,
  inQuery("from", "Unix seconds, inclusive.", z.int()),
  inQuery("to", "Unix seconds, exclusive.", z.int()),
];

const TASK = inPath("task", "The id of the task.", z.string());
const task = { 200: { description: "The task", json: replies.AdminTask } };

const TASKS: readonly Operation[] = [
  {
    id: "listTasks",
    tag: "Tasks",
    summary: "List video tasks",
    face,
    parameters: [
      ...TIME_PAGE,
      ACCOUNT,
      inQuery("status", "Only of this status.", z.enum(VIDEO_STATUSES)),
      text("model", "Only of this model."),
    ],
    replies: { 200: { description: "A page, the newest first by default", json: pageOf(replies.AdminTask) } },
    errors: [400],
  },
  {
    id: "readTask",
    tag: "Tasks",
    summary: "Read a video task",
    face,
    parameters: [TASK],
    replies: task,
    errors: [404],
  },
  {
    id: "mirrorTask",
    tag: "Tasks",
    summary: "Copy the results of a task again",
    face,
    parameters: [TASK],
    replies: { 202: task[200] },
    errors: [403, 404, 409],
  },
  {
    id: "cancelTask",
    tag: "Tasks",
    summary: "Cancel a task as its caller would",
    face,
    parameters: [TASK],
    replies: task,
    errors: [400, 403, 404, 409],
  },
  {
    id: "readTaskResults",
    tag: "Tasks",
    summary: "Read the addresses of what a task made",
    description: "Needs the role `owner`.",
    face,
    parameters: [TASK],
    replies: { 200: { description: "The addresses", json: replies.VideoResults } },
    errors: [403, 404, 409],
  },
];

const BATCH = inPath("batch", "The id of the batch.", z.string());
const batch = { 200: { description: "The batch", json: replies.AdminBatch } };
const results = {
  200: { description: "JSONL", other: [{ mediaType: "application/octet-stream", description: "The lines" }] },
} as const;

const BATCHES: readonly Operation[] = [
  {
    id: "listAllBatches",
    tag: "Tasks",
    summary: "List batches",
    face,
    parameters: [...TIME_PAGE, ACCOUNT, inQuery("status", "Only of this status.", z.enum(BATCH_STATUSES))],
    replies: { 200: { description: "A page, the newest first by default", json: pageOf(replies.AdminBatch) } },
    errors: [400],
  },
  {
    id: "readAnyBatch",
    tag: "Tasks",
    summary: "Read a batch",
    face,
    parameters: [BATCH],
    replies: batch,
    errors: [404],
  },
  {
    id: "cancelAnyBatch",
    tag: "Tasks",
    summary: "Cancel a batch as its caller would",
    face,
    parameters: [BATCH],
    replies: batch,
    errors: [403, 404, 409],
  },
  {
    id: "readBatchOutput",
    tag: "Tasks",
    summary: "Read the output file of a batch",
    description: "Needs the role `owner`.",
    face,
    parameters: [BATCH],
    replies: results,
    errors: [403, 404],
  },
  {
    id: "readBatchErrors",
    tag: "Tasks",
    summary: "Read the error file of a batch",
    description: "Needs the role `owner`.",
    face,
    parameters: [BATCH],
    replies: results,
    errors: [403, 404],
  },
];

const PROVIDER = inPath("provider", "The name of the provider.", z.string());

const MODELS_AND_PROVIDERS: readonly Operation[] = [
  {
    id: "listAdminModels",
    tag: "Providers and models",
    summary: "List models with their providers",
    face,
    parameters: PAGE,
    replies: { 200: { description: "A page", json: pageOf(replies.AdminModel) } },
    errors: [400],
  },
  {
    id: "calculatePrice",
    tag: "Providers and models",
    summary: "Calculate what quantities cost",
    face,
    body: {
      json: Calculation,
      examples: { "A thousand tokens": { model: "sandbox/chat-1", quantities: { prompt: 1_000, completion: 200 } } },
    },
    replies: { 200: { description: "The cost", json: replies.Price } },
    errors: [400, 404],
  },
  {
    id: "readPrices",
    tag: "Providers and models",
    summary: "Read the price source, and the changes that wait",
    face,
    replies: { 200: { description: "The source", json: replies.PriceSource } },
    errors: [],
  },
  {
    id: "listPrices",
    tag: "Providers and models",
    summary: "List the prices of the price source",
    face,
    parameters: PAGE,
    replies: { 200: { description: "A page", json: pageOf(replies.SourcedPrices) } },
    errors: [400],
  },
  {
    id: "listPriceChanges",
    tag: "Providers and models",
    summary: "List the changes of prices",
    face,
    parameters: PAGE,
    replies: { 200: { description: "A page, the newest first", json: pageOf(AuditEntry) } },
    errors: [400],
  },
  {
    id: "refreshPrices",
    tag: "Providers and models",
    summary: "Read the price source now",
    face,
    replies: { 200: { description: "The source", json: replies.PriceSource } },
    errors: [403, 409, 502],
  },
  {
    id: "applyPrices",
    tag: "Providers and models",
    summary: "Apply changes of prices that wait",
    face,
    body: { json: AppliedPrices, isRequired: false, examples: { "One model": { models: ["openai/gpt-6-sol"] } } },
    replies: { 200: { description: "The changes", json: replies.AppliedChanges } },
    errors: [400, 403, 404, 409],
  },
  {
    id: "listProviders",
    tag: "Providers and models",
    summary: "Read the state of the providers",
    face,
    replies: { 200: { description: "All providers", json: replies.Providers } },
    errors: [],
  },
  {
    id: "testProvider",
    tag: "Providers and models",
    summary: "Test the credentials of a provider",
    face,
    parameters: [PROVIDER],
    body: { json: TestedCredential, isRequired: false, examples: { "One credential": { credential: "a" } } },
    replies: { 200: { description: "The results, good or bad", json: replies.ProviderTest } },
    errors: [403, 404],
  },
  {
    id: "setProviderState",
    tag: "Providers and models",
    summary: "Drain a provider, or switch it on or off",
    face,
    parameters: [PROVIDER],
    body: { json: NewProviderState, examples: { "Drain": { state: "drain" } } },
    replies: { 200: { description: "The state", json: replies.ServiceState } },
    errors: [400, 403, 404, 409],
  },
  {
    id: "resetProviderState",
    tag: "Providers and models",
    summary: "Give a provider the state of the configuration",
    face,
    parameters: [PROVIDER],
    replies: { 200: { description: "The state", json: replies.ServiceState } },
    errors: [403, 404, 409],
  },
];

const SPAN = inQuery("span", "The span of time.", replies.SPANS.default("hour"));

const OVERVIEW: readonly Operation[] = [
  {
    id: "readUsage",
    tag: "Overview",
    summary: "Read what accounts have used",
    face,
    parameters: [...USAGE_PARAMETERS, ACCOUNT, text("key", "Only usage of this key.")],
    replies: USAGE_REPLY,
    errors: [400, 429],
  },
  {
    id: "reconcile",
    tag: "Providers and models",
    summary: "Compare a vendor's bill with the ledger",
    face,
    parameters: [
      { ...text("provider", "The name of the provider."), isRequired: true },
      { ...inQuery("from", "The first day, UTC.", z.iso.date()), isRequired: true },
      { ...inQuery("to", "The last day, UTC.", z.iso.date()), isRequired: true },
      inQuery("format", "How it is written.", z.enum(["json", "csv"]).default("json")),
    ],
    replies: RECONCILE_REPLY,
    errors: [400, 404, 409, 502, 503, 504],
  },
  {
    id: "reconcileInvoice",
    tag: "Providers and models",
    summary: "Compare a vendor's invoice with the ledger",
    face,
    body: {
      json: ReconciledBill,
      examples: {
        "An invoice": {
          provider: "sandbox-openai",
          from: "2026-11-01",
          to: "2026-11-03",
          invoice: "date,model,cost\n2026-11-03,chat-1,1.25\n",
        },
      },
    },
    replies: RECONCILE_REPLY,
    errors: [400, 404, 409, 413, 502, 503, 504],
  },
  {
    id: "readTraffic",
    tag: "Overview",
    summary: "Read requests, errors, cost and latencies of a span or a time range",
    face,
    parameters: [
      SPAN,
      inQuery("from", "The start of a time range, in Unix seconds, in place of `span`.", z.int()),
      inQuery("to", "The end of the time range, in Unix seconds. Default: now.", z.int()),
      inQuery("group_by", "Also sums by this fact of the requests.", replies.GROUPS),
    ],
    replies: { 200: { description: "The traffic", json: replies.Traffic } },
    errors: [400],
  },
  {
    id: "streamOverview",
    tag: "Overview",
    summary: "Follow the traffic and the providers as a stream of events",
    face,
    parameters: [SPAN],
    replies: {
      200: {
        description: "The state, and its changes",
        other: [sse([
          { name: "traffic", description: "As `GET /admin/v1/traffic`", data: replies.Traffic },
          { name: "providers", description: "As `GET /admin/v1/providers`", data: replies.Providers },
        ])],
      },
    },
    errors: [400, 429],
  },
  {
    id: "listRequests",
    tag: "Overview",
    summary: "List requests",
    face,
    parameters: [ACCOUNT, ...REQUEST_PARAMETERS],
    replies: { 200: { description: "A page", json: pageOf(LoggedRequest) } },
    errors: [400, 404, 429],
  },
  {
    id: "readRequest",
    tag: "Overview",
    summary: "Read a request",
    face,
    parameters: [inPath("id", "The id of the request.", z.string())],
    replies: { 200: { description: "The request", json: LoggedRequest } },
    errors: [404],
  },
  {
    id: "readRequestBodies",
    tag: "Overview",
    summary: "Read the captured bodies of a request",
    description: "Needs the role `owner`.",
    face,
    parameters: [inPath("id", "The id of the request.", z.string())],
    replies: { 200: { description: "The bodies", json: RequestBodies } },
    errors: [403, 404],
  },
];

const CACHES: readonly Operation[] = [
  {
    id: "listCaches",
    tag: "Caches",
    summary: "List cached contents",
    face,
    parameters: [...PAGE, ACCOUNT],
    replies: { 200: { description: "A page", json: pageOf(replies.AdminCache) } },
    errors: [400],
  },
  {
    id: "deleteCache",
    tag: "Caches",
    summary: "Remove a cached content",
    face,
    parameters: [inPath("cache", "The id of the cached content.", z.string())],
    replies: { 200: { description: "The removed content", json: replies.AdminCache } },
    errors: [403, 404],
  },
];

/** The endpoints of tasks, providers, the overview and caches. */
export const OVERVIEW_OPERATIONS: readonly Operation[] = [
  ...TASKS,
  ...BATCHES,
  ...MODELS_AND_PROVIDERS,
  ...OVERVIEW,
  ...CACHES,
];
