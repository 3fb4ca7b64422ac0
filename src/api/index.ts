import { Hono } from "hono";

/** Ponder insists on this file; the service's own routes are served by `ahs serve`. */
// biome-ignore lint/style/noDefaultExport: Ponder reads the default export
export default new Hono();
