import { assertEquals } from "@std/assert";
import { SCHEMA } from "../../src/platform/store/kv/keys.ts";

/**
 * The fields of what is stored that restrict callers or have money, and the places of money, as of {@linkcode SCHEMA}.
 * An earlier version ignores a field that it does not have, and so honors a key that must be refused. After a change
 * here, raise {@linkcode SCHEMA} and this number, and add two steps to `MIGRATIONS` of PostgreSQL, since a version
 * accepts one step more than its own. A field that neither restricts nor has money is only added here.
 */
const RECORDED_SCHEMA = 2;

const RECORDED: Readonly<Record<string, readonly string[]>> = {
  "src/money/billing/accounts/key_settings.ts KeySettings": [
    "name",
    "expiresAt",
    "metadata",
    "limits",
    "capture",
    "promptCaching",
  ],
  "src/money/billing/accounts/key_settings.ts AccountSettings": ["notificationUrl", "webhookFormat"],
  "src/money/billing/accounts/records.ts AccountRecord": ["id", "createdAt", "suspendedAt", "allowBuckets", "erasure"],
  "src/money/billing/accounts/records.ts KeyRecord": [
    "id",
    "account",
    "hash",
    "prefix",
    "createdAt",
    "lastUsedAt",
    "revokedAt",
  ],
  "src/money/billing/accounts/records.ts KeyOwnerRecord": ["account", "id"],
  "src/money/billing/accounts/records.ts HoldRecord": [
    "account",
    "amount",
    "state",
    "captured",
    "openedAt",
    "resolvedAt",
  ],
  "src/money/limits/access_limits.ts AccessLimits": [
    "models",
    "endpoints",
    "providers",
    "ipAllow",
    "rpm",
    "tpm",
    "concurrency",
    "budget",
  ],
  "src/money/limits/access_limits.ts Budget": ["amount", "per"],
  "src/platform/store/store.ts Balance": ["available", "held", "overdraft"],
  "src/platform/store/store.ts LedgerEntry": ["account", "operation", "reference", "available", "held", "detail"],
};

/** The second parts of keys of `billing`. */
const RECORDED_PLACES = ["account", "adjustment", "credit", "erased", "hold", "key", "key_owner", "webhook_secret"];

async function sourceOf(file: string): Promise<string> {
  return await Deno.readTextFile(new URL(`../../${file}`, import.meta.url));
}

/** The names of an interface's own fields. */
function fieldsOf(text: string, name: string): string[] {
  const [, body = ""] = new RegExp(`^export interface ${name}\\b[^{]*\\{\\n([\\s\\S]*?)\\n\\}`, "m").exec(text) ?? [];
  return [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].flatMap(([, field = ""]) => field);
}

Deno.test("stored fields: one that restricts, and a new home of money, need a new schema", async () => {
  const found: Record<string, string[]> = {};
  for (const place of Object.keys(RECORDED)) {
    const [file = "", name = ""] = place.split(" ");
    found[place] = fieldsOf(await sourceOf(file), name);
  }
  const records = await sourceOf("src/money/billing/accounts/records.ts");
  const places = new Set([...records.matchAll(/\[\s*"billing",\s*"(\w+)"/g)].flatMap(([, place = ""]) => place));
  assertEquals([found, [...places].sort()], [RECORDED, RECORDED_PLACES], "read the comment of RECORDED_SCHEMA");
  assertEquals(SCHEMA, RECORDED_SCHEMA, "read the comment of RECORDED_SCHEMA");
});
