import { type Hex, keccak256, toHex } from "viem";
import { expect, test } from "vitest";
import { readValidationBody } from "../../../service/oracle/check-validation-request.ts";

const REGISTRY = "0x8004A169FB4a3325136EB29fA0ceB6D2e539a432";
const good = { type: "ahs", agentRegistry: `eip155:8453:${REGISTRY}`, agentId: 22, salt: "0x01" };

const VERDICT_ID = "0f8fad5b-d9cb-469f-a165-70867728950e";
const SPEC_ID = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const OUTPUT_HASH: Hex = `0x${"ab".repeat(32)}`;
const verdict = { ...good, type: "ahm-verify", verdictId: VERDICT_ID };
const output = { ...good, type: "ahm-verify", specId: SPEC_ID, outputHash: OUTPUT_HASH };

function read(body: unknown, requestHash?: Hex) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return readValidationBody(Buffer.from(text), {
    requestHash: requestHash ?? keccak256(toHex(text)),
    agentId: 22n,
    chainId: 8453,
    identityRegistry: REGISTRY,
  });
}

test.each([
  ["a request for a score", good, { kind: "score" }],
  ["one with the agent's number as text", { ...good, agentId: "22" }, { kind: "score" }],
  [
    "one with the registry in lower case",
    { ...good, agentRegistry: good.agentRegistry.toLowerCase() },
    { kind: "score" },
  ],
  ["one for a verdict", verdict, { kind: "verdict", name: { verdictId: VERDICT_ID } }],
  [
    "one for a verdict with its id in upper case",
    { ...verdict, verdictId: VERDICT_ID.toUpperCase() },
    { kind: "verdict", name: { verdictId: VERDICT_ID } },
  ],
  [
    "one for an output of a specification",
    { ...output, outputHash: `0x${"AB".repeat(32)}` },
    { kind: "verdict", name: { specId: SPEC_ID, outputHash: OUTPUT_HASH } },
  ],
])("reads %s", (_what, body, subject) => {
  expect(read(body)).toEqual(subject);
});

test.each([
  ["another body than the hash commits to", good, keccak256("0x01"), "keccak256"],
  ["what is no JSON", "{", undefined, "neither a score nor a verdict"],
  ["what asks for something else", { ...good, type: "output" }, undefined, "neither a score nor a verdict"],
  ["what names no agent", { ...good, agentId: -1 }, undefined, "neither a score nor a verdict"],
  ["a verdict without a name", { ...good, type: "ahm-verify" }, undefined, "verdictId"],
  ["a verdict by what is no id", { ...verdict, verdictId: "1 or 1=1" }, undefined, "verdictId"],
  ["an output by what is no hash", { ...output, outputHash: "0xab" }, undefined, "outputHash"],
  [
    "a hash that another agent took first",
    { ...good, agentId: 7 },
    undefined,
    "names agent 7, the request is for 22",
  ],
  ["a verdict for another agent", { ...verdict, agentId: 7 }, undefined, "names agent 7"],
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
  expect(read(body, hash)).toEqual({ kind: "refused", reason: expect.stringContaining(reason) });
});
