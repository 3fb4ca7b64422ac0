/**
 * Whoever may make a schema can give it the name of a user, where PostgreSQL looks for a function that fits a call better than
 * its own; nothing of ours is named without its schema.
 */
const OWN_NAMES = "-c search_path=pg_catalog";

/**
 * The URL of a database, by which names without a schema are PostgreSQL's own and nobody else's, with further options of the
 * server's command line; those that the URL has already stay, but for another search path.
 */
export function withOwnNames(databaseUrl: string, options: string | null = null): string {
  const [base, ...query] = databaseUrl.split("?");
  const parameters = new URLSearchParams(query.join("?"));
  const all = [parameters.get("options"), options, OWN_NAMES].filter((part) => part !== null).join(" ");
  parameters.delete("options");
  const others = parameters.size === 0 ? "" : `${parameters}&`;
  // The driver encodes a URL once more that has a space anywhere, but for letters and these.
  const encoded = encodeURIComponent(all).replaceAll("%20", "+").replaceAll("%3D", "=");
  return `${base}?${others}options=${encoded}`;
}
