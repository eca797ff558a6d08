import { parse } from 'yaml'
import { readWorkspaceFile } from './workspace.ts'

/** Versions by package, as `pnpm-workspace.yaml` has them. */
export type Catalog = Readonly<Record<string, string>>

/** Biome asks for exact versions, because any new one may format and lint differently: https://biomejs.dev/guides/getting-started */
const EXACT = new Set(['@biomejs/biome'])

export async function readCatalog(): Promise<Catalog> {
  const { catalog } = parse(await readWorkspaceFile('pnpm-workspace.yaml')) as { catalog: Catalog }
  return catalog
}

/**
 * Ranges for a manifest, sorted by name. The workspace pins exact versions. A service has a lockfile for that, so its manifest has `^`
 * ranges, and `npm update` installs fixes.
 * @throws {Error} for a package that the catalog does not have
 */
export function resolveVersions(names: Iterable<string>, catalog: Catalog): Record<string, string> {
  const sorted = [...new Set(names)].sort()
  return Object.fromEntries(sorted.map((name) => [name, (EXACT.has(name) ? '' : '^') + exact(name, catalog)]))
}

/** The type packages of those packages that contain no types, if the catalog has them. */
export function listTypes(names: Iterable<string>, catalog: Catalog): string[] {
  return [...names]
    .map((name) => `@types/${name.replace(/^@/, '').replace('/', '__')}`)
    .filter((name) => name in catalog)
}

/** @throws {Error} for a package that the catalog does not have */
export function exact(name: string, catalog: Catalog): string {
  const version = catalog[name]
  if (version === undefined) throw new Error(`${name} is not in the catalog of pnpm-workspace.yaml.`)
  return version
}
