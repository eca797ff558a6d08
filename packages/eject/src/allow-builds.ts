import type { Project } from './project.ts'

/** Packages that have an install script, and whether it is needed. */
const INSTALL_SCRIPTS = new Map([
  ['bun', { needed: true, why: 'puts the binary of this platform in place' }],
  ['esbuild', { needed: false, why: 'only saves a few milliseconds per start' }],
])

/** pnpm's settings: it fails an install as long as nobody says whether a package may run its script. Undefined if there is none. */
export function writeAllowBuilds({ dependencies, devDependencies }: Project): string | undefined {
  const lines = [...INSTALL_SCRIPTS].flatMap(([name, { needed, why }]) =>
    name in dependencies || name in devDependencies ? `  ${name}: ${needed} # ${why}\n` : [],
  )
  return lines.length === 0
    ? undefined
    : `# Which packages may run a script when pnpm installs them.\nallowBuilds:\n${lines.join('')}`
}
