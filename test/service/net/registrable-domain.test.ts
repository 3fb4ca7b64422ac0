import { expect, test } from "vitest";
import { registrableDomain } from "../../../service/net/registrable-domain.ts";

test.each([
  ["https://a.b.example.com/path?x=1", "example.com"],
  ["https://A.Example.CO.UK:8443/", "example.co.uk"],
  ["https://example.com./", "example.com"],
  ["https://one.vercel.app/", "one.vercel.app"],
  ["https://deep.two.vercel.app/", "two.vercel.app"],
  ["https://vercel.app/", "vercel.app"],
  ["https://under_score.example.com/", "example.com"],
  ["http://localhost:3000/", "localhost"],
  ["https://192.0.2.7:8443/", "192.0.2.7"],
  ["https://0xc0000207/", "192.0.2.7"],
  ["https://[2001:db8:1:2:3:4:5:6]/", "2001:db8:1:2::/64"],
  ["https://[2001:db8::1]:8443/", "2001:db8:0:0::/64"],
  ["https://[2001:0db8:0:0:ffff::2]/", "2001:db8:0:0::/64"],
  ["https://[::1]/", "0:0:0:0::/64"],
  ["no url", "no url"],
])("%s belongs to %s", (url, domain) => {
  expect(registrableDomain(url)).toBe(domain);
});
