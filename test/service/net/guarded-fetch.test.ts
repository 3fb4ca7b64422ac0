import type { RequestListener } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import type { FetchAnswer, FetchFailure, GuardedRequest } from "../../../service/net/exchange.ts";
import { createGuardedFetch, type GuardOptions } from "../../../service/net/guarded-fetch.ts";
import { serveHttp, serveHttps, serveTcp, started } from "./hostile-server.ts";
import { createAuthority, createIdentity } from "./test-certificates.ts";

const MAX_BYTES = 65_536;
const authority = createAuthority();
const identity = createIdentity(authority, { names: ["agent.test"] });

const http = (listener: RequestListener) => started(serveHttp(listener));
const https = (listener: RequestListener, shown = identity) => started(serveHttps(shown, listener));

const answersWith =
  (...addresses: string[]) =>
  async () =>
    addresses;

/** With loopback allowed, as in development: the servers of these tests are there. */
function guarded(options: Partial<GuardOptions> = {}) {
  const fetch = createGuardedFetch({
    resolve: answersWith("127.0.0.1"),
    loopback: "allowed",
    ca: authority.certificate,
    deadlineMs: 5_000,
    ...options,
  });
  return (url: string, request: Omit<GuardedRequest, "url"> = {}) => fetch({ url, ...request });
}

/** The outcome in short: the status and the text, or the reason. */
function short(outcome: FetchAnswer | FetchFailure): string {
  return outcome.kind === "failed"
    ? outcome.reason
    : `${outcome.status} ${Buffer.from(outcome.body).toString("utf8")}`;
}

describe("a request", () => {
  test("reaches the server with its method, path, headers, name and body, and brings back the whole answer", async () => {
    const port = await https((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { host, connection, authorization } = request.headers;
        const { servername } = request.socket as TLSSocket;
        const seen = [
          request.method,
          request.url,
          host,
          connection,
          authorization,
          servername,
          Buffer.concat(chunks).toString(),
        ];
        response.writeHead(201, { "X-Seen": "yes", "Set-Cookie": ["a=1", "b=2"] });
        response.end(seen.join(" "));
      });
    });
    const outcome = await guarded()(`https://agent.test:${port}/hook?q=1#part`, {
      method: "POST",
      headers: { authorization: "Basic", Host: "internal", "transfer-encoding": "chunked" },
      body: Buffer.from('{"a":1}'),
    });
    expect(short(outcome)).toBe(`201 POST /hook?q=1 agent.test:${port} close Basic agent.test {"a":1}`);
    expect(outcome.kind === "answered" && outcome.headers.get("x-seen")).toBe("yes");
    expect(outcome.kind === "answered" && outcome.headers.get("set-cookie")).toBe("a=1, b=2");
  });

  test("may be a HEAD, whose answer has no body however long it says it would be", async () => {
    const port = await http((_request, response) =>
      response.writeHead(200, { "content-length": "1000000000" }).end(),
    );
    expect(short(await guarded()(`http://127.0.0.1:${port}/`, { method: "HEAD" }))).toBe("200 ");
  });

  test("over 64 KiB is the caller's mistake", async () => {
    const post = guarded()("https://agent.test/", { method: "POST", body: Buffer.alloc(MAX_BYTES + 1) });
    await expect(post).rejects.toThrow("expected a request body of at most 65536 bytes, got 65537");
  });
});

