import type { AccountPagePorts } from "./account-page.ts";
import type { LoadedAssets } from "./assets.ts";
import type { DashboardPorts } from "./dashboard.ts";
import type { LeaderboardPorts } from "./leaderboard.ts";
import type { StatusPagePorts } from "./status-page.ts";
import type { VerdictPagePorts } from "./verdict-page.ts";
import type { WalletPagePorts } from "./wallet-page.ts";

/** Everything that the pages take from outside; what they charge for they ask of the interface itself. */
export type PagePorts = AccountPagePorts &
  DashboardPorts &
  LeaderboardPorts &
  StatusPagePorts &
  VerdictPagePorts &
  WalletPagePorts &
  LoadedAssets;
