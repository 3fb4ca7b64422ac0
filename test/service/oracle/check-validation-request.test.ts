import { type Hex, keccak256, toHex } from "viem";
import { expect, test } from "vitest";
import { refuseValidationBody } from "../../../service/oracle/check-validation-request.ts";

const REGISTRY = "0x8004A169FB4a3325136EB29fA0ceB6D2e539a432";
const good = { type: "ahs", agentRegistry: `eip155:8453:${REGISTRY}`, agentId: 22, salt: "0x01" };

function refused(body: unknown, requestHash?: Hex): string | null {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return refuseValidationBody(Buffer.from(text), {
    requestHash: requestHash ?? keccak256(toHex(text)),
    agentId: 22n,
    chainId: 8453,
    identityRegistry: REGISTRY,
  });
}

test.each([
  ["a request for a score", good],
  ["one with the agent's number as text", { ...good, agentId: "22" }],
  ["one with the registry in lower case", { ...good, agentRegistry: good.agentRegistry.toLowerCase() }],
])("answers %s", (_what, body) => {
  expect(refused(body)).toBeNull();
});

test.each([
  ["another body than the hash commits to", good, keccak256("0x01"), "keccak256"],
  ["what is no JSON", "{", undefined, "does not ask for a score"],
  ["what asks for something else", { ...good, type: "output" }, undefined, "does not ask for a score"],
  ["what names no agent", { ...good, agentId: -1 }, undefined, "does not ask for a score"],
  [
    "a hash that another agent took first",
    { ...good, agentId: 7 },
    undefined,
    "names agent 7, the request is for 22",
  ],
  [
    "an agent of another chain",
    { ...good, agentRegistry: `eip155:1:${REGISTRY}` },
    undefined,
    "agentRegistry",
  ],
  [
    "an agent of another registry",
    { ...good, agentRegistry: "eip155:8453:0x01" },
    undefined,
    "agentRegistry",
  ],
])("refuses %s", (_what, body, hash, reason) => {
  expect(refused(body, hash)).toContain(reason);
});
