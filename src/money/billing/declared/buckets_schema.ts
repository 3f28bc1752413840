import * as z from "zod";
import { isBucketPrefix } from "./bucket_prefix.ts";

/** The expected form of a bucket prefix, for messages. */
const BUCKET_EXPECTATION = 'a bucket or a folder in it, with a trailing slash, such as "gs://acme-media/"';

/** The schema of an account's `allow_buckets`. Its messages continue after "expected". */
export function bucketsSchema(): z.ZodType<string[]> {
  return z.array(z.string(BUCKET_EXPECTATION).refine(isBucketPrefix, BUCKET_EXPECTATION), "a list").max(100);
}