describe("the name", () => {
  test("is resolved once, and the connection goes to the address of that one answer", async () => {
    const port = await https((_request, response) => response.end("pinned"));
    const resolve = vi.fn<GuardOptions["resolve"]>().mockResolvedValueOnce(["127.0.0.1"]);
    // A rebinding server answers otherwise when asked again.
    resolve.mockResolvedValue(["169.254.169.254"]);
    expect(short(await guarded({ resolve })(`https://agent.test:${port}/`))).toBe("200 pinned");
    expect(resolve.mock.calls.map(([name]) => name)).toEqual(["agent.test"]);
  });

  test("is checked anew at every request", async () => {
    const port = await https((_request, response) => response.end("first"));
    const resolve = vi.fn<GuardOptions["resolve"]>().mockResolvedValueOnce(["127.0.0.1"]);
    resolve.mockResolvedValue(["169.254.169.254"]);
    const fetch = guarded({ resolve });
    expect(short(await fetch(`https://agent.test:${port}/`))).toBe("200 first");
    expect(short(await fetch(`https://agent.test:${port}/`))).toBe("refused_target");
  });

  test("gives the only addresses that are connected to, one after the other", async () => {
    const port = await https((_request, response) => response.end("at .1"));
    expect(short(await guarded({ resolve: answersWith("127.0.0.7") })(`https://agent.test:${port}/`))).toBe(
      "connection",
    );
    expect(
      short(await guarded({ resolve: answersWith("127.0.0.7", "127.0.0.1") })(`https://agent.test:${port}/`)),
    ).toBe("200 at .1");
  });

  test.each([
    ["one private address among public ones", ["93.184.216.34", "10.0.0.1"]],
    ["loopback in production", ["127.0.0.1"]],
    ["a mapped address", ["::ffff:93.184.216.34"]],
    ["something that is no address", ["example.com"]],
  ])("with %s is refused before anything is connected", async (_case, addresses) => {
    const connected = vi.fn();
    const port = await started(serveTcp(connected));
    const resolve = vi.fn(answersWith(...addresses));
    const fetch = guarded({ resolve, loopback: "refused", ports: [port] });
    expect(short(await fetch(`https://agent.test:${port}/`))).toBe("refused_target");
    expect(resolve).toHaveBeenCalledTimes(1);
    expect(connected).not.toHaveBeenCalled();
  });

  test("is not even resolved where the URL alone is refused", async () => {
    const resolve = vi.fn(answersWith("93.184.216.34"));
    const fetch = guarded({ resolve, loopback: "refused" });
    const urls = [
      "http://agent.test/",
      "https://agent.test:22/",
      "https://u:p@agent.test/",
      "https://127.1/",
    ];
    expect(await Promise.all(urls.map(async (url) => short(await fetch(url))))).toEqual(
      urls.map(() => "refused_target"),
    );
    expect(resolve).not.toHaveBeenCalled();
  });

  test("without an address, or whose servers fail, is a DNS failure that does not name them", async () => {
    expect(short(await guarded({ resolve: answersWith() })("https://agent.test/"))).toBe("dns_failure");
    const refusing = async () => Promise.reject(new Error("queryA ECONNREFUSED 10.0.0.2:53"));
    const failure = await guarded({ resolve: refusing })("https://agent.test/");
    expect(failure).toEqual({
      kind: "failed",
      reason: "dns_unavailable",
      detail: "No name server answered for the host name.",
    });
  });

  test("that is never resolved ends with the deadline", async () => {
    const resolve = () => new Promise<string[]>(() => undefined);
    expect(short(await guarded({ resolve, deadlineMs: 50 })("https://agent.test/"))).toBe("timeout");
  });
});

describe("the certificate", () => {
  const ok: RequestListener = (_request, response) => response.end("ok");

  test("must name the host", async () => {
    const port = await https(ok, createIdentity(authority, { names: ["other.test"] }));
    expect(short(await guarded()(`https://agent.test:${port}/`))).toBe("tls");
  });

  test("must name the address where the URL has one", async () => {
    const named = await https(ok);
    const addressed = await https(ok, createIdentity(authority, { names: ["127.0.0.1"] }));
    expect(short(await guarded()(`https://127.0.0.1:${named}/`))).toBe("tls");
    expect(short(await guarded()(`https://127.0.0.1:${addressed}/`))).toBe("200 ok");
  });

  test("must be of a trusted authority, whatever the environment says", async () => {
    const port = await https(
      ok,
      createIdentity(createAuthority("Another authority"), { names: ["agent.test"] }),
    );
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    expect(short(await guarded()(`https://agent.test:${port}/`))).toBe("tls");
    vi.unstubAllEnvs();
  });

  test("must not have run out", async () => {
    const expired = createIdentity(authority, {
      names: ["agent.test"],
      notAfter: new Date(Date.now() - 3_600_000),
    });
    expect(short(await guarded()(`https://agent.test:${await https(ok, expired)}/`))).toBe("tls");
  });

  test("cannot be shown by a server that does not speak TLS", async () => {
    expect(short(await guarded()(`https://agent.test:${await http(ok)}/`))).toBe("tls");
  });
});

