import { and, eq, lt, sql } from "drizzle-orm";
import type { Address } from "viem";
import type { Database } from "../../db/database.ts";
import { type ProvidedLabel, walletLabel } from "../../db/tables/wallet-label.ts";

type Kept = { readonly labels: readonly ProvidedLabel[]; readonly readAt: Date };

/** What providers said of accounts, lower-case, when they were last asked. */
export function createLabelStore(db: Database) {
  return {
    /** Null where the provider was never asked about the account. */
    async find(provider: string, address: Address): Promise<Kept | null> {
      const [row] = await db
        .select({ labels: walletLabel.labels, readAt: walletLabel.readAt })
        .from(walletLabel)
        .where(and(eq(walletLabel.provider, provider), eq(walletLabel.address, address)));
      return row ?? null;
    },
    /** Replaces what the provider said before, unless that is newer. */
    async keep(provider: string, address: Address, { labels, readAt }: Kept): Promise<void> {
      await db
        .insert(walletLabel)
        .values({ provider, address, labels, readAt })
        .onConflictDoUpdate({
          target: [walletLabel.provider, walletLabel.address],
          set: { labels: sql`excluded.labels`, readAt: sql`excluded.read_at` },
          setWhere: sql`${walletLabel.readAt} <= excluded.read_at`,
        });
    },
  };
}

/** Deletes what providers said before a moment; nobody shows it any more once it is asked anew. */
export async function dropOldLabels(db: Database, before: Date): Promise<number> {
  const { rowCount } = await db.delete(walletLabel).where(lt(walletLabel.readAt, before));
  return rowCount ?? Number.NaN;
}
