import { and, eq, lt, sql } from "drizzle-orm";
import type { Logger } from "pino";
import type { Address } from "viem";
import type { Database } from "../../db/database.ts";
import { type ProvidedLabel, walletLabel } from "../../db/tables/wallet-label.ts";
import type { LabelFailure, LabelSource } from "./label-source.ts";

export type ProviderAnswer = { readonly provider: string } & (
  | { readonly available: true; readonly labels: readonly ProvidedLabel[]; readonly readAt: Date }
  | { readonly available: false; readonly reason: LabelFailure["reason"] }
);

type StoredLabels = { readonly labels: readonly ProvidedLabel[]; readonly readAt: Date };

/** Lifetime of stored labels: providers charge per request, and names seldom change. */
export const LABELS_STORED_MS = 24 * 3_600_000;

/**
 * Reads the labels of an account (lower-case) from every provider. Asks each provider about an account at most once a day; concurrent readers share the request. A failing provider is
 * reported as such and does not affect the others. Throws if the store fails.
 */
export function createLabelReader({
  sources,
  store,
  now,
  logger,
}: {
  sources: readonly LabelSource[];
  store: ReturnType<typeof createLabelStore>;
  now: () => Date;
  logger: Logger;
}) {
  const running = new Map<string, Promise<ProviderAnswer>>();

  async function ask(source: LabelSource, address: Address): Promise<ProviderAnswer> {
    const { provider } = source;
    const known = await store.find(provider, address);
    if (known !== null && now().getTime() - known.readAt.getTime() < LABELS_STORED_MS) {
      return { provider, available: true, ...known };
    }
    const found = await source.read(address);
    if (found.kind === "failed") {
      logger.warn({ provider, reason: found.reason, detail: found.detail }, "labels not read");
      return { provider, available: false, reason: found.reason };
    }
    const fresh = { labels: found.labels, readAt: now() };
    await store.save(provider, address, fresh);
    return { provider, available: true, ...fresh };
  }

  function askOnce(source: LabelSource, address: Address): Promise<ProviderAnswer> {
    const key = `${source.provider} ${address}`;
    const under = running.get(key);
    if (under !== undefined) return under;
    const asked = ask(source, address).finally(() => running.delete(key));
    running.set(key, asked);
    return asked;
  }

  return (address: Address): Promise<readonly ProviderAnswer[]> =>
    Promise.all(sources.map((source) => askOnce(source, address)));
}

export function createLabelStore(db: Database) {
  return {
    /** Null where the provider was never asked about the account. */
    async find(provider: string, address: Address): Promise<StoredLabels | null> {
      const [row] = await db
        .select({ labels: walletLabel.labels, readAt: walletLabel.readAt })
        .from(walletLabel)
        .where(and(eq(walletLabel.provider, provider), eq(walletLabel.address, address)));
      return row ?? null;
    },
    /** Replaces the provider's older labels. */
    async save(provider: string, address: Address, { labels, readAt }: StoredLabels): Promise<void> {
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

export async function dropOldLabels(db: Database, before: Date): Promise<number> {
  const { rowCount } = await db.delete(walletLabel).where(lt(walletLabel.readAt, before));
  return rowCount ?? Number.NaN;
}
