import { createReportTurns, type ReportTurns } from "../../service/api/kit/wallet-report.ts";
import { type ContactCaches, createContactCaches } from "../../service/scores/read/contact-graph.ts";

/** What all reports of a process share. */
export type ReportReadings = {
  readonly contacts: ContactCaches;
  readonly turns: ReportTurns;
  /** Accounts described of one wallet, see `RowsRequest`. */
  readonly mostAddresses: number;
};

/** A reading takes a second at the very most, and most of it the event loop. */
const TURNS = { atOnce: 4, waiting: 16, waitMs: 4_000 } as const;
const MOST_ADDRESSES = 20_000;

/** A block stays the newest final one for a minute, and facts of accounts are learnt meanwhile. */
const CONTACTS_KEPT_MS = 5_000;

/** Contacts are kept from one report to the next of the same block, for a few seconds. */
export function createReportReadings(monotonicMs: () => number): ReportReadings {
  return {
    contacts: renewedContacts(monotonicMs),
    turns: createReportTurns(TURNS),
    mostAddresses: MOST_ADDRESSES,
  };
}

function renewedContacts(monotonicMs: () => number): ContactCaches {
  let held = { caches: createContactCaches(), since: monotonicMs() };
  return (blockHash) => {
    if (monotonicMs() - held.since > CONTACTS_KEPT_MS) {
      held = { caches: createContactCaches(), since: monotonicMs() };
    }
    return held.caches(blockHash);
  };
}
