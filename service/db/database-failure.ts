// Connection exceptions, no connection slot, shutdown, start-up, deadlines (57014), lock timeouts and deadlocks.
const OUT_OF_REACH = /^(08...|53...|57P0.|57014|55P03|40P01|58...)$/;
const NETWORK = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENOENT",
]);
// node-postgres raises these without a code.
const CLIENT_MESSAGES =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error|Cannot use a pool after calling end)/;

/**
 * Classifies an error or its causes. database: it is out of reach. index: it has no tables yet. null: neither, and so a fault
 * of ours.
 */
export function databaseFailure(error: unknown): "database" | "index" | null {
  for (let current = error; current instanceof Error; current = current.cause) {
    const failure = failureOf(current);
    if (failure !== null) return failure;
    if (current instanceof AggregateError) {
      const nested = current.errors.map(databaseFailure).find((found) => found !== null);
      if (nested) return nested;
    }
  }
  return null;
}

// Beside what is out of reach: transaction states, refused logins, missing catalogs, rights and names, a full disk.
// Not 08P01: a statement with too many parameters, which are of one item.
const OF_THE_WHOLE = /^(080..|25...|28...|3D...|3F...|42...|53100|53300|57P..|58...)$/;

/**
 * Whether a statement failed for a reason that no row of it can bring about: the database is out of reach, or refuses. Deadlines
 * do not count: one item may take too long alone.
 */
export function isOutage(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    const code: unknown = Reflect.get(current, "code");
    if (
      typeof code === "string" &&
      (OF_THE_WHOLE.test(code) || (NETWORK.has(code) && isSocketError(current)))
    )
      return true;
    if (CLIENT_MESSAGES.test(current.message) && !current.message.startsWith("Query read timeout"))
      return true;
    if (current instanceof AggregateError && current.errors.some(isOutage)) return true;
  }
  return false;
}

/** deadlock_detected, serialization_failure. */
const ROLLED_BACK = new Set<unknown>(["40P01", "40001"]);

/** Whether the server undid a statement or transaction because of others at the same time: it may succeed when repeated. */
export function isRolledBack(error: unknown): boolean {
  return error instanceof Error && (ROLLED_BACK.has(Reflect.get(error, "code")) || isRolledBack(error.cause));
}

function failureOf(error: Error): ReturnType<typeof databaseFailure> {
  const code: unknown = Reflect.get(error, "code");
  if (typeof code === "string") {
    if (NETWORK.has(code) && isSocketError(error)) return "database";
    // Undefined table or schema: the views of the index come with its first complete pass.
    if ((code === "42P01" || code === "3F000") && /"chain_\d+/.test(error.message)) return "index";
    if (OUT_OF_REACH.test(code)) return "database";
  }
  return CLIENT_MESSAGES.test(error.message) ? "database" : null;
}

// A file that is missing has ENOENT too; a socket's error names the call.
function isSocketError(error: Error): boolean {
  const call: unknown = Reflect.get(error, "syscall");
  return call === "connect" || call === "read" || call === "write" || call === "getaddrinfo";
}
