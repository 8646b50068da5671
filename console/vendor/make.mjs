// Make preact.js, d3.js, ed25519.js and LICENSES/ of this folder from the packages in vendor.json.
//
//     node console/vendor/make.mjs          (or: make vendor)
//
// It needs node, npm with a package registry, and tar. Each package is downloaded, compared with its integrity in vendor.json,
// and unpacked into a temporary folder; nothing of a package runs except the bundler. The result depends on nothing else, so
// the same vendor.json gives the same bytes on every machine. To update a package, change its version and integrity.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const RECORD = join(HERE, "vendor.json");
const BANNER = "// Made by make.mjs from the packages in vendor.json; do not edit. Their licences are in LICENSES/.";

/** @typedef {{ name: string, version: string, license: string, integrity: string }} Package */

/** @type {(content: Buffer) => string} */
const sha256 = (content) => createHash("sha256").update(content).digest("hex");

/**
 * Download a package, check it, and unpack it into a folder `node_modules`. Throws if its integrity is not the one in vendor.json.
 * @param {Package} wanted
 * @param {string} folder where to work
 */
function unpack({ name, version, integrity }, folder) {
  const packed = join(folder, "packed", name);
  mkdirSync(packed, { recursive: true });
  execFileSync("npm", ["pack", "--silent", "--pack-destination", packed, `${name}@${version}`], { cwd: folder });
  const archive = join(packed, readdirSync(packed)[0]);
  const found = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  if (found !== integrity)
    throw new Error(`${name} ${version} has the integrity ${found}, but vendor.json says ${integrity}`);
  const place = join(folder, "node_modules", name);
  mkdirSync(place, { recursive: true });
  execFileSync("tar", ["-xzf", archive, "-C", place, "--strip-components=1"]);
}

/**
 * @param {string} folder
 * @param {Package} of
 */
function licenseOf(folder, { name }) {
  const place = join(folder, "node_modules", name);
  const file = readdirSync(place).find((each) => /^licen[cs]e/i.test(each));
  if (file === undefined) throw new Error(`${name} has no licence file`);
  return readFileSync(join(place, file));
}

const record = JSON.parse(readFileSync(RECORD, "utf8"));
const folder = mkdtempSync(join(tmpdir(), "pflab-vendor-"));
try {
  for (const each of [...record.packages, record.bundler]) unpack(each, folder);
  /** @type {Record<string, Buffer>} */
  const files = {};
  for (const bundle of ["d3", "ed25519", "preact"]) {
    const entry = join(folder, `${bundle}.entry.mjs`);
    const output = join(folder, `${bundle}.js`);
    writeFileSync(entry, readFileSync(join(HERE, `${bundle}.entry.mjs`)));
    execFileSync(
      process.execPath,
      [
        join(folder, "node_modules", record.bundler.name, "bin", "esbuild"),
        ...[
          entry,
          "--bundle",
          "--format=esm",
          "--target=es2022",
          "--minify",
          "--legal-comments=none",
          "--charset=utf8",
        ],
        ...[`--banner:js=${BANNER}`, `--outfile=${output}`, "--log-level=warning"],
      ],
      { cwd: folder, stdio: "inherit" },
    );
    files[`${bundle}.js`] = readFileSync(output);
  }
  for (const each of record.packages) {
    files[`LICENSES/${each.name.replace("@", "").replace("/", "-")}.txt`] = licenseOf(folder, each);
  }
  rmSync(join(HERE, "LICENSES"), { recursive: true, force: true });
  mkdirSync(join(HERE, "LICENSES"));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(HERE, name), content);
  record.files = Object.fromEntries(Object.entries(files).map(([name, content]) => [name, sha256(content)]));
  writeFileSync(RECORD, `${JSON.stringify(record, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
