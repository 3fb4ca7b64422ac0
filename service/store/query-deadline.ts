/**
 * Spread into a statement that a request waits for: the driver gives it up after this time even where the server,
 * frozen or cut off, can no longer keep its own statement_timeout. Milliseconds; an answer later than this is no use.
 */
export const QUERY_DEADLINE = { query_timeout: 5_000 } as const;
