/**
 * Anthropic's Claude Agent SDK with a tool of its own, for `tests/clients/claude_agent_sdk.ts`. It gets a prompt and
 * options as JSON, and prints every message of the query, and the calls of its tool, as lines of JSON.
 */
import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";

const { prompt, options } = JSON.parse(process.argv[2]);
const print = (message) => process.stdout.write(JSON.stringify(message) + "\n");

const weather = tool("weather", "Tells the weather of a city.", { city: z.string() }, ({ city }) => {
  print({ type: "weather", city });
  return Promise.resolve({ content: [{ type: "text", text: `sunny in ${city}` }] });
});

const messages = query({
  prompt,
  options: {
    systemPrompt: "You tell the weather.",
    settingSources: [],
    persistSession: false,
    tools: [],
    mcpServers: { places: createSdkMcpServer({ name: "places", tools: [weather] }) },
    allowedTools: ["mcp__places__weather"],
    ...options,
  },
});

try {
  for await (const message of messages) print(message);
} catch (error) {
  print({ type: "thrown", message: String(error?.message ?? error) });
  process.exitCode = 1;
}
