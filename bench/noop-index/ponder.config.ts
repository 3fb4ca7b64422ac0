import config from "../../ponder.config.ts";

// biome-ignore lint/style/noDefaultExport: Ponder reads the default export
export default config;
