import { assertEquals } from "@std/assert";
import {
  changedFields,
  type KnownSettings,
  newFields,
  textsOf,
} from "../../../src/console/client/pages/forms/limit_fields.ts";

const SETTINGS: KnownSettings = {
  name: "ci",
  models: ["openai/*", "fast"],
  endpoints: null,
  providers: null,
  ip_allow: ["10.0.0.0/8"],
  rpm: 60,
  tpm: null,
  concurrency: null,
  budget: { amount: "20.5000000000", per: "month" },
  capture: null,
  expires_at: 1_798_761_600,
  metadata: { team: "search" },
};

Deno.test("textsOf() shows settings as they are typed, and nothing changes while they stay so", () => {
  const texts = textsOf(SETTINGS);
  assertEquals([texts.models, texts.budget, texts.expires_at, texts.metadata], [
    "openai/*, fast",
    "20.5",
    "2027-01-01T00:00:00Z",
    "team=search",
  ]);
  assertEquals(changedFields(texts, texts), {});
});

Deno.test("changedFields() gives what was typed, and null for what was emptied", () => {
  const texts = textsOf(SETTINGS);
  assertEquals(changedFields(texts, { ...texts, rpm: "", models: "a/b\nc", tpm: "5", concurrency: "many" }), {
    rpm: null,
    models: ["a/b", "c"],
    tpm: 5,
    concurrency: "many",
  });
  assertEquals(changedFields(texts, { ...texts, per: "day" }), { budget: { amount: "20.5", per: "day" } });
  assertEquals(changedFields(texts, { ...texts, budget: " " }), { budget: null });
  const notification_url = "https://acme.example/hook";
  assertEquals(changedFields(texts, { ...texts, notification_url }), { notification_url });
  assertEquals(changedFields(texts, { ...texts, metadata: "team = search\nowner=a=b\n" }), {
    metadata: { team: "search", owner: "a=b" },
  });
});

Deno.test("changedFields() gives the kind of a balance only when it was changed", () => {
  const texts = textsOf({ ...SETTINGS, overdraft: "0.0000000000", unlimited: true });
  assertEquals([texts.balance, texts.overdraft], ["unlimited", ""]);
  assertEquals(changedFields(texts, { ...texts, rpm: "5" }), { rpm: 5 });
  assertEquals(changedFields(texts, { ...texts, balance: "prepaid" }), { balance: "prepaid" });
  assertEquals(changedFields(textsOf(SETTINGS), textsOf(SETTINGS)), {});
});

Deno.test("newFields() leaves out what is empty, and the period without a budget", () => {
  assertEquals(newFields({ name: "", rpm: "5", per: "total", budget: "", models: "" }), { rpm: 5 });
  assertEquals(newFields({ budget: "3", per: "day" }), { budget: { amount: "3", per: "day" } });
});
