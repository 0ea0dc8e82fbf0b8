/** The YAML parser, loaded when it is first needed. In the bundled program all of its exports hang on `default`. */
type Yaml = typeof import("yaml");

export async function loadYaml(): Promise<Yaml> {
  const loaded = await import("yaml") as Yaml & { default?: Yaml };
  return loaded.default ?? loaded;
}
