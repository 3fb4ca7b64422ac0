import type { ServedDocument } from "../served-document.ts";

/** The service's name wherever machines ask. */
export const SERVICE_NAME = "Agent Health";

/** What the service does, by the interfaces that are mounted. */
export function serviceDescription(served: readonly Pick<ServedDocument, "purpose">[]): string {
  return served.map(({ purpose }) => purpose).join(" ");
}
