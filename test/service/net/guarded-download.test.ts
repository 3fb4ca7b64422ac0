import type { RequestListener } from "node:http";
import { describe, expect, test } from "vitest";
import {
  createGuardedDownload,
  type Download,
  DownloadFailure,
  type DownloadRequest,
  type GuardOptions,
} from "../../../service/net/guarded-fetch.ts";
import { serveHttp, serveHttps, serveTcp, started } from "./hostile-server.ts";
import { createAuthority, createIdentity } from "./test-certificates.ts";

const authority = createAuthority();
const identity = createIdentity(authority, { names: ["list.test", "files.test"] });
const LARGE = Buffer.alloc(3_000_000, "x");

const https = (listener: RequestListener) => started(serveHttps(identity, listener));

/** With loopback allowed, since the servers of these tests are there. */
function download(
  request: Partial<DownloadRequest> & { readonly url: string },
  options: Partial<GuardOptions> & { readonly deadlineMs?: number } = {},
): Promise<Download> {
  const guarded = createGuardedDownload({
    resolve: async () => ["127.0.0.1"],
    loopback: "allowed",
    ca: authority.certificate,
    deadlineMs: 5_000,
    ...options,
  });
  return guarded({ maxBytes: 4_000_000, redirectHosts: [], ...request });
}

async function textOf(answer: Download): Promise<string> {
  if (answer.kind !== "open") throw new Error(`expected a body, got ${JSON.stringify(answer)}`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.bytes) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function failureOf(answer: Download): Promise<string> {
  const error = await textOf(answer).catch((caught: unknown) => caught);
  if (!(error instanceof DownloadFailure))
    throw new Error(`expected a download failure, got ${String(error)}`);
  return error.reason;
}

const redirectTo =
  (location: string): RequestListener =>
  (_request, response) => {
    response.writeHead(302, { location }).end();
  };

describe("a download", () => {
  test("brings far more than a guarded fetch would, by the name that the host proves", async () => {
    const port = await https((request, response) => {
      response.end(request.headers.host === `list.test:${port}` ? LARGE : "another host");
    });
    expect(await textOf(await download({ url: `https://list.test:${port}/sdn.xml` }))).toBe(LARGE.toString());
  });

  test("follows redirects within its host, and to hosts that were named", async () => {
    const port: number = await https((request, response) => {
      const steps: Record<string, string> = {
        "/a": "/b",
        "/b": `https://files.test:${port}/c`,
        "/c": `https://list.test:${port}/d`,
      };
      const location = steps[request.url ?? ""];
      if (location === undefined) response.end("the list");
      else redirectTo(location)(request, response);
    });
    const url = `https://list.test:${port}/a`;
    expect(await textOf(await download({ url, redirectHosts: ["Files.test"] }))).toBe("the list");
    expect(await download({ url })).toEqual({ kind: "elsewhere", host: "files.test" });
  });

  test.each([
    ["plain http", "http://list.test/", {}],
    ["a loopback address", "https://127.0.0.1/", {}],
    ["a name of a private address", "https://list.test/", { resolve: async () => ["10.0.0.1"] }],
    ["a file", "file:///etc/passwd", {}],
  ])("refuses %s in production", async (_name, url, options) => {
    expect(await download({ url }, { loopback: "refused", ...options })).toMatchObject({
      kind: "failed",
      reason: "refused_target",
    });
  });

  test("guards every redirect as it guards the first address", async () => {
    const port = await https(redirectTo("http://files.test/"));
    let asked = 0;
    const resolve = async () => {
      asked += 1;
      return [asked === 1 ? "127.0.0.1" : "10.0.0.1"];
    };
    const request = { url: `https://list.test:${port}/`, redirectHosts: ["files.test"] };
    expect(await download(request, { resolve })).toMatchObject({ kind: "failed", reason: "refused_target" });
    expect(asked).toBe(2);
  });

  test("gives up a redirect without end, and one to nowhere", async () => {
    const loop = await https(redirectTo("/again"));
    expect(await download({ url: `https://list.test:${loop}/` })).toMatchObject({
      reason: "malformed_answer",
    });
    const nowhere = await https(redirectTo("https://["));
    expect(await download({ url: `https://list.test:${nowhere}/` })).toMatchObject({
      reason: "malformed_answer",
    });
  });

  test("returns any other status", async () => {
    const port = await https((_request, response) => response.writeHead(404).end("no such list"));
    expect(await download({ url: `https://list.test:${port}/` })).toEqual({ kind: "status", status: 404 });
  });

  test("refuses a host that does not prove its name", async () => {
    const port = await https((_request, response) => response.end("the list"));
    expect(await download({ url: `https://other.test:${port}/` })).toMatchObject({ reason: "tls" });
  });

  test("stops at the most bytes allowed, stated or not", async () => {
    const stated = await https((_request, response) => response.end(LARGE));
    expect(await download({ url: `https://list.test:${stated}/`, maxBytes: 1_000 })).toMatchObject({
      reason: "too_large",
    });
    const endless = await started(
      serveHttp((_request, response) => {
        const more = () => response.write(LARGE, () => setImmediate(more));
        more();
      }),
    );
    expect(
      await failureOf(await download({ url: `http://127.0.0.1:${endless}/`, maxBytes: 1_000_000 })),
    ).toBe("too_large");
  });

  test.each([
    ["with a length", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n<Sanctions>"],
    ["in chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n<Sanc"],
  ])("that breaks off in a body %s is no whole one", async (_name, head) => {
    const port = await started(serveTcp((socket) => socket.write(head, () => socket.destroy())));
    const answer = await download({ url: `http://127.0.0.1:${port}/` });
    expect(answer.kind === "open" ? await failureOf(answer) : answer.kind).toMatch(/connection|malformed/);
  });

  test("that is slower than the deadline ends there", async () => {
    const port = await started(
      serveHttp((_request, response) => {
        response.write("<Sanctions>");
      }),
    );
    const answer = await download({ url: `http://127.0.0.1:${port}/` }, { deadlineMs: 300 });
    expect(await failureOf(answer)).toBe("timeout");
  });
});
