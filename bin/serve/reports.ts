import type { Address } from "viem";
import type { GetHealthPorts } from "../../service/api/diagnosis/get-health.ts";
import type { PostWashPorts } from "../../service/api/diagnosis/post-wash.ts";
import { createContactCaches } from "../../service/features/contact-cache.ts";
import { readWallets, type ScoringContext } from "../../service/record/score-wallets.ts";
import { createWalletLifeReader } from "../../service/store/wallet-life.ts";
import { createTransferReader } from "../../service/store/wallet-transfers.ts";

type DiagnosisPorts = Pick<GetHealthPorts, "readWallet" | "walletLife"> &
  Pick<PostWashPorts, "walletTransfers">;

/** What reports about one wallet read; contacts are kept from one report to the next of the same block. */
export function reportPorts(context: ScoringContext): DiagnosisPorts {
  const { db, chainId } = context;
  const contacts = createContactCaches();
  return {
    readWallet: async (wallet: Address) => {
      const read = await readWallets(context, { wallets: [wallet], at: "finalized", contacts });
      if (read === null) return null;
      const [only] = [...read.known, ...read.strangers];
      if (only === undefined) throw new Error(`no rows were read for ${wallet}`);
      return { rows: only.rows, asOf: read.point.asOf };
    },
    walletLife: createWalletLifeReader(db, chainId),
    walletTransfers: createTransferReader(db, chainId),
  };
}
