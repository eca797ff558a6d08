import { listImports, packageOf } from './imports.ts'

/** Packages that the page's sources import only for the build and for development. */
const TOOLS = new Set(['vite', '@vitejs/plugin-react'])

/** The packages that sources import. Those of tests and tools become development dependencies. */
export function findPackages(sources: ReadonlyMap<string, string>, isBun: boolean) {
  const dependencies = new Set<string>()
  const devDependencies = new Set(['@biomejs/biome', 'typescript'])
  for (const name of isBun ? ['bun', '@types/bun'] : ['@types/node']) devDependencies.add(name)
  for (const [path, text] of sources) {
    const isDevelopment = !/^(?:src|shared)\//.test(path)
    for (const specifier of listImports(path, text)) {
      const name = packageOf(specifier)
      if (name !== undefined) (isDevelopment || TOOLS.has(name) ? devDependencies : dependencies).add(name)
    }
  }
  return {
    dependencies: [...dependencies],
    devDependencies: [...devDependencies].filter((name) => !dependencies.has(name)),
  }
}
