import type { Endpoint } from "./endpoint.ts";
import { PROTOCOLS } from "./protocols.ts";

type Facts = Omit<Endpoint, "method" | "path">;

const DEFAULT = PROTOCOLS.default.root;
const MESSAGE = `${PROTOCOLS.message.root}/v1`;

/** The versions that clients of the content protocol default to. The first one is documented; both are equal. */
export const CONTENT_ROOTS = ["v1beta", "v1"].map((version) => `${PROTOCOLS.content.root}/${version}`);

/** The first segment of the addresses of stored results. */
export const FILES_ROOT = "/files";

/** What the addresses of receivers of webhooks begin with. */
const RECEIVERS_ROOT = "/webhook-receivers";

/** A call whose reply costs money, and can be repeated. */
const PAID = { isPaid: true, isRepeatable: true } as const;
const TEXT = { ...PAID, isResumable: true, isInConsole: true } as const;
const MEDIA = { ...PAID, isInConsole: true } as const;
const VIDEO = { permission: "videos", errors: "video" } as const;
const STORED = { permission: "files" } as const;
const BATCHES = { permission: "batches" } as const;
const CACHED = { permission: "cached_contents", errors: "content" } as const;
/** What every valid key may read. */
const OWN = { permission: "open", isRead: true } as const;
const CATALOG = { permission: "open" } as const;

/**
 * The endpoints for callers. The names are those of the operations in the description of the interface.
 * Source: docs/api/README.md.
 */
