import {
  AUTH_CAPTURE_ESCROW_V1_0_ADDRESS,
  BATCH_SETTLEMENT_ADDRESS,
  x402ExactPermit2ProxyABI,
  x402ExactPermit2ProxyAddress,
  x402UptoPermit2ProxyABI,
  x402UptoPermit2ProxyAddress,
} from "@x402/evm";
import { encodeFunctionData, type Hex, zeroHash } from "viem";
import { describe, expect, test } from "vitest";
import { agentHealthOracleAbi } from "../../../service/chain/abi/agent-health-oracle.ts";
import { authCaptureEscrowAbi } from "../../../service/chain/abi/auth-capture-escrow.ts";
import { batchSettlementAbi } from "../../../service/chain/abi/batch-settlement.ts";
import { reputationRegistryAbi } from "../../../service/chain/abi/reputation-registry.ts";
import { usdCoinAbi } from "../../../service/chain/abi/usd-coin.ts";
import { validationRegistryAbi } from "../../../service/chain/abi/validation-registry.ts";
import { verdictEvaluatorAbi } from "../../../service/chain/abi/verdict-evaluator.ts";
import { verdictMessage } from "../../../service/chain/verdict-codec.ts";
import { ENROL_PURPOSE } from "../../../service/oracle/enrolments.ts";
import { FEEDBACK_PURPOSE } from "../../../service/oracle/feedback-rows.ts";
import { PUBLISH_PURPOSE } from "../../../service/oracle/publish-intents.ts";
import { ROOT_PURPOSE } from "../../../service/oracle/publish-root.ts";
import { VALIDATION_PURPOSE } from "../../../service/oracle/validation-rows.ts";
import { type AskedCall, allowedCalls, type SendingRole } from "../../../service/sender/allowed-calls.ts";

const ORACLE = `0x${"a1".repeat(20)}` as const;
const EVALUATOR = `0x${"b2".repeat(20)}` as const;
const USDC = `0x${"c3".repeat(20)}` as const;
const REGISTRY = `0x${"e5".repeat(20)}` as const;
const VALIDATIONS = `0x${"f6".repeat(20)}` as const;
const THIEF = `0x${"d4".repeat(20)}` as const;
const FEE = 5n;
const targets = {
  oracle: { address: ORACLE, startBlock: 0 },
  verdictEvaluator: { address: EVALUATOR, startBlock: 0 },
  usdc: USDC,
  reputationRegistry: REGISTRY,
  validationRegistry: { address: VALIDATIONS, startBlock: 0 },
  maxRequestFeeWei: FEE,
} as const;

const verdict = verdictMessage({
  escrow: THIEF,
  jobId: 1n,
  deliverable: zeroHash,
  specHash: zeroHash,
  decision: 1,
  score: 1,
  confidenceBps: 1,
  evidenceHash: zeroHash,
  issuedAt: 1n,
  deadline: 2n,
});
const oracle = (purpose: string, data: Hex, value = 0n): AskedCall => ({ purpose, to: ORACLE, data, value });
const registry = (data: Hex): AskedCall => ({ purpose: FEEDBACK_PURPOSE, to: REGISTRY, data, value: 0n });
const bring = (functionName: "settle" | "hold"): AskedCall => ({
  purpose: functionName,
  to: EVALUATOR,
  data: encodeFunctionData({ abi: verdictEvaluatorAbi, functionName, args: [THIEF, 1n, verdict, "0x"] }),
  value: 0n,
});
const authorization = [THIEF, THIEF, 1n, 0n, 1n, zeroHash] as const;
const permit = { permitted: { token: USDC, amount: 1n }, nonce: 0n, deadline: 1n } as const;
const transfer = (data: Hex): AskedCall => ({ purpose: "x402", to: USDC, data, value: 0n });
const transferCall = { abi: usdCoinAbi, functionName: "transferWithAuthorization" } as const;
const ofAccount = encodeFunctionData({ ...transferCall, args: [...authorization, 27, zeroHash, zeroHash] });
const ofContract = encodeFunctionData({ ...transferCall, args: [...authorization, "0x12"] });

