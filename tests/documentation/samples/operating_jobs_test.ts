import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { ROOT } from "../../architecture/source_files.ts";
import { callAdmin, callGateway, CHAT } from "./gateway_requests.ts";
import { OPERATING_PAGES } from "./operating_page.ts";
import { type OwnSession, startOwnStage } from "./own_stage.ts";
import { runBlocks } from "./run_blocks.ts";
import { sessionOn } from "./scenario.ts";

/** Where the commands of all guides are. */
const OF_ALL = "docs/operating";

/** Commands that go on until they are stopped. tests/cli/requests_test.ts runs this one. */
const ENDLESS = "requests tail";

/** Commands that need more than the page's example has, each with a part of their message. */
const REFUSED = {
  "accounts erase": "--yes",
  "ledger verify": "stop the gateway first",
  "requests bodies": "No bodies are kept",
  "keys revoke": "which the configuration file declares",
};

Deno.test("documentation: the commands in the tables and texts for operators run", async () => {
  const texts = await Promise.all(OPERATING_PAGES.map((page) => Deno.readTextFile(join(ROOT, page))));
  const text = texts.join("\n");
  const commands = [...new Set([...text.matchAll(/`(switchyard [^`]+)`/g)].map(([, command = ""]) => command))];
  assert(commands.length > 12, `${commands.length} commands`);
  const stage = await startOwnStage();
  try {
    const session = sessionOn(stage);
    session.replaced.set("2027-01-01", `${new Date().getUTCFullYear() + 1}-01-01`); // not in the past
    await callGateway(session, "POST", "/v1/chat/completions", { body: { ...CHAT, model: "openai/gpt-5.4-mini" } });
    const { account, id, key } = await latestRequest(session);
    const shown = commands.filter((command) => !command.includes(ENDLESS)).map((command) =>
      command.replace("erase ID", `erase ${account}`).replace(/\bKEY(?:_ID)?\b/, key).replace(/\bID\b/, id)
    );
    const last = shown.toSorted((a, b) => Number(a.includes("revoke")) - Number(b.includes("revoke")));
    const block = {
      page: OF_ALL,
      line: 1,
      language: "console",
      heading: "",
      text: last.map((one) => `$ ${one}`).join("\n"),
    };
    assertEquals(await runBlocks(session, [block], { page: OF_ALL, refused: REFUSED }), []);
  } finally {
    await stage.stop();
  }
});

interface LoggedRequest {
  readonly account: string;
  readonly id: string;
  readonly key: string;
}

async function latestRequest(session: OwnSession): Promise<LoggedRequest> {
  return (await callAdmin(session, "GET", "/admin/v1/requests?limit=1")).json.data[0];
}
