// Ponder builds the indexer with Vite, which would watch every file below the root, those of the database in `.ahs` among them.
// biome-ignore lint/style/noDefaultExport: Vite reads the default export
export default { server: { watch: null } };
