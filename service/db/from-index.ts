import { databaseFailure } from "./database-failure.ts";

/** What a statement reads from the index; null while the index has no tables. Every other failure is thrown. */
export async function fromIndex<Value>(reading: Promise<Value>): Promise<Value | null> {
  try {
    return await reading;
  } catch (error) {
    if (databaseFailure(error) === "index") return null;
    throw error;
  }
}
