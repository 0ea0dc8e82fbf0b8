/**
 * The registry's manifest (acp.md C14), made of the version and nothing else that could disagree with it; and its
 * rules as a function. `acp_registry/agent.json` is this without checksums, the one of a release has them.
 */

export interface Target {
  /** As the registry names it. */
  readonly name: string;
  /** As `deno compile --target` takes it. */
  readonly triple: string;
  readonly windows: boolean;
}

export const TARGETS: readonly Target[] = [
  { name: "darwin-aarch64", triple: "aarch64-apple-darwin", windows: false },
  { name: "darwin-x86_64", triple: "x86_64-apple-darwin", windows: false },
  { name: "linux-aarch64", triple: "aarch64-unknown-linux-gnu", windows: false },
  { name: "linux-x86_64", triple: "x86_64-unknown-linux-gnu", windows: false },
  { name: "windows-x86_64", triple: "x86_64-pc-windows-msvc", windows: true },
];

const HOME = "https://github.com/hermes-agent-ts/hermes";

export interface BinaryEntry {
  readonly archive: string;
  readonly sha256?: string;
  readonly cmd: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export type Manifest = Readonly<Record<string, unknown>> & {
  readonly version: string;
  readonly distribution: { readonly binary: Readonly<Record<string, BinaryEntry>> };
};

export function archiveName(version: string, target: Target): string {
  return `hermes-${version}-${target.name}.${target.windows ? "zip" : "tar.gz"}`;
}

/** `sums`: checksums by target name, of the archives that exist. */
export function buildManifest(version: string, sums: Readonly<Record<string, string>> = {}): Manifest {
  const binary = Object.fromEntries(TARGETS.map((target): [string, BinaryEntry] => {
    const sha256 = sums[target.name];
    return [target.name, {
      archive: `${HOME}/releases/download/v${version}/${archiveName(version, target)}`,
      ...(sha256 === undefined ? {} : { sha256 }),
      cmd: target.windows ? "./hermes.exe" : "./hermes",
      args: ["acp"],
      env: { HERMES_ACP_MANIFEST_VERSION: version },
    }];
  }));
  return {
    id: "hermes-agent",
    name: "Hermes Agent",
    version,
    description:
      "An AI agent that works in your editor: reads, searches and edits files, runs commands, and asks " +
      "before it changes anything. Any OpenAI-compatible model, local ones too.",
    repository: HOME,
    website: HOME,
    authors: ["The Hermes Agent contributors"],
    license: "MIT",
    license_url: `${HOME}/blob/v${version}/LICENSE`,
    distribution: { binary },
  };
}

const REQUIRED = ["id", "name", "version", "description", "distribution"];
const OPTIONAL = ["repository", "website", "authors", "license", "license_url", "icon"];
const SYSTEMS = ["darwin", "linux", "windows"];
const TARGET_NAMES = SYSTEMS.flatMap((system) => [`${system}-aarch64`, `${system}-x86_64`]);
const ENTRY_KEYS = ["archive", "sha256", "cmd", "args", "env"];

function unknownKeys(value: object, known: readonly string[]): string[] {
  return Object.keys(value).filter((key) => !known.includes(key));
}

/** What the registry would refuse, one line each. */
export function manifestProblems(manifest: Manifest): string[] {
  const problems = REQUIRED.filter((key) => !manifest[key]).map((key) => `${key} is missing`);
  for (const key of unknownKeys(manifest, [...REQUIRED, ...OPTIONAL])) problems.push(`${key} is not known`);
  if (!/^[a-z][a-z0-9-]*$/.test(String(manifest.id))) problems.push("id is malformed");
  if (!/^\d+\.\d+\.\d+$/.test(manifest.version)) problems.push("version is not x.y.z");
  for (const key of unknownKeys(manifest.distribution ?? {}, ["binary", "npx", "uvx"])) {
    problems.push(`distribution.${key} is not known`);
  }
  const binary = manifest.distribution?.binary ?? {};
  for (const system of SYSTEMS) {
    if (!Object.keys(binary).some((name) => name.startsWith(`${system}-`))) {
      problems.push(`no target for ${system}`);
    }
  }
  for (const [name, entry] of Object.entries(binary)) {
    problems.push(...entryProblems(name, entry, manifest.version));
  }
  return problems;
}

function entryProblems(name: string, entry: BinaryEntry, version: string): string[] {
  const problems = unknownKeys(entry, ENTRY_KEYS).map((key) => `${name}: ${key} is not known`);
  if (!TARGET_NAMES.includes(name)) problems.push(`${name} is not a target`);
  if (!entry.cmd) problems.push(`${name}: cmd is missing`);
  const { archive } = entry;
  if (!/^https:\/\/\S+\.(zip|tar\.gz|tgz|tar\.bz2|tbz2)$/.test(archive)) {
    problems.push(`${name}: archive is malformed`);
  }
  const versions = [...archive.matchAll(/\d+\.\d+\.\d+/g)].map((match) => match[0]);
  if (versions.length === 0 || versions.some((one) => one !== version)) {
    problems.push(`${name}: archive does not name version ${version}`);
  }
  if (archive.includes("/latest/")) problems.push(`${name}: archive points at /latest/`);
  if (entry.sha256 !== undefined && !/^[0-9a-f]{64}$/.test(entry.sha256)) {
    problems.push(`${name}: sha256 is malformed`);
  }
  return problems;
}

/** As the file is written. */
export function manifestText(manifest: Manifest): string {
  return JSON.stringify(manifest, null, 2) + "\n";
}
