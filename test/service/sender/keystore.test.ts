import { numberToHex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { keystoreEntropy, openKeystore, writeKeystore } from "../../../service/sender/keystore.ts";

const KEY = numberToHex(0x51, { size: 32 });
const CHEAP = 2;

/** The test vectors of the Web3 Secret Storage Definition. */
const VECTOR_KEY = "0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d";
const cipher = { cipher: "aes-128-ctr", version: 3 } as const;
const byPbkdf2 = {
  crypto: {
    cipher: cipher.cipher,
    cipherparams: { iv: "6087dab2f9fdbbfaddc31a909735c1e6" },
    ciphertext: "5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46",
    kdf: "pbkdf2",
    kdfparams: {
      c: 262144,
      dklen: 32,
      prf: "hmac-sha256",
      salt: "ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd",
    },
    mac: "517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2",
  },
  id: "3198bc9c-6672-5ab3-d995-4942343ae5b6",
  version: 3,
};
const byScrypt = {
  crypto: {
    cipher: cipher.cipher,
    cipherparams: { iv: "83dbcc02d8ccb40e466191a123791e0e" },
    ciphertext: "d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c",
    kdf: "scrypt",
    kdfparams: {
      dklen: 32,
      n: 262144,
      r: 1,
      p: 8,
      salt: "ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19",
    },
    mac: "2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097",
  },
  id: "3198bc9c-6672-5ab3-d995-4942343ae5b6",
  version: 3,
};

test.each([
  ["PBKDF2", byPbkdf2],
  ["scrypt", byScrypt],
])("the standard's own keystore by %s opens with its password", (_kdf, keystore) => {
  expect(openKeystore(JSON.stringify(keystore), "testpassword")).toEqual({
    kind: "open",
    privateKey: VECTOR_KEY,
  });
});

test("a written keystore opens again, names its address, and does not hold the key", () => {
  const text = writeKeystore({ privateKey: KEY, password: "päss wörd" }, keystoreEntropy(), CHEAP);
  expect(JSON.parse(text)).toMatchObject({
    address: privateKeyToAddress(KEY).slice(2).toLowerCase(),
    version: 3,
  });
  expect(text).not.toContain(KEY.slice(2));
  expect(openKeystore(text, "päss wörd")).toEqual({ kind: "open", privateKey: KEY });
});

test("distinguishes a wrong password, a key of another address and a file that is no keystore", () => {
  const text = writeKeystore({ privateKey: KEY, password: "right" }, keystoreEntropy(), CHEAP);
  const stored = JSON.parse(text);
  const open = (keystore: unknown, password = "right") =>
    openKeystore(typeof keystore === "string" ? keystore : JSON.stringify(keystore), password).kind;
  expect(open(stored, "wrong")).toBe("wrong_password");
  expect(open({ ...stored, address: "00000000000000000000000000000000000a11ce" })).toBe("wrong_address");
  expect(open({ ...stored, address: undefined })).toBe("open");
  expect(open("{}")).toBe("malformed");
  expect(open("not even JSON")).toBe("malformed");
  expect(open({ ...stored, version: 1 })).toBe("malformed");
  const greedy = { ...stored.crypto, kdfparams: { ...stored.crypto.kdfparams, n: 2 ** 30 } };
  expect(open({ ...stored, crypto: greedy })).toBe("malformed");
});