describe("a redirect", () => {
  test.each([301, 302, 303, 307, 308])("%i is an answer, and is not followed", async (status) => {
    const inside = vi.fn();
    const secret = await started(serveTcp(inside));
    const location = `http://127.0.0.1:${secret}/admin`;
    const port = await https((_request, response) => response.writeHead(status, { location }).end());
    const outcome = await guarded()(`https://agent.test:${port}/`);
    expect(outcome).toMatchObject({ kind: "answered", status });
    expect(outcome.kind === "answered" && outcome.headers.get("location")).toBe(location);
    expect(inside).not.toHaveBeenCalled();
  });
});

describe("size", () => {
  test("64 KiB are taken whole, and one byte more is too large", async () => {
    const port = await http((request, response) =>
      response.end(Buffer.alloc(Number(request.url?.slice(1)), "a")),
    );
    const whole = await guarded()(`http://127.0.0.1:${port}/${MAX_BYTES}`);
    expect(whole.kind === "answered" && whole.body.length).toBe(MAX_BYTES);
    expect(short(await guarded()(`http://127.0.0.1:${port}/${MAX_BYTES + 1}`))).toBe("too_large");
  });

  test("an endless body is left at the cap, and its connection closed", async () => {
    const closed = Promise.withResolvers<number>();
    const port = await http(async (_request, response) => {
      let sent = 0;
      response.on("close", () => closed.resolve(sent));
      while (!response.destroyed && sent < 100_000_000) {
        sent += 16_384;
        if (!response.write(Buffer.alloc(16_384))) await Promise.race([sleep(20), closed.promise]);
      }
    });
    expect(short(await guarded()(`http://127.0.0.1:${port}/`))).toBe("too_large");
    expect(await closed.promise).toBeLessThan(20_000_000);
  });

  test("a length above the cap is believed at once", async () => {
    const port = await http((_request, response) => {
      response.writeHead(200, { "content-length": "1000000000" });
      response.flushHeaders();
    });
    expect(short(await guarded()(`http://127.0.0.1:${port}/`))).toBe("too_large");
  });

  test("headers above 16 KiB are too large", async () => {
    const port = await http((_request, response) =>
      response.writeHead(200, { "x-long": "a".repeat(17_000) }).end(),
    );
    expect(short(await guarded()(`http://127.0.0.1:${port}/`))).toBe("too_large");
  });
});

describe("compression", () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));

  function compressed(encoding: string, body: Buffer): Promise<number> {
    return http((_request, response) => response.writeHead(200, { "content-encoding": encoding }).end(body));
  }

  test.each([
    ["gzip", gzipSync("text")],
    ["X-GZIP", gzipSync("text")],
    ["deflate", deflateSync("text")],
    ["br", brotliCompressSync("text")],
    ["identity", Buffer.from("text")],
  ])("%s is undone when asked", async (encoding, body) => {
    const port = await compressed(encoding, body);
    expect(short(await guarded()(`http://127.0.0.1:${port}/`, { decompress: true }))).toBe("200 text");
  });

  test("is neither asked for nor undone otherwise", async () => {
    const asked = vi.fn();
    const port = await http((request, response) => {
      asked(request.headers["accept-encoding"]);
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("text"));
    });
    const outcome = await guarded()(`http://127.0.0.1:${port}/`, { headers: { "accept-encoding": "gzip" } });
    expect(outcome.kind === "answered" && gzipSync("text").equals(outcome.body)).toBe(true);
    expect(asked).toHaveBeenCalledWith("identity");
  });

  test("a bomb that arrives small is too large", async () => {
    expect(bomb.length).toBeLessThan(MAX_BYTES);
    const port = await compressed("gzip", bomb);
    const before = process.memoryUsage().rss;
    expect(short(await guarded()(`http://127.0.0.1:${port}/`, { decompress: true }))).toBe("too_large");
    expect(process.memoryUsage().rss - before).toBeLessThan(40_000_000);
  });

  test.each([
    ["gzip", Buffer.from("not gzip")],
    ["gzip", gzipSync("cut off").subarray(0, 12)],
    ["gzip, gzip", gzipSync(gzipSync("text"))],
    ["compress", Buffer.from("?")],
  ])("%s that cannot be undone is a malformed answer", async (encoding, body) => {
    const port = await compressed(encoding, body);
    expect(short(await guarded()(`http://127.0.0.1:${port}/`, { decompress: true }))).toBe(
      "malformed_answer",
    );
  });
});

