import { Hono } from "hono";

// biome-ignore lint/style/noDefaultExport: Ponder reads the default export
export default new Hono();
