import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { NodeOptions } from "../../../../service/chain/node/json-rpc.ts";

export type Reply = (response: ServerResponse, id: number) => void;

const answer =
  (members: object): Reply =>
  (response, id) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...members }));
  };
export const result = (value: unknown) => answer({ result: value });
export const refusal = (code: number, message: string, data?: string) =>
  answer({ error: { code, message, data } });
export const refusalWith =
  (head: { status: number; headers?: Record<string, string> }, ...error: Parameters<typeof refusal>): Reply =>
  (response, id) => {
    response.writeHead(head.status, { ...head.headers, "content-type": "application/json" });
    const [code, message, data] = error;
    response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } }));
  };
export const status =
  (code: number, headers: Record<string, string> = {}): Reply =>
  (response) =>
    response.writeHead(code, headers).end("no");
export const raw =
  (body: string): Reply =>
  (response) =>
    response.end(body);
export const silence: Reply = () => undefined;
export const endless: Reply = (response) => {
  response.writeHead(200, { "content-type": "application/json" }).write('{"result":');
};
export const hangUp: Reply = (response) => response.destroy();

/** A node that gives these replies, the last one for ever, until the test ends. Its URL holds a key. */
export async function nodeWith(replies: readonly Reply[]) {
  const asked: string[] = [];
  const requests: string[] = [];
  const node = createServer((request: IncomingMessage, response) => {
    void text(request).then((body) => {
      const { id, method } = JSON.parse(body);
      asked.push(method);
      (replies[Math.min(asked.length, replies.length) - 1] ?? silence)(response, id);
    });
  });
  node.listen(0, "127.0.0.1");
  await once(node, "listening");
  onTestFinished(() => {
    node.close();
    node.closeAllConnections();
  });
  const options = {
    url: `http://127.0.0.1:${(node.address() as AddressInfo).port}/v2/secret-key`,
    timeoutMs: 1_000,
    retries: 2,
    retryMs: 5,
    onRequest: (method: string) => void requests.push(method),
  } satisfies NodeOptions;
  return { options, asked, requests };
}
