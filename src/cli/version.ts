/** The version of this program. It follows Semantic Versioning 2.0.0. */
export const VERSION = "0.1.0";
