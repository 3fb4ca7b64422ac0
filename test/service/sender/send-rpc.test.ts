import {
  BaseError,
  HttpRequestError,
  InternalRpcError,
  LimitExceededRpcError,
  RpcRequestError,
  TimeoutError,
} from "viem";
import { describe, expect, test } from "vitest";
import { classifySendFailure } from "../../../service/sender/send-rpc.ts";

const url = "http://node.example";
const refusal = (code: number, message: string, data?: unknown) =>
  new RpcRequestError({ body: {}, url, error: { code, message, ...(data === undefined ? {} : { data }) } });

describe("a node's error for a transaction", () => {
  test.each([
    [-32000, "already known", "already_known"],
    [-32003, "transaction already imported", "already_known"],
    [-32000, "nonce too low: next nonce 8, tx nonce 7", "nonce_used"],
    [-32003, "nonce too low", "nonce_used"],
    [-32000, "insufficient funds for gas * price + value: balance 0, tx cost 1", "insufficient_funds"],
    [-32003, "Insufficient funds for gas * price + value", "insufficient_funds"],
    [-32000, "replacement transaction underpriced", "underpriced"],
    [-32000, "transaction underpriced: tip needed 1, tip permitted 0", "underpriced"],
    [-32003, "max fee per gas less than block base fee", "underpriced"],
    [3, "execution reverted: custom error 0x1234", "reverted_in_simulation"],
    [-32000, "execution reverted", "reverted_in_simulation"],
    [-32000, "execution reverted: insufficient balance", "reverted_in_simulation"],
    [-32000, "VM Exception while processing transaction: nonce too low", "reverted_in_simulation"],
    [-32000, "execution reverted: already known", "reverted_in_simulation"],
    [-32000, "exceeds block gas limit", "refused"],
    [-32602, "invalid transaction", "refused"],
    [-32602, "not today", "unknown"],
    [-32011, "no backend is currently healthy to serve traffic", "unreachable"],
    [-32012, "credits limited to 6000/sec", "unreachable"],
    [-32601, "the method eth_estimateGas does not exist", "unreachable"],
    [-32603, "internal error", "unreachable"],
    [-32005, "daily request count exceeded", "unreachable"],
    [-32001, "header not found", "unreachable"],
    [-32000, "header not found", "unreachable"],
  ])("%i %s: %s", (code, message, kind) => {
    expect(classifySendFailure(refusal(code, message)).kind).toBe(kind);
  });
});

test.each([
  ["a lost connection", new HttpRequestError({ url, details: "fetch failed" })],
  ["too many requests", new HttpRequestError({ url, status: 429, details: "Too Many Requests" })],
  ["a deadline", new TimeoutError({ body: {}, url })],
  ["a node in trouble", new InternalRpcError(refusal(-32603, "internal error"))],
  ["a limit", new LimitExceededRpcError(refusal(-32005, "limit exceeded"))],
])("%s says nothing of the transaction", (_, error) => {
  expect(classifySendFailure(error).kind).toBe("unreachable");
});

test("the data of a revert is passed on", () => {
  expect(classifySendFailure(refusal(3, "execution reverted", "0x1234"))).toMatchObject({
    kind: "reverted_in_simulation",
    revertData: "0x1234",
  });
});

test("keeps the raw text of a revert's arguments out of the message", () => {
  const failure = classifySendFailure(refusal(3, "execution reverted: custom error 0x23b18f5f: \0\0\u0005"));
  expect(failure.kind).toBe("reverted_in_simulation");
  expect(failure.message).toContain("custom error 0x23b18f5f: …");
  expect(failure.message).not.toMatch(/\p{Cc}/u);
});

describe("the stored message of a failure", () => {
  const key = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6";
  const words = (text: string) => [
    refusal(-32003, text),
    new HttpRequestError({ url, status: 403, details: text }),
    new HttpRequestError({ url, details: text }),
    new BaseError("no error of a node", { details: text }),
  ];

  test.each(words(`POST https://user:pass@node.example/v2/${key}?apikey=x: bad project ${key}`))(
    "shows neither a URL nor a key: %o",
    (error) => {
      const { message } = classifySendFailure(error);
      expect(message).toContain("(URL)");
      expect(message).toContain("bad project (key)");
      expect(message).not.toMatch(/node\.example|pass|a1B2/);
    },
  );

  test.each(words(`${"no ".repeat(99)}${"x".repeat(5_000)}`))("has a bounded length: %#", (error) => {
    expect(classifySendFailure(error).message.length).toBeLessThanOrEqual(500);
  });

  test.each(words("not\0so\u0007"))("has no control characters: %#", (error) => {
    expect(classifySendFailure(error).message).not.toMatch(/\p{Cc}/u);
  });

  test("keeps amounts, addresses and hashes", () => {
    const text = `0x${"ab".repeat(20)} has 100000000000000000000000001 wei of 0x${"12".repeat(32)}`;
    expect(classifySendFailure(refusal(-32003, text)).message).toContain(text);
  });
});
