/** Proves src/protocols/acp/cwd.ts: the table of acp.md C4 (row 11), other hosts, list filters. */
import { assertEquals, assertThrows } from "../../support/assert.ts";
import {
  cleanPosix,
  type HostFacts,
  mountRootOf,
  PathComparer,
  readHostFacts,
  requireDirectory,
  translatePath,
} from "../../../src/protocols/acp/cwd.ts";

const WSL: HostFacts = { os: "linux", wsl: true, distro: "Ubuntu", mountRoot: "/mnt/" };
const LINUX: HostFacts = { os: "linux", wsl: false, distro: null, mountRoot: "/mnt/" };
const WINDOWS: HostFacts = { os: "windows", wsl: false, distro: null, mountRoot: "/mnt/" };

function shown(raw: string, host: HostFacts): string {
  const result = translatePath(raw, host);
  return result.ok ? result.path : `error ${result.reason}`;
}

const WSL_TABLE: readonly (readonly [string, string])[] = [
  ["E:\\Projects\\AI\\app", "/mnt/e/Projects/AI/app"],
  ["D:/code/app", "/mnt/d/code/app"],
  ["e:/a\\b/c", "/mnt/e/a/b/c"],
  ["C:", "/mnt/c"],
  ["C:\\", "/mnt/c"],
  ["/C:/Users/x", "/mnt/c/Users/x"],
  ["\\\\?\\C:\\x", "/mnt/c/x"],
  ["\\\\.\\C:\\x", "/mnt/c/x"],
  ["\\\\?\\UNC\\wsl$\\Ubuntu\\srv", "/srv"],
  ["\\\\wsl.localhost\\Ubuntu\\home\\u\\p", "/home/u/p"],
  ["//wsl$/Ubuntu/home/u", "/home/u"],
  ["\\\\WSL$\\ubuntu", "/"],
  ["\\\\WSL$\\ubuntu\\", "/"],
  ["file:///C:/My%20Code", "/mnt/c/My Code"],
  ["file://wsl.localhost/Ubuntu/srv", "/srv"],
  ["file://wsl%24/Ubuntu/srv", "/srv"],
  ["file:///home/u/a%20b", "/home/u/a b"],
  ["file://localhost/home/u", "/home/u"],
  ["/mnt/e/Projects", "/mnt/e/Projects"],
  ["/home/u/a\\b", "/home/u/a\\b"],
  ["  /home/u/  ", "/home/u"],
  ["/home//u/./x/../y/", "/home/u/y"],
  ["\\\\wsl$\\Debian\\home", "error other_distro"],
  ["\\\\nas\\share\\x", "error unc_not_mounted"],
  ["file://nas/share/x", "error unc_not_mounted"],
  ["\\\\wsl$", "error unc_not_mounted"],
  ["C:proj", "error drive_relative"],
  ["src", "error not_absolute"],
  ["", "error not_absolute"],
  ["   ", "error not_absolute"],
];

for (const [raw, wanted] of WSL_TABLE) {
  Deno.test(`acp 11: translatePath() under WSL: ${JSON.stringify(raw)} → ${wanted}`, () => {
    assertEquals(shown(raw, WSL), wanted);
  });
}

Deno.test("translatePath() takes any distribution when the own one is unknown", () => {
  assertEquals(shown("\\\\wsl$\\Debian\\home", { ...WSL, distro: null }), "/home");
});

Deno.test("translatePath() uses the mount root of wsl.conf", () => {
  assertEquals(shown("E:\\x", { ...WSL, mountRoot: "/" }), "/e/x");
  assertEquals(shown("E:\\x", { ...WSL, mountRoot: "/win/" }), "/win/e/x");
});

const LINUX_TABLE: readonly (readonly [string, string])[] = [
  ["E:\\x", "error windows_path"],
  ["C:proj", "error windows_path"],
  ["/C:/Users", "error windows_path"],
  ["\\\\wsl$\\Ubuntu\\x", "error windows_path"],
  ["file:///C:/x", "error windows_path"],
  ["file://wsl.localhost/Ubuntu/srv", "error windows_path"],
  ["/home/u", "/home/u"],
  ["/home/u/a\\b", "/home/u/a\\b"],
  ["//srv//data", "/srv/data"],
  ["file:///home/u", "/home/u"],
  ["file://nas.example/tmp", "error unc_not_mounted"],
  ["file://tmp/j", "error unc_not_mounted"],
  ["~/x", "error not_absolute"],
  ["src", "error not_absolute"],
];

