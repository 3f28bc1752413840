import { assertEquals } from "@std/assert";
import type { AccessLimits } from "../../src/money/limits/access_limits.ts";
import { startTestGateway } from "../support/gateway.ts";

const CALLERS = 15;
const CHANGES = 6;
const PERIODS = ["day", "week"] as const satisfies readonly NonNullable<AccessLimits["budget"]>["per"][];

for (const isolates of [1, 2]) {
  for (const holder of ["key", "account"] as const) {
    Deno.test(`a budget of the ${holder} whose period changes while ${CALLERS} callers use it, ${isolates} threads: all are answered`, async () => {
      const gateway = await startTestGateway({ isolates });
      const admin = async (method: string, path: string, body?: unknown) => {
        const response = await fetch(`${gateway.address}/admin/v1/accounts/demo${path}`, {
          method,
          headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
          ...body !== undefined && { body: JSON.stringify(body) },
        });
        assertEquals(response.ok, true);
        return await response.json();
      };
      try {
        const { id, secret } = await admin("POST", "/keys", {});
        const path = holder === "key" ? `/keys/${id}` : "";
        await admin("PATCH", path, { budget: { amount: "20", per: "day" } });
        let isOver = false;
        const others: string[] = [];
        let answered = 0;
        const call = async () => {
          const response = await fetch(`${gateway.address}/v1/chat/completions`, {
            method: "POST",
            headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
            body: JSON.stringify({ model: "sandbox/chat-1", messages: [{ role: "user", content: "Hi" }] }),
          });
          const text = await response.text();
          if (response.status !== 200) others.push(`${response.status} ${text.slice(0, 200)}`);
          answered++;
        };
        const callers = Promise.all(Array.from({ length: CALLERS }, async () => {
          while (!isOver) await call();
        }));
        for (let n = 1; n <= CHANGES; n++) {
          const before = answered;
          while (answered < before + CALLERS) await call();
          await admin("PATCH", path, { budget: { amount: "20", per: PERIODS[n % 2] } });
        }
        isOver = true;
        await callers;
        const reasons = gateway.logLines.filter((line) =>
          line.includes('"store_') || line.includes("storage_unavailable")
        ).join("\n");
        assertEquals(others, [], reasons);
        const { budget } = await admin("GET", path);
        assertEquals(budget.per, PERIODS[CHANGES % 2]);
      } finally {
        await gateway.stop();
      }
    });
  }
}