export const CALLER_ENDPOINTS = {
  createChatCompletion: { ...at("POST", "/chat/completions"), permission: "chat_completions", format: "chat", ...TEXT },
  createResponse: { ...at("POST", "/responses"), permission: "responses", format: "responses", ...TEXT },
  /** Clients that first try a WebSocket get 426, and then send a plain request. */
  refuseUpgrade: at("GET", "/responses"),
  createMessage: message("POST", "/messages", { permission: "messages", format: "messages", ...TEXT }),
  countMessageTokens: message("POST", "/messages/count_tokens", { permission: "count_tokens", format: "messages" }),
  generateContent: verb("generateContent", { permission: "generate_content", format: "content", ...TEXT }),
  streamGenerateContent: verb("streamGenerateContent", {
    permission: "generate_content",
    format: "content",
    streamsJsonList: true,
    ...TEXT,
  }),
  countTokens: verb("countTokens", { permission: "count_tokens", format: "content" }),

  createCachedContent: cached("POST", "", { format: "content", ...PAID }),
  listCachedContents: cached("GET", "", { isRead: true }),
  readCachedContent: cached("GET", "/:id", { isRead: true }),
  changeCachedContent: cached("PATCH", "/:id"),
  deleteCachedContent: cached("DELETE", "/:id"),

  createEmbeddings: { ...at("POST", "/embeddings"), permission: "embeddings", ...PAID },
  embedContent: verb("embedContent", { permission: "embeddings", ...PAID }),
  batchEmbedContents: verb("batchEmbedContents", { permission: "embeddings", ...PAID }),
  createModeration: { ...at("POST", "/moderations"), permission: "moderations", ...PAID },
  rerank: { ...at("POST", "/rerank"), permission: "rerank", ...PAID },
  createSpeech: { ...at("POST", "/audio/speech"), permission: "audio", ...PAID },
  createTranscription: { ...at("POST", "/audio/transcriptions"), permission: "audio", ...PAID },
  createTranslation: { ...at("POST", "/audio/translations"), permission: "audio", ...PAID },
  createImages: { ...at("POST", "/images/generations"), permission: "images", ...MEDIA },
  editImages: { ...at("POST", "/images/edits"), permission: "images", ...MEDIA },

  createVideo: { ...at("POST", "/videos"), ...VIDEO, isPaid: true, isInConsole: true },
  listVideos: { ...at("GET", "/videos"), ...VIDEO, isRead: true, isInConsole: true },
  listVideoModels: { ...at("GET", "/videos/models"), errors: "video", ...CATALOG },
  readVideo: { ...at("GET", "/videos/:id"), ...VIDEO, isInConsole: true },
  cancelVideo: { ...at("DELETE", "/videos/:id"), ...VIDEO, isInConsole: true },
  streamVideoEvents: { ...at("GET", "/videos/:id/events"), ...VIDEO },
  readVideoContent: { ...at("GET", "/videos/:id/content"), ...VIDEO, isRead: true },
  remixVideo: { ...at("POST", "/videos/:id/remix"), ...VIDEO },
  editVideo: { ...at("POST", "/videos/edits"), ...VIDEO },
  extendVideo: { ...at("POST", "/videos/extensions"), ...VIDEO },
  createVideoCharacter: { ...at("POST", "/videos/characters"), ...VIDEO },
  listVideoDeliveries: { ...at("GET", "/videos/:id/deliveries"), ...VIDEO, isRead: true },
  redeliverVideo: { ...at("POST", "/videos/:id/deliveries"), ...VIDEO },
  /** For vendors, which prove themselves by a token. */
  acceptVendorCallback: { ...at("POST", "/video-callbacks/:id"), errors: "video" },
  /** Files of results. Their addresses are signed. */
  readFile: { method: "GET", path: `${FILES_ROOT}/:name`, errors: "video", isInConsole: true },

  createFile: { ...at("POST", "/files"), ...STORED },
  listFiles: { ...at("GET", "/files"), ...STORED, isRead: true },
  readStoredFile: { ...at("GET", "/files/:id"), ...STORED, isRead: true },
  readFileContent: { ...at("GET", "/files/:id/content"), ...STORED, isRead: true, isInConsole: true },
  deleteFile: { ...at("DELETE", "/files/:id"), ...STORED },
  createUpload: { ...at("POST", "/uploads"), ...STORED },
  addUploadPart: { ...at("POST", "/uploads/:id/parts"), ...STORED },
  completeUpload: { ...at("POST", "/uploads/:id/complete"), ...STORED },
  cancelUpload: { ...at("POST", "/uploads/:id/cancel"), ...STORED },

  createMessageFile: message("POST", "/files", STORED),
  listMessageFiles: message("GET", "/files", { ...STORED, isRead: true }),
  readMessageFile: message("GET", "/files/:id", { ...STORED, isRead: true }),
  readMessageFileContent: message("GET", "/files/:id/content", { ...STORED, isRead: true }),
  deleteMessageFile: message("DELETE", "/files/:id", STORED),

  uploadContentFile: {
    method: "POST",
    path: `${PROTOCOLS.content.root}/upload/v1beta/files`,
    otherPaths: [`${PROTOCOLS.content.root}/upload/v1/files`],
    errors: "content",
    ...STORED,
  },
  listContentFiles: content("GET", "/files", { ...STORED, isRead: true }),
  readContentFile: content("GET", "/files/:id", { ...STORED, isRead: true }),
  downloadContentFile: downloaded("/files/:id::download", { ...STORED, isRead: true }),
  deleteContentFile: content("DELETE", "/files/:id", STORED),

  createBatch: { ...at("POST", "/batches"), ...BATCHES, ...PAID, isInConsole: true },
  listBatches: { ...at("GET", "/batches"), ...BATCHES, isRead: true },
  readBatch: { ...at("GET", "/batches/:id"), ...BATCHES, isRead: true },
  cancelBatch: { ...at("POST", "/batches/:id/cancel"), ...BATCHES },

  createMessageBatch: message("POST", "/messages/batches", { ...BATCHES, ...PAID }),
  listMessageBatches: message("GET", "/messages/batches", { ...BATCHES, isRead: true }),
  readMessageBatch: message("GET", "/messages/batches/:id", { ...BATCHES, isRead: true }),
  readMessageBatchResults: message("GET", "/messages/batches/:id/results", { ...BATCHES, isRead: true }),
  cancelMessageBatch: message("POST", "/messages/batches/:id/cancel", BATCHES),
  deleteMessageBatch: message("DELETE", "/messages/batches/:id", BATCHES),

  createContentBatch: verb("batchGenerateContent", { ...BATCHES, ...PAID }),
  createEmbedBatch: verb("asyncBatchEmbedContent", { ...BATCHES, ...PAID }),
  listContentBatches: content("GET", "/batches", { ...BATCHES, isRead: true }),
  readContentBatch: content("GET", "/batches/:id", { ...BATCHES, isRead: true }),
  cancelContentBatch: content("POST", "/batches/:id::cancel", BATCHES),
  deleteContentBatch: content("DELETE", "/batches/:id", BATCHES),

  /** Batches of the key, of whatever protocol. */
  listOwnBatches: { ...at("GET", "/key/batches"), ...BATCHES, isRead: true, isInConsole: true },
  readOwnBatch: { ...at("GET", "/key/batches/:id"), ...BATCHES, isRead: true, isInConsole: true },
  cancelOwnBatch: { ...at("POST", "/key/batches/:id/cancel"), ...BATCHES, isInConsole: true },

  listModels: { ...at("GET", "/models"), ...CATALOG, isInConsole: true },
  readModels: { ...at("GET", "/models/:model*"), ...CATALOG },
  listMessageModels: message("GET", "/models", CATALOG),
  readMessageModels: message("GET", "/models/:model*", CATALOG),
  listContentModels: content("GET", "/models", CATALOG),
  readContentModels: content("GET", "/models/:model*", CATALOG),

  readOwnKey: { ...at("GET", "/key"), ...OWN, isInConsole: true },
  readOwnCredits: { ...at("GET", "/credits"), ...OWN, isInConsole: true },
  readOwnUsage: { ...at("GET", "/usage"), ...OWN, isInConsole: true },
  listOwnRequests: { ...at("GET", "/requests"), ...OWN, isInConsole: true },
  readOwnRequest: { ...at("GET", "/requests/:id"), ...OWN, isInConsole: true },
  resumeStream: { ...at("GET", "/requests/:id/stream"), ...OWN },

  /** A receiver of webhooks for tests, which anybody may send to. */
  receiveWebhook: { method: "POST", path: `${RECEIVERS_ROOT}/:id` },
} satisfies Readonly<Record<string, Endpoint>>;

