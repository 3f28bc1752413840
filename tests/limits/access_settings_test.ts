import { assertEquals } from "@std/assert";
import * as z from "zod";
import { effectiveLimitsOf } from "../../src/money/limits/access_limits.ts";
import {
  accessLimitFields,
  INSTANT_FIELD,
  METADATA_FIELD,
  NAME_FIELD,
  OVERDRAFT_FIELD,
} from "../../src/money/limits/access_settings.ts";
import { changedLimits, writeLimits } from "../../src/money/limits/limit_changes.ts";

const Fields = z.strictObject(accessLimitFields("the key"));

const WRITTEN = {
  models: ["openai/*", "fast", "anthropic/claude-sonnet-5"],
  endpoints: ["chat_completions", "videos"],
  providers: ["openai", "azure_eu.2"],
  ip_allow: ["10.0.0.0/8", "2001:db8::/32", "192.0.2.7"],
  rpm: 60,
  tpm: 100_000,
  concurrency: 4,
  budget: { amount: "20.0000000000", per: "month" },
};

Deno.test("limits are written as they were read", () => {
  const limits = changedLimits(undefined, Fields.parse(WRITTEN));
  assertEquals(limits?.budget, { amount: 200_000_000_000n, per: "month" });
  assertEquals(writeLimits(limits), WRITTEN);
});

Deno.test("changedLimits() removes a limit with null, keeps one that is not given, and ends without any limit", () => {
  const before = changedLimits(undefined, Fields.parse({ rpm: 60, models: ["openai/*"] }));
  assertEquals(changedLimits(before, Fields.parse({ rpm: null, tpm: "500" })), { models: ["openai/*"], tpm: 500 });
  assertEquals(changedLimits(before, Fields.parse({ rpm: null, models: null })), undefined);
});

Deno.test("limits refuse values that could not be enforced, and name what is expected", () => {
  const refused: [string, unknown, RegExp][] = [
    ["models", [], /a list of 1 to 100/],
    ["models", ["openai/*", "openai/*"], /without repetitions/],
    ["models", ["gpt-*"], /a pattern of ids such as "openai\/\*"/],
    ["models", [""], /the id of a model/],
    ["models", ["a b"], /the id of a model/],
    ["models", ["a".repeat(201)], /the id of a model/],
    ["models", ["\u0000"], /the id of a model/],
    ["models", [7], /the id of a model/],
    ["models", "openai/*", /a list of 1 to 100/],
    ["models", Array.from({ length: 101 }, (_, index) => `a/${index}`), /a list of 1 to 100/],
    ["endpoints", ["chat"], /one of chat_completions, /],
    ["providers", ["OpenAI"], /lower-case/],
    ["ip_allow", ["10.0.0.0/33"], /an address or a block/],
    ["ip_allow", ["10.0.0.0/8/8"], /an address or a block/],
    ["ip_allow", ["localhost"], /an address or a block/],
    ["ip_allow", ["010.0.0.1"], /an address or a block/],
    ["rpm", 0, /from 1 to/],
    ["rpm", -1, /from 1 to/],
    ["rpm", 1.5, /a whole number of requests per minute/],
    ["tpm", Infinity, /a whole number of tokens per minute/],
    ["tpm", NaN, /a whole number/],
    ["concurrency", true, /a whole number/],
    ["budget", 20, /a budget, such as/],
    ["budget", { amount: "0", per: "day" }, /above zero/],
    ["budget", { amount: "-5", per: "day" }, /above zero/],
    ["budget", { amount: "1e3", per: "day" }, /above zero/],
    ["budget", { amount: "20", per: "year" }, /one of day, week, month, total/],
    ["budget", { amount: "20" }, /one of day, week, month, total/],
  ];
  for (const [field, value, expected] of refused) {
    const { error } = Fields.safeParse({ [field]: value });
    assertEquals(expected.test(error?.issues[0]?.message ?? ""), true, `${field}: ${error?.issues[0]?.message}`);
  }
});

Deno.test("instants are read as dates, times and Unix seconds", () => {
  assertEquals(INSTANT_FIELD.parse("2027-01-01"), Date.UTC(2027, 0, 1));
  assertEquals(INSTANT_FIELD.parse("2027-01-01T10:00:00Z"), Date.UTC(2027, 0, 1, 10));
  assertEquals(INSTANT_FIELD.parse(1_798_761_600), Date.UTC(2027, 0, 1));
  assertEquals(INSTANT_FIELD.parse("1798761600"), Date.UTC(2027, 0, 1));
  for (const value of ["2027-02-30", "tomorrow", "", "01.01.2027", -1, 1.5, 1e13, null, {}]) {
    assertEquals(INSTANT_FIELD.safeParse(value).success, false, String(value));
  }
});

Deno.test("names, metadata and overdrafts refuse what a list could not show", () => {
  for (const name of ["", "a\nb", "a\u0007", "n".repeat(101)]) assertEquals(NAME_FIELD.safeParse(name).success, false);
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, "v"]));
  for (const metadata of [[], "team", { "a b": "x" }, { team: 7 }, { team: "x".repeat(257) }, { team: "a\n" }, many]) {
    assertEquals(METADATA_FIELD.safeParse(metadata).success, false, JSON.stringify(metadata));
  }
  assertEquals(METADATA_FIELD.parse({ team: "search", "cost-centre": "" }), { team: "search", "cost-centre": "" });
  assertEquals([OVERDRAFT_FIELD.parse("5"), OVERDRAFT_FIELD.parse(0.5)], [50_000_000_000n, 5_000_000_000n]);
  for (const amount of ["-1", "much", 1e-9, null]) assertEquals(OVERDRAFT_FIELD.safeParse(amount).success, false);
});

Deno.test("effectiveLimitsOf() is null without any limit, and keeps the key's apart from the account's", () => {
  assertEquals(effectiveLimitsOf({}, {}), null);
  assertEquals(effectiveLimitsOf({ expiresAt: 5 }, {}), { key: {}, account: {}, expiresAt: 5 });
  assertEquals(effectiveLimitsOf({}, { expiresAt: 5 }), { key: {}, account: {}, expiresAt: 5 });
  assertEquals(effectiveLimitsOf({ expiresAt: 7 }, { expiresAt: 5 })?.expiresAt, 5);
  assertEquals(effectiveLimitsOf({ expiresAt: 3 }, { expiresAt: 5 })?.expiresAt, 3);
  assertEquals(effectiveLimitsOf({ limits: { rpm: 1 } }, { limits: { rpm: 2 } }), {
    key: { rpm: 1 },
    account: { rpm: 2 },
    expiresAt: null,
  });
});
