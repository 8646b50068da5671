import assert from "node:assert/strict";
import { test } from "node:test";

import { public_key, sign, verify } from "../vendor/ed25519.js";

/** RFC 8032, section 7.1: tests 1, 2 and 3, and the test SHA(abc). */
const VECTORS = [
  {
    seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    key: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    data: "",
    signature:
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155" +
      "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  },
  {
    seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    key: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    data: "72",
    signature:
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da" +
      "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  },
  {
    seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
    key: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    data: "af82",
    signature:
      "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac" +
      "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  },
  {
    seed: "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
    key: "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
    data:
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a" +
      "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    signature:
      "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589" +
      "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
  },
];

/** @param {string} text */
const bytes = (text) => Uint8Array.from(Buffer.from(text, "hex"));
/** @param {Uint8Array} content */
const hex = (content) => Buffer.from(content).toString("hex");

test("keys and signatures are those of RFC 8032", () => {
  for (const { seed, key, data, signature } of VECTORS) {
    assert.equal(hex(public_key(bytes(seed))), key);
    assert.equal(hex(sign(bytes(seed), bytes(data))), signature);
    assert.equal(verify(bytes(key), bytes(signature), bytes(data)), true);
  }
});

test("a signature holds for no other data, no other key, and in no other form", () => {
  const [{ key, signature }, { key: otherKey }] = VECTORS;
  assert.equal(verify(bytes(key), bytes(signature), bytes("00")), false);
  assert.equal(verify(bytes(otherKey), bytes(signature), bytes("")), false);
  assert.equal(verify(bytes(key), bytes(signature).with(5, 0), bytes("")), false);
  // RFC 8032, section 5.1.7: the second half of a signature is a number below the order of the group.
  assert.equal(verify(bytes(key), bytes(signature.slice(0, 64) + "ff".repeat(32)), bytes("")), false);
});

test("a key or a signature of a wrong length, or a key that is no point, is no exception", () => {
  const [{ key, signature }] = VECTORS;
  assert.equal(verify(bytes(key.slice(2)), bytes(signature), bytes("")), false);
  assert.equal(verify(bytes(key), bytes(signature.slice(2)), bytes("")), false);
  assert.equal(verify(bytes("02" + "00".repeat(31)), bytes(signature), bytes("")), false);
});