for (const [raw, wanted] of LINUX_TABLE) {
  Deno.test(`acp 10: translatePath() on Linux: ${JSON.stringify(raw)} → ${wanted}`, () => {
    assertEquals(shown(raw, LINUX), wanted);
  });
}

const WINDOWS_TABLE: readonly (readonly [string, string])[] = [
  ["c:\\Users\\x", "C:\\Users\\x"],
  ["C:", "C:\\"],
  ["D:/a//b/../c/", "D:\\a\\c"],
  ["/mnt/d/x", "D:\\x"],
  ["\\\\nas\\share\\x", "\\\\nas\\share\\x"],
  ["file:///C:/My%20Code", "C:\\My Code"],
  ["/home/u", "error not_absolute"],
  ["C:proj", "error drive_relative"],
];

for (const [raw, wanted] of WINDOWS_TABLE) {
  Deno.test(`translatePath() on Windows: ${JSON.stringify(raw)} → ${wanted}`, () => {
    assertEquals(shown(raw, WINDOWS), wanted);
  });
}

Deno.test("mountRootOf() reads only the automount section", () => {
  assertEquals(mountRootOf(""), "/mnt/");
  assertEquals(mountRootOf("[automount]\nroot = /\n"), "/");
  assertEquals(mountRootOf("[automount]\r\nenabled=true\r\nroot = /win # here\r\n"), "/win/");
  assertEquals(mountRootOf("[network]\nroot = /x\n"), "/mnt/");
});

Deno.test("readHostFacts() lets HERMES_WSL override what the kernel says", () => {
  const files = { readTextSync: (path: string) => path === "/proc/version" ? "Linux Microsoft-WSL2" : null };
  const facts = (env: Record<string, string>) =>
    // deno-lint-ignore no-explicit-any
    readHostFacts({ os: "linux", files: files as any }, (name) => env[name]);
  assertEquals(facts({}).wsl, true);
  assertEquals(facts({ HERMES_WSL: "0" }).wsl, false);
  assertEquals(facts({ HERMES_WSL: "1", WSL_DISTRO_NAME: "Ubuntu" }).distro, "Ubuntu");
});

Deno.test("cleanPosix() never climbs above the root", () => {
  assertEquals(cleanPosix("/../../a/./b/"), "/a/b");
  assertEquals(cleanPosix("/"), "/");
});

Deno.test("acp 10: requireDirectory() says which field, what it became and why not", async () => {
  const stat = (path: string) =>
    // deno-lint-ignore no-explicit-any
    Promise.resolve(path === "/file" ? { isDirectory: false } as any : null);
  const failure = await requireDirectory("cwd", "/no/such/dir/", LINUX, { stat }).catch((error) => error);
  assertEquals(failure.code, -32602);
  assertEquals(failure.data, {
    field: "cwd",
    value: "/no/such/dir/",
    translated: "/no/such/dir",
    reason: "not_found",
  });
  const file = await requireDirectory("cwd", "/file", LINUX, { stat }).catch((error) => error);
  assertEquals(file.data.reason, "not_a_directory");
});

Deno.test("acp 11: PathComparer gives one form to all spellings of a directory", () => {
  const comparer = new PathComparer(LINUX, "/home/u", {
    realPathSync: (p) => p === "/link" ? "/real" : null,
  });
  assertEquals(comparer.formOf("/link"), "/real");
  assertEquals(comparer.formOf("/mnt/E/x/../y"), "/mnt/e/y");
  assertEquals(comparer.formOfFilter("~/p/"), "/home/u/p");
  assertEquals(comparer.formOfFilter("E:\\y"), "/mnt/e/y");
  assertThrows(() => comparer.formOfFilter("src"), /not an absolute path/);
});
