const GROUPS: readonly (readonly [group: string, tags: readonly (readonly [name: string, description: string])[]])[] = [
  ["Texts", [
    ["Chat completions", "OpenAI's chat format, with every vendor."],
    ["Responses", "OpenAI's responses format, with every vendor."],
    ["Messages", "Anthropic's format, with every vendor."],
    ["Generate content", "Gemini's format, with every vendor."],
    ["Cached contents", "Context that is stored once and referred to later."],
  ]],
  ["Media and vectors", [
    ["Images", "Pictures from texts, and changes of pictures."],
    ["Videos", "Videos as tasks: created, polled or followed, cancelled."],
    ["Audio", "Speech and transcripts."],
    ["Embeddings", "Vectors from texts."],
    ["Moderations", "Harmful texts and pictures."],
    ["Rerank", "Documents by relevance."],
    ["Batches", "Many requests in one, run in the background."],
    ["Files", "Files that callers store, uploads in parts, and copies of results."],
  ]],
  ["Your account", [
    ["Models", "The catalogs in three styles."],
    ["Own account", "A key's limits, credits, usage and requests."],
    ["Webhooks", "Events of video tasks and batches."],
  ]],
  ["Administration", [
    ["Accounts", "Accounts, balances and ledgers."],
    ["Keys", "The keys of accounts."],
    ["Providers and models", "What is configured, and its state."],
    ["Overview", "Traffic, usage and the log of requests."],
    ["Tasks", "Video tasks of all accounts."],
    ["Deliveries", "Webhooks of all accounts, and their tests."],
    ["Caches", "Cached contents of all accounts."],
    ["Operators", "Admin keys, the audit log, signing keys."],
    ["Configuration", "The configuration of a running gateway."],
  ]],
  ["Gateway", [
    ["Service", "Health, metrics and documentation."],
  ]],
];

/** All tags with their descriptions. */
export const TAGS: readonly { readonly name: string; readonly description: string }[] = GROUPS.flatMap(([, tags]) =>
  tags.map(([name, description]) => ({ name, description }))
);

/** The tags in groups. */
export const TAG_GROUPS: readonly { readonly name: string; readonly tags: readonly string[] }[] = GROUPS.map((
  [name, tags],
) => ({ name, tags: tags.map(([tag]) => tag) }));