const abi = agentHealthOracleAbi;
/** Calls that our processes queue, with the role of the sending key. */
const ours: readonly (readonly [string, SendingRole, AskedCall])[] = [
  [
    "scores",
    "publisher",
    oracle(PUBLISH_PURPOSE, encodeFunctionData({ abi, functionName: "publish", args: [1n, 1n, []] })),
  ],
  [
    "a root",
    "publisher",
    oracle(ROOT_PURPOSE, encodeFunctionData({ abi, functionName: "publishRoot", args: [zeroHash, 1n, "u"] })),
  ],
  [
    "a request",
    "publisher",
    oracle(ENROL_PURPOSE, encodeFunctionData({ abi, functionName: "requestScore", args: [THIEF] }), FEE),
  ],
  [
    "feedback",
    "publisher",
    registry(
      encodeFunctionData({
        abi: reputationRegistryAbi,
        functionName: "giveFeedback",
        args: [0n, 80n, 0, "ahs", "AHS-2026.2", "", "https://health.example", zeroHash],
      }),
    ),
  ],
  [
    "feedback taken back",
    "publisher",
    registry(
      encodeFunctionData({ abi: reputationRegistryAbi, functionName: "revokeFeedback", args: [0n, 1n] }),
    ),
  ],
  [
    "a validation",
    "publisher",
    {
      purpose: VALIDATION_PURPOSE,
      to: VALIDATIONS,
      data: encodeFunctionData({
        abi: validationRegistryAbi,
        functionName: "validationResponse",
        args: [zeroHash, 80, "https://health.example", zeroHash, "ahs"],
      }),
      value: 0n,
    },
  ],
  ["a verdict", "relayer", bring("settle")],
  ["a hold", "relayer", bring("hold")],
  ["a transfer of an account", "facilitator", transfer(ofAccount)],
  ["a transfer of a contract wallet", "facilitator", transfer(ofContract)],
  [
    "a transfer by Permit2",
    "facilitator",
    {
      ...transfer(
        encodeFunctionData({
          abi: x402ExactPermit2ProxyABI,
          functionName: "settle",
          args: [permit, THIEF, { to: THIEF, validAfter: 0n }, "0x12"],
        }),
      ),
      to: x402ExactPermit2ProxyAddress,
    },
  ],
  [
    "a return of what an escrow holds",
    "facilitator",
    {
      ...transfer(
        encodeFunctionData({
          abi: authCaptureEscrowAbi,
          functionName: "void",
          args: [
            {
              ...{ operator: THIEF, payer: THIEF, receiver: THIEF, token: USDC, maxAmount: 1n },
              ...{ preApprovalExpiry: 1, authorizationExpiry: 1, refundExpiry: 1 },
              ...{ minFeeBps: 0, maxFeeBps: 0, feeReceiver: THIEF, salt: 1n },
            },
          ],
        }),
      ),
      to: AUTH_CAPTURE_ESCROW_V1_0_ADDRESS,
    },
  ],
  [
    "the payment of what vouchers claimed",
    "facilitator",
    {
      ...transfer(
        encodeFunctionData({ abi: batchSettlementAbi, functionName: "settle", args: [THIEF, USDC] }),
      ),
      to: BATCH_SETTLEMENT_ADDRESS,
    },
  ],
  [
    "a part of an authorized amount",
    "facilitator",
    {
      ...transfer(
        encodeFunctionData({
          abi: x402UptoPermit2ProxyABI,
          functionName: "settle",
          args: [permit, 1n, THIEF, { to: THIEF, facilitator: THIEF, validAfter: 0n }, "0x12"],
        }),
      ),
      to: x402UptoPermit2ProxyAddress,
    },
  ],
];
const roles: readonly SendingRole[] = ["publisher", "facilitator", "relayer"];

describe.each(ours)("%s", (_what, role, call) => {
  const refuses = allowedCalls([role], targets);

  test("is sent by the key of its role, alone or with others", () => {
    expect(refuses(call)).toBeNull();
    expect(
      allowedCalls(roles, targets)({ ...call, to: call.to.toUpperCase().replace("0X", "0x") }),
    ).toBeNull();
  });

  test("is sent by no other key, to no other account, with no other function and no more value", () => {
    const others = roles.filter((other) => other !== role);
    expect(allowedCalls(others, targets)(call)).toContain(role);
    expect(refuses({ ...call, to: THIEF })).toContain(THIEF);
    expect(refuses({ ...call, to: "" })).not.toBeNull();
    for (const data of ["0x", "0xa9059cbb", `0x${"00".repeat(40)}`])
      expect(refuses({ ...call, data }), data).not.toBeNull();
    expect(refuses({ ...call, value: call.value + 1n })).toContain("wei");
    expect(refuses({ ...call, value: -1n })).toContain("wei");
    expect(refuses({ ...call, purpose: "anything" })).toContain("anything");
  });
});

test("no row of the queue makes a key change the holder of a role", () => {
  const data = encodeFunctionData({ abi, functionName: "setPublisher", args: [THIEF] });
  for (const [, , { purpose }] of ours)
    expect(allowedCalls(roles, targets)({ purpose, to: ORACLE, data, value: 0n })).not.toBeNull();
});

test("a chain without evaluator and USDC has nothing sent there", () => {
  const refuses = allowedCalls(roles, {
    ...targets,
    verdictEvaluator: null,
    usdc: null,
    reputationRegistry: null,
    validationRegistry: null,
  });
  expect(ours.filter(([, , call]) => refuses(call) === null).map(([what]) => what)).toEqual([
    "scores",
    "a root",
    "a request",
  ]);
});
