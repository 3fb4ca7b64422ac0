// biome-ignore lint/style/noDefaultExport: Ponder reads the default export
export { default } from "../../ponder.config.ts";