describe("a hostile server", () => {
  test("that says a byte now and then is left at the deadline, headers or body", async () => {
    const drip = (head: string) =>
      started(
        serveTcp((socket) => {
          socket.write(head);
          const timer = setInterval(() => socket.write("a"), 10);
          socket.on("close", () => clearInterval(timer));
        }),
      );
    for (const port of [await drip("HTTP/1.1 200 OK\r\nx-slow: "), await drip("HTTP/1.1 200 OK\r\n\r\n")]) {
      expect(short(await guarded({ deadlineMs: 200 })(`http://127.0.0.1:${port}/`))).toBe("timeout");
    }
  });

  test("that accepts and says nothing is left at the deadline, in the clear and in the handshake", async () => {
    const port = await started(serveTcp(() => undefined));
    const fetch = guarded({ deadlineMs: 100 });
    expect(short(await fetch(`http://127.0.0.1:${port}/`))).toBe("timeout");
    expect(short(await fetch(`https://agent.test:${port}/`))).toBe("timeout");
  });

  test("that is not there, resets, or closes without a word is a connection failure", async () => {
    const resets = await started(serveTcp((socket) => socket.once("data", () => socket.resetAndDestroy())));
    const closes = await started(serveTcp((socket) => socket.end()));
    const gone = await serveTcp(() => undefined);
    await gone.close();
    for (const port of [resets, closes, gone.port]) {
      expect(short(await guarded()(`http://127.0.0.1:${port}/`))).toBe("connection");
      expect(short(await guarded()(`https://agent.test:${port}/`))).toBe("connection");
    }
  });

  test("that breaks off within the body gives no part of it as the whole", async () => {
    const port = await started(
      serveTcp((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this")),
    );
    expect(short(await guarded()(`http://127.0.0.1:${port}/`))).toBe("connection");
  });

  test("that resets within a body of no stated length gives no part of it as the whole", async () => {
    const port = await started(
      serveTcp((socket) => {
        socket.write("HTTP/1.1 200 OK\r\n\r\nonly this");
        setTimeout(() => socket.resetAndDestroy(), 50);
      }),
    );
    expect(short(await guarded()(`http://127.0.0.1:${port}/`))).toBe("connection");
  });

  test.each([
    ["noise", "SSH-2.0-OpenSSH_9.6\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"],
    ["an unasked upgrade", "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"],
  ])("that answers with %s is malformed", async (_case, text) => {
    const port = await started(serveTcp((socket) => socket.once("data", () => socket.write(text))));
    expect(short(await guarded({ deadlineMs: 1_000 })(`http://127.0.0.1:${port}/`))).toBe("malformed_answer");
  });

  test("is left when the caller goes", async () => {
    const port = await started(serveTcp(() => undefined));
    const controller = new AbortController();
    const outcome = guarded()(`http://127.0.0.1:${port}/`, { signal: controller.signal });
    controller.abort();
    expect(short(await outcome)).toBe("timeout");
    expect(short(await guarded()("https://agent.test/", { signal: controller.signal }))).toBe("timeout");
  });
});
