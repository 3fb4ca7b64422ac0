import { beforeAll, describe } from "vitest";
import { describeDiagnosis, makeDiagnosedPast } from "./reports-diagnosis.ts";
import { describeNetwork, makeNetworkPast } from "./reports-network.ts";
import { makeUnfollowedPast, testOnDemand } from "./reports-on-demand.ts";
import { describeRetry, makeFailedPast } from "./reports-retry.ts";
import { makeReportedPast, testRetryOfReported } from "./reports-retry-reported.ts";
import { useReportStand } from "./reports-stand.ts";

const stand = useReportStand(90, [
  makeUnfollowedPast,
  makeDiagnosedPast,
  makeNetworkPast,
  ({ chain }) => chain.toWallClock(),
  makeReportedPast,
  makeFailedPast,
]);

// First, while the node still has the state in which the calls failed.
describe("the recovery of an agent", () => describeRetry(stand));
describe("wallets that nothing follows yet", () => {
  // Both tests wait for blocks to become final, side by side.
  beforeAll(() => stand.kit.startMining(500, 2));
  testOnDemand(stand);
  testRetryOfReported(stand);
});
describe("the diagnosis of real wallets", () => describeDiagnosis(stand));
describe("the network of real wallets", () => describeNetwork(stand));
