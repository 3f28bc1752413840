import * as z from "zod";

/** The id of a job or file in a response. Some vendors, and proxies of vendors, give a number. */
export const vendorId = z.string().min(1).or(z.number().transform(String));
