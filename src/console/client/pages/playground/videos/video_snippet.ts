import type { JsonObject } from "../../../json.ts";
import { pythonLiteral, typescriptLiteral } from "../snippets/literals.ts";
import { openaiInPython, openaiInTypescript } from "../snippets/openai_client.ts";
import { KEY_VARIABLE, type Language, shellWord } from "../snippets/snippet.ts";

/**
 * A video as a program that creates it and polls it until it has ended.
 *
 * @param baseUrl The gateway's public address, without a final slash.
 */
export function videoSnippet(language: Language, body: JsonObject, baseUrl: string): string {
  if (language === "curl") return curl(body, baseUrl);
  return language === "python" ? python(body, baseUrl) : typescript(body, baseUrl);
}

/** The stream of events ends with the task, so nothing has to be polled. */
function curl(body: JsonObject, baseUrl: string): string {
  return `id=$(curl --silent ${shellWord(`${baseUrl}/v1/videos`)} \\
  --header "Authorization: Bearer $${KEY_VARIABLE}" \\
  --header "Content-Type: application/json" \\
  --data-binary @- <<'JSON' | sed -E 's/.*"id":"([^"]+)".*/\\1/'
${JSON.stringify(body, null, 2)}
JSON
)
curl --no-buffer ${shellWord(`${baseUrl}/v1/videos/`)}"$id/events" \\
  --header "Authorization: Bearer $${KEY_VARIABLE}"
`;
}

/** The clients' own methods for videos lack fields of the gateway. Its states have other names for these clients. */
function python(body: JsonObject, baseUrl: string): string {
  return `import time
${openaiInPython(baseUrl)}
task = client.post("/videos", body=${pythonLiteral(body)}, cast_to=object)
while task["status"] not in ["completed", "failed", "cancelled", "expired"]:
    time.sleep(2)
    task = client.get(f"/videos/{task['id']}", cast_to=object)
print(task["status"], task.get("mirror_urls"))
`;
}

function typescript(body: JsonObject, baseUrl: string): string {
  return `import { setTimeout } from "node:timers/promises";
${openaiInTypescript(baseUrl)}
type Task = { id: string; status: string; mirror_urls?: string[] };

let task: Task = await client.post("/videos", { body: ${typescriptLiteral(body)} });
while (!["completed", "failed", "cancelled", "expired"].includes(task.status)) {
  await setTimeout(2_000);
  task = await client.get(\`/videos/\${task.id}\`);
}
console.log(task.status, task.mirror_urls);
`;
}
