import type { Address } from "viem";
import { expect, it } from "vitest";
import { createLabelStore } from "../../../../service/reports/labels/label-reader.ts";
import { useDatabase } from "../../../support/test-database.ts";

const WALLET: Address = "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc";
const [OLD, NEW] = [new Date("2026-11-19T10:00:00Z"), new Date("2026-11-20T10:00:00Z")];
const TRADER = { label: "Dex Trader", category: null };

const db = useDatabase();

it("labels are kept by provider and account, and only a newer answer takes their place", async () => {
  const store = createLabelStore(db);
  expect(await store.find("nansen", WALLET)).toBeNull();
  await store.save("nansen", WALLET, { labels: [], readAt: OLD });
  await store.save("nansen", WALLET, { labels: [TRADER], readAt: NEW });
  await store.save("nansen", WALLET, { labels: [], readAt: OLD });
  expect(await store.find("nansen", WALLET)).toEqual({ labels: [TRADER], readAt: NEW });
  expect(await store.find("other", WALLET)).toBeNull();
});