function at<Method extends Endpoint["method"]>(method: Method, path: string): { method: Method; path: string } {
  return { method, path: DEFAULT + path };
}

function message(method: Endpoint["method"], path: string, facts: Facts): Endpoint {
  return { method, path: MESSAGE + path, errors: "message", ...facts };
}

function content(method: Endpoint["method"], path: string, facts: Facts): Endpoint {
  const [first = "", ...others] = CONTENT_ROOTS.map((root) => root + path);
  return { method, path: first, otherPaths: others, errors: "content", ...facts };
}

/** What is read below `download`, too, as the vendor's addresses are. */
function downloaded(path: string, facts: Facts): Endpoint {
  const { otherPaths = [], ...row } = content("GET", path, facts);
  const roots = CONTENT_ROOTS.map((root) => root.replace(PROTOCOLS.content.root, `${PROTOCOLS.content.root}/download`));
  return { ...row, otherPaths: [...otherPaths, ...roots.map((root) => root + path)] };
}

function cached(method: Endpoint["method"], path: string, facts: Facts = {}): Endpoint {
  return content(method, `/cachedContents${path}`, { ...CACHED, ...facts });
}

/** A call of a model. One popular client leaves out `models/` when the id has a slash. */
function verb(name: string, facts: Facts): Endpoint {
  const [first = "", ...others] = CONTENT_ROOTS.flatMap((root) =>
    [`/models/:model*:${name}`, `/:model*:${name}`]
      .map((path) => root + path)
  );
  return { method: "POST", path: first, otherPaths: others, errors: "content", ...facts };
}
