import type { Project } from './project.ts'

/** Packages with an install script, and whether it is needed. Bun's installs the binary; esbuild's only saves milliseconds. */
const NEEDED: Readonly<Record<string, boolean>> = { bun: true, esbuild: false }

/** Which packages of a project may run a script when they are installed: `allowScripts` of npm, `allowBuilds` of pnpm. */
export function listInstallScripts({
  dependencies,
  devDependencies,
}: Pick<Project, 'dependencies' | 'devDependencies'>): Readonly<Record<string, boolean>> {
  return Object.fromEntries(
    Object.entries(NEEDED).filter(([name]) => name in dependencies || name in devDependencies),
  )
}

/** pnpm's settings. Without them, pnpm fails to install a package with a script. Undefined if there is no such package. */
export function writePnpmSettings(project: Project): string | undefined {
  const lines = Object.entries(listInstallScripts(project)).map(([name, needed]) => `  ${name}: ${needed}\n`)
  if (lines.length === 0) return undefined
  return `# Which packages may run a script when pnpm installs them; package.json says the same to npm.\nallowBuilds:\n${lines.join('')}`
}
