import { posix } from 'node:path'

/** The files of a project by path; `#shared/` stands for its directory `shared/`. */

/**
 * The source to which an import leads inside a project.
 * @returns undefined for packages, the runtime's own modules, and what only Vite imports: styles and pictures
 */
export function resolveImport(importer: string, specifier: string): string | undefined {
  if (specifier === '#shared/page/server.js') return 'shared/page/server.d.ts' // built; this is what the sources see
  if (!/\.tsx?$/.test(specifier)) return undefined
  if (specifier.startsWith('#shared/')) return specifier.slice(1)
  if (specifier.startsWith('.')) return posix.join(posix.dirname(importer), specifier)
  return undefined
}

/** How a file imports another one of the project, relatively. */
export function relativeImport(importer: string, path: string): string {
  const relative = posix.relative(posix.dirname(importer), path)
  return relative.startsWith('.') ? relative : `./${relative}`
}
