import type { Authenticate } from "../billing/authenticate.ts";
import type { Caches } from "../caches/caches.ts";
import type { BodyLimits } from "../http/body.ts";
import type { TextService } from "../texts/text_service.ts";

/** What the text endpoints of every protocol are made with. */
export interface TextRouteParts {
  readonly turns: TextService;
  readonly caches: Caches;
  readonly authenticate: Authenticate;
  readonly bodyLimits: BodyLimits;
}
