import type { Address } from "viem";
import type { GetHealthPorts } from "../../service/api/routes/get-health.ts";
import type { PostWashPorts } from "../../service/api/routes/post-wash.ts";
import { readSnapshotInTime } from "../../service/db/index-snapshot.ts";
import { createTransferReader } from "../../service/reports/profit-and-loss/wallet-transfers.ts";
import { readWalletsIn, type ScoringContext } from "../../service/scores/score-wallets.ts";
import { createWalletLifeReader } from "../../service/scores/wallet-life.ts";
import type { ReportReadings } from "./report-readings.ts";

type DiagnosisPorts = Pick<GetHealthPorts, "readWallet" | "reportTurns" | "walletLife"> &
  Pick<PostWashPorts, "walletTransfers">;

/** What reports about one wallet read, a few wallets at once. */
export function reportPorts(context: ScoringContext, readings: ReportReadings): DiagnosisPorts {
  const { db, chainId } = context;
  const { contacts, turns, mostAddresses } = readings;
  return {
    reportTurns: turns,
    readWallet: async (wallet: Address) => {
      const task = { wallets: [wallet], at: "finalized", contacts, mostAddresses } as const;
      const read = await turns.take(() =>
        readSnapshotInTime(db, (client) => readWalletsIn(client, context, task)),
      );
      if (read === null) return null;
      const [only] = [...read.known, ...read.strangers];
      if (only === undefined) throw new Error(`no rows were read for ${wallet}`);
      return { rows: only.rows, asOf: read.point.asOf };
    },
    walletLife: createWalletLifeReader(db, chainId),
    walletTransfers: createTransferReader(db, chainId),
  };
}
