import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Hex, isHex, keccak256, serializeSignature } from "viem";
import { sign } from "viem/accounts";

/** How the signer answers requests. */
type SignerMood =
  | { readonly kind: "signs" }
  /** Signs, so many milliseconds late. */
  | { readonly kind: "slow"; readonly ms: number }
  /** Answers a status and no signature. */
  | { readonly kind: "fails"; readonly status: number }
  /** Answers 200 and this. */
  | { readonly kind: "answers"; readonly text: string }
  /** Signs something else than it was asked to. */
  | { readonly kind: "lies" };

export type ScriptedWeb3Signer = Awaited<ReturnType<typeof startScriptedWeb3Signer>>;

/**
 * Ours, on loopback: answers as Web3Signer's eth1 API does for one key, under one identifier, in whatever mood the test puts it. It
 * is no Web3Signer, and holds its key in the open.
 */
export async function startScriptedWeb3Signer(privateKey: Hex, identifier: string) {
  let mood: SignerMood = { kind: "signs" };
  const asked: { readonly data: Hex; readonly authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "POST" || request.url !== `/api/v1/eth1/sign/${identifier}`) {
      response.writeHead(404).end();
      return;
    }
    const { data } = JSON.parse(await textOf(request)) as { data: unknown };
    if (!isHex(data)) {
      response.writeHead(400).end();
      return;
    }
    asked.push({ data, authorization: request.headers.authorization });
    const now = mood;
    if (now.kind === "fails") response.writeHead(now.status).end("no");
    else if (now.kind === "answers") response.writeHead(200).end(now.text);
    else {
      const hash = keccak256(now.kind === "lies" ? `${data}00` : data);
      const signature = serializeSignature(await sign({ hash, privateKey }));
      const send = () => response.writeHead(200, { "content-type": "text/plain" }).end(signature);
      setTimeout(send, now.kind === "slow" ? now.ms : 0);
    }
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    be: (next: SignerMood) => {
      mood = next;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}
