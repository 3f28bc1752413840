/** The version of this program (semantic versioning 2.0.0). */
export const VERSION = "0.1.0";
