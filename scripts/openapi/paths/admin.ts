import * as z from "zod";
import {
  AccountChange,
  NewAccount,
  NewAdjustment,
  NewBuckets,
  NewCredit,
} from "../../../src/protocols/admin/accounts.ts";
import { KeySettings, Rotation } from "../../../src/protocols/admin/keys.ts";
import { inPath, inQuery, type Operation, type Parameter } from "../operation.ts";
import * as replies from "../replies/accounts.ts";
import { pageOf } from "../replies/own.ts";

const shared = { tag: "Accounts", face: "admin" } as const;

/** The parameters of a page of an admin list. */
export const PAGE: readonly Parameter[] = [
  inQuery("limit", "The most entries of a page.", z.int().min(1).max(100).default(20)),
  inQuery("after", "The `next` of the page before.", z.string()),
];

/** The order of a list by time. */
export const ORDER: Parameter = inQuery("order", "The order by time.", z.enum(["asc", "desc"]));

const ACCOUNT = inPath("account", "The id of the account.", z.string());
const KEY = inPath("key", "The id of the key.", z.string());
const account = { 200: { description: "The account", json: replies.Account } };

/** The endpoints of accounts, keys and the ledger. */
export const ACCOUNT_OPERATIONS: readonly Operation[] = [
  {
    ...shared,
    id: "createAccount",
    summary: "Create an account",
    body: { json: NewAccount, examples: { "With a balance": { id: "acme", balance: "25.00", rpm: 600 } } },
    replies: { 201: { description: "The account and its webhook secret", json: replies.NewAccount } },
    errors: [400, 403, 409],
  },
  {
    ...shared,
    id: "listAccounts",
    summary: "List accounts by their ids",
    parameters: PAGE,
    replies: { 200: { description: "A page", json: pageOf(replies.Account) } },
    errors: [400],
  },
  {
    ...shared,
    id: "readAccount",
    summary: "Read an account",
    parameters: [ACCOUNT],
    replies: { 200: { description: "The account, and what its limits have left", json: replies.AccountWithLeft } },
    errors: [404],
  },
  {
    ...shared,
    id: "changeAccount",
    summary: "Change the settings of an account",
    description: "Null removes a setting; a missing field is kept (RFC 7396).",
    parameters: [ACCOUNT],
    body: { json: AccountChange, examples: { "A budget": { budget: { amount: "20.00", per: "month" } } } },
    replies: account,
    errors: [400, 403, 404, 409],
  },
  {
    ...shared,
    id: "creditAccount",
    summary: "Add to the balance",
    parameters: [ACCOUNT],
    body: { json: NewCredit, examples: { "An invoice": { amount: "100.00", reference: "invoice-17" } } },
    replies: { 200: { description: "The account with its new balance", json: replies.ChangedBalance } },
    errors: [400, 403, 404, 409],
  },
  {
    ...shared,
    id: "adjustAccount",
    summary: "Correct the balance",
    parameters: [ACCOUNT],
    body: { json: NewAdjustment, examples: { "A refund": { amount: "-1.50", reason: "Paid twice" } } },
    replies: { 200: { description: "The account with its new balance", json: replies.ChangedBalance } },
    errors: [400, 403, 404, 409],
  },
  {
    ...shared,
    id: "setAccountBuckets",
    summary: "Set the buckets that an account may read from",
    parameters: [ACCOUNT],
    body: { json: NewBuckets, examples: { "A folder": { allow_buckets: ["gs://acme-media/in/"] } } },
    replies: account,
    errors: [400, 403, 404, 409],
  },
  {
    ...shared,
    id: "suspendAccount",
    summary: "Refuse the keys of an account",
    parameters: [ACCOUNT],
    replies: account,
    errors: [403, 404, 409],
  },
  {
    ...shared,
    id: "resumeAccount",
    summary: "Accept the keys of an account again",
    parameters: [ACCOUNT],
    replies: account,
    errors: [403, 404, 409],
  },
  {
    ...shared,
    id: "eraseAccount",
    summary: "Remove everything that identifies an account",
    description: "Needs the role `owner`.",
    parameters: [ACCOUNT],
    replies: { 200: { description: "What was removed, as numbers", json: replies.Erasure } },
    errors: [403, 404, 409],
  },
  {
    ...shared,
    id: "rotateWebhookSecret",
    summary: "Replace the webhook secret of an account",
    parameters: [ACCOUNT],
    replies: { 200: { description: "The new secret", json: replies.WebhookSecret } },
    errors: [403, 404, 409],
  },
  {
    ...shared,
    id: "issueKey",
    tag: "Keys",
    summary: "Issue a key",
    parameters: [ACCOUNT],
    body: {
      json: KeySettings,
      isRequired: false,
      examples: { "With limits": { name: "ci", models: ["openai/*"], rpm: 60, expires_at: "2027-01-31" } },
    },
    replies: { 201: { description: "The key with its secret", json: replies.NewKey } },
    errors: [400, 403, 404, 409],
  },
  {
    ...shared,
    id: "listKeys",
    tag: "Keys",
    summary: "List the keys of an account",
    parameters: [ACCOUNT, ...PAGE, ORDER],
    replies: { 200: { description: "A page, the oldest first by default", json: pageOf(replies.AccountKey) } },
    errors: [400, 404],
  },
  {
    ...shared,
    id: "readKey",
    tag: "Keys",
    summary: "Read a key and what its limits have left",
    parameters: [ACCOUNT, KEY],
    replies: { 200: { description: "The key", json: replies.KeyWithLeft } },
    errors: [404],
  },
  {
    ...shared,
    id: "changeKey",
    tag: "Keys",
    summary: "Change the settings of a key",
    description: "Null removes a setting; a missing field is kept (RFC 7396).",
    parameters: [ACCOUNT, KEY],
    body: { json: KeySettings, examples: { "Another name": { name: "ci", tpm: null } } },
    replies: { 200: { description: "The key", json: replies.AccountKey } },
    errors: [400, 403, 404, 409],
  },
  {
    ...shared,
    id: "revokeKey",
    tag: "Keys",
    summary: "Revoke a key",
    parameters: [ACCOUNT, KEY],
    replies: { 200: { description: "The revoked key", json: replies.AccountKey } },
    errors: [403, 404, 409],
  },
  {
    ...shared,
    id: "rotateKey",
    tag: "Keys",
    summary: "Replace a key",
    parameters: [ACCOUNT, KEY],
    body: { json: Rotation, isRequired: false, examples: { "A day of both": { overlap: 86_400 } } },
    replies: { 201: { description: "The new key with its secret, and the one before", json: replies.RotatedKey } },
    errors: [400, 403, 404, 409],
  },
  {
    ...shared,
    id: "listLedger",
    summary: "List the entries of a ledger",
    parameters: [ACCOUNT, ...PAGE, ORDER],
    replies: { 200: { description: "A page, the oldest first by default", json: pageOf(replies.LedgerEntry) } },
    errors: [400, 404],
  },
];
