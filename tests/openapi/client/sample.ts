import createClient from "openapi-fetch";
import type { components, paths, webhooks } from "./generated.ts";

/** What a program reads with a client that is generated from the description. */
export interface Read {
  readonly text: string | null | undefined;
  readonly modelIds: readonly string[];
  readonly dryRunCost: number;
  readonly videoId: string;
  readonly videoStatus: string;
  readonly balance: string;
  readonly errorCode: string | null;
}

/** Uses the endpoints of callers and operators. `base` is the address of a gateway in front of the sandbox. */
export async function useGateway(base: string, key: string, adminKey: string): Promise<Read> {
  const caller = createClient<paths>({ baseUrl: base, headers: { authorization: `Bearer ${key}` } });
  const operator = createClient<paths>({ baseUrl: base, headers: { authorization: `Bearer ${adminKey}` } });
  const body = { model: "sandbox/chat-1", messages: [{ role: "user" as const, content: "Say hello" }], max_tokens: 50 };

  const chat = present(await caller.POST("/v1/chat/completions", { body }));
  if (typeof chat === "string" || "dry_run" in chat) throw new Error("Neither a stream nor a dry run was asked for");
  const trial = present(
    await caller.POST("/v1/chat/completions", { body, params: { header: { "X-Service-Dry-Run": "true" } } }),
  );
  if (typeof trial === "string" || !isDryRun(trial)) throw new Error("A dry run was asked for");
  const models = present(await caller.GET("/v1/models"));

  const created = present(
    await caller.POST("/v1/videos", { body: { model: "sandbox/video-1", prompt: "A lighthouse", duration: 4 } }),
  );
  if ("dry_run" in created) throw new Error("No dry run was asked for");
  const video = present(await caller.GET("/v1/videos/{id}", { params: { path: { id: created.id } } }));

  const account = present(
    await operator.GET("/admin/v1/accounts/{account}", { params: { path: { account: "demo" } } }),
  );
  const { error } = await operator.PATCH("/admin/v1/accounts/{account}", {
    params: { path: { account: "nobody" } },
    body: { rpm: 60, budget: { amount: "20.00", per: "month" } },
  });
  return {
    text: chat.choices[0]?.message.content,
    modelIds: models.data.map(({ id }) => id),
    dryRunCost: trial.estimate.cost,
    videoId: video.id,
    videoStatus: video.status,
    balance: account.balance,
    errorCode: error?.error.code ?? null,
  };
}

function isDryRun(reply: object): reply is components["schemas"]["DryRun"] {
  return "dry_run" in reply;
}

/** What a receiver of webhooks knows about an event. */
export function resultOf(
  event: webhooks["video.generation.completed"]["post"]["requestBody"]["content"]["application/json"],
): { readonly task: string; readonly urls: readonly string[] } {
  const task: components["schemas"]["VideoTask"] = event.data;
  return { task: task.id, urls: task.mirror_urls };
}

/** The compiler finds what the gateway would refuse. */
export async function mistakes(base: string): Promise<void> {
  const client = createClient<paths>({ baseUrl: base });
  // @ts-expect-error The path is misspelt.
  await client.GET("/v1/model");
  // @ts-expect-error A picture needs a quality.
  await client.POST("/v1/images/generations", { body: { model: "sandbox/image-1", prompt: "A lighthouse" } });
  // @ts-expect-error There is no such period.
  await client.PATCH("/admin/v1/accounts/{account}", { params: { path: { account: "a" } }, body: { budget: { amount: "1", per: "year" } } });
}

function present<T>({ data, error }: { readonly data?: T; readonly error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}
